package gradients

import "github.com/gaprof/gaprof/reference/device"

// Event is what a Set does to the gradient of a parameter.
type Event uint8

// The events. What Param.Clear does is not among them: a Set does not see it.
const (
	Accumulated   Event = iota // a backward pass was added to the whole gradient
	Averaged                   // the whole gradient became the mean over ranks
	Summed                     // the whole gradient became the sum over ranks
	AveragedShard              // the mean over ranks was added to that of the shard, and the whole one consumed
	SummedShard                // the sum over ranks was added to that of the shard, and the whole one consumed
)

// did tells the hook of an event.
func (s *Set) did(p *Param, e Event) {
	if s.hooks.Did != nil {
		s.hooks.Did(p, e)
	}
}

// reduced is the event of a reduction: mean or sum.
func reduced(op device.Reduce, mean, sum Event) Event {
	if op == device.Sum {
		return sum
	}
	return mean
}

// Scattered reports whether the shard of p holds the reduced gradient once backward is over.
func (s *Set) Scattered(p *Param) bool { return p.shard != nil && !s.policy.StepReduces(p.Group) }
