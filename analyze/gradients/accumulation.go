package gradients

import (
	"fmt"
	"slices"

	"github.com/gaprof/gaprof/analyze/steps"
)

// Unknown counts are -1.
const Unknown = -1

// OptimizerStep is one optimizer's part of a step.
type OptimizerStep struct {
	Name         string // of the optimizer
	Accumulation int    // how often a gradient of its parameters was accumulated since its last update, or Unknown
}

// Step is what the gradients show of one optimizer step.
type Step struct {
	Kind         string          // "A", "B", ...: same optimizers, same accumulation, by first appearance
	PerOptimizer []OptimizerStep // by name
	MicroBatches int             // forward passes, or Unknown
	Backwards    []Backward      // those that begin in the host window; a part of Gradients.Backwards
	Gaps         Gaps            // between those, one less; none where there are less than two
}

// accumulate counts, per step and optimizer, how often a gradient was accumulated.
func accumulate(t *stepping, list []steps.Step, optimizers []Optimizer, passes []Backward, forward []int64) []Step {
	params := t.params
	out := make([]Step, len(list))
	several := make(map[int]int) // by step, of optimizers told apart by what they touch: the most that one accumulates
	apart := make(map[int]int)   // by step: their names
	for i := range optimizers {
		o := &optimizers[i]
		runs := instances(t, o, list, passes)
		counts := accumulations(o, list, params, passes)
		if runs != nil {
			counts = accumulationsOf(runs, o, list, passes)
			for k, n := range counts {
				several[o.Updates[k]] = max(several[o.Updates[k]], n)
				apart[o.Updates[k]]++
			}
			counts = trusted(counts)
		}
		for k, n := range counts {
			at := &out[o.Updates[k]]
			at.PerOptimizer = append(at.PerOptimizer, OptimizerStep{o.Name, n})
		}
	}
	kinds, classes := kindsByAccumulation(out), params.all()
	graphs := graphCounter{x: t.x, forward: forward}
	for i := range out {
		s := &out[i]
		s.Kind = kinds[i]
		s.Backwards = between(passes, list[i].HostStart, list[i].HostEnd)
		s.MicroBatches = Unknown
		n := several[i]
		if apart[i] == 0 || apart[i] < len(s.PerOptimizer) {
			n = params.modeOf(classes, s.Backwards)
		}
		if n > 0 && (i > 0 || list[i].Complete) {
			if n == len(s.Backwards) {
				n = graphs.count(s.Backwards, list[i].HostStart)
			}
			s.MicroBatches = n * forwardsOf(s.Backwards)
		}
	}
	return out
}

// all lists all classes.
func (p *Params) all() []int {
	all := make([]int, len(p.Classes))
	for class := range all {
		all[class] = class
	}
	return all
}

// accumulations counts, for each update of an optimizer, how often a gradient was
// accumulated since the one before. It takes the mode over the optimizer's parameters,
// because tied weights and auxiliary losses make single parameters accumulate more often.
//
// Recording may have begun in the middle of the first step, so its count is trusted only
// if a later step has the same.
func accumulations(o *Optimizer, list []steps.Step, params *Params, passes []Backward) []int {
	counts := make([]int, len(o.Updates))
	for k, step := range o.Updates {
		start := list[0].HostStart
		if k > 0 {
			start = list[o.Updates[k-1]].HostEnd
		}
		own := between(passes, start, list[step].HostEnd)
		if k > 0 {
			own = sinceOthers(own, list[o.Updates[k-1]+1:step], o.Classes)
		}
		counts[k] = params.modeOf(o.Classes, own)
	}
	return trusted(counts)
}

// sinceOthers returns those of some backward passes that follow the last update of other optimizers
// after which the gradients of some classes were set anew: what came before it was cleared.
func sinceOthers(passes []Backward, others []steps.Step, classes []int) []Backward {
	for i := len(others) - 1; i >= 0; i-- {
		first := firstFrom(passes, others[i].HostEnd)
		if first < len(passes) && passes[first].setsAll(classes) {
			return passes[first:]
		}
	}
	return passes
}

// setsAll reports whether a backward pass reaches some classes, and adds to no gradient of theirs.
func (b *Backward) setsAll(classes []int) bool {
	reached := 0
	for _, class := range classes {
		if reached += b.of(class); class < len(b.Added) && b.Added[class] > 0 {
			return false
		}
	}
	return reached > 0 && b.Added != nil
}

// trusted returns counts without the first one if no later one is the same.
func trusted(counts []int) []int {
	if len(counts) > 0 && !slices.Contains(counts[1:], counts[0]) {
		counts[0] = Unknown
	}
	return counts
}

// kindsByAccumulation gives steps the same kind if they have the same optimizers with the
// same accumulation. An unknown accumulation is assumed to be that of the optimizer's next
// step, so that a first step that was recorded in part is not a kind of its own.
func kindsByAccumulation(list []Step) []string {
	next := make(map[string]int)
	keys := make([]string, len(list))
	var key []byte
	for i := len(list) - 1; i >= 0; i-- {
		key = key[:0]
		for _, o := range list[i].PerOptimizer {
			if o.Accumulation != Unknown {
				next[o.Name] = o.Accumulation
			}
			key = fmt.Appendf(key, "%q %d ", o.Name, next[o.Name])
		}
		keys[i] = string(key)
	}
	return steps.Kinds(len(list), func(i int) string { return keys[i] })
}

// modeOf returns the most frequent number of accumulations over the parameters of some
// classes, the greater of two that are equally frequent; Unknown without parameters.
// Accumulations are counted by class, so all parameters of one vote for its mean, rounded.
func (p *Params) modeOf(classes []int, passes []Backward) int {
	votes := make(map[int]int)
	for _, class := range classes {
		count := p.Classes[class].Count
		if count == 0 {
			continue
		}
		n := 0
		for _, b := range passes {
			if class < len(b.Accumulated) {
				n += b.Accumulated[class]
			}
		}
		votes[(n+count/2)/count] += count
	}
	return mostVoted(votes)
}

// forwardsOf returns how many forward passes one of these backward passes runs back
// through: the least of them, and at least 1.
func forwardsOf(passes []Backward) int {
	least := 0
	for _, b := range passes {
		least = leastOf(least, b.Forwards)
	}
	return max(1, least)
}

// oneForward sets Forwards to 1 of backward passes that reach a part of the parameters, where
// other passes reach the others: networks that are trained in turns, such as those of a GAN,
// of which one looks at several inputs for one loss.
func oneForward(passes []Backward, params *Params) {
	for i := range passes {
		if b := &passes[i]; float64(params.reached(b.Accumulated)) < coverage*float64(params.Count) {
			b.Forwards = 1
		}
	}
}
