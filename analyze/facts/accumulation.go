package facts

import (
	"fmt"
	"slices"
	"strings"
)

// Unknown counts are -1.
const Unknown = -1

// OptimizerStep is one optimizer's part of a step.
type OptimizerStep struct {
	Name         string
	Accumulation int // gradient accumulations of its parameters since its last update, Unknown
}

// accumulation counts, per step and optimizer, how often a gradient was accumulated
// since that optimizer's last update: the mode over its parameters, because some
// losses hit single parameters more often. What lies before the first update is only
// known where it is as much as before a later one.
func (r *Rank) accumulation() {
	for i := range r.Optimizers {
		o := &r.Optimizers[i]
		counts := make([]int, len(o.Updates))
		for k, step := range o.Updates {
			start := r.Steps[0].HostStart
			if k > 0 {
				start = r.Steps[o.Updates[k-1]].HostEnd
			}
			counts[k] = r.modeOf(o.Classes, r.backwardsIn(start, r.Steps[step].HostEnd))
		}
		if len(counts) > 0 && !slices.Contains(counts[1:], counts[0]) {
			counts[0] = Unknown
		}
		for k, step := range o.Updates {
			r.Steps[step].PerOptimizer = append(r.Steps[step].PerOptimizer, OptimizerStep{o.Name, counts[k]})
		}
	}
	r.kindsByAccumulation()
	all := make([]int, len(r.Params.Classes))
	for class := range all {
		all[class] = class
	}
	for i := range r.Steps {
		s := &r.Steps[i]
		s.Backwards = r.backwardsIn(s.HostStart, s.HostEnd)
		s.MicroBatches = Unknown
		if n := r.modeOf(all, s.Backwards); n > 0 && (i > 0 || s.Complete) {
			s.MicroBatches = n * forwardsOf(s.Backwards)
		}
	}
}

// kindsByAccumulation makes steps of the same optimizers with other accumulation steps
// another kind. What is unknown is taken to be as in the next step of the optimizer.
func (r *Rank) kindsByAccumulation() {
	next := make(map[string]int)
	keys := make([]string, len(r.Steps))
	for i := len(r.Steps) - 1; i >= 0; i-- {
		var key strings.Builder
		for _, o := range r.Steps[i].PerOptimizer {
			if o.Accumulation != Unknown {
				next[o.Name] = o.Accumulation
			}
			fmt.Fprintf(&key, "%s\x00%d\x00", o.Name, next[o.Name])
		}
		keys[i] = key.String()
	}
	nameKinds(r.Steps, func(s *Step) string { return keys[s.Index] })
}

// modeOf is the most frequent number of accumulations over the parameters of some
// classes; Unknown where there is no class or no pass.
func (r *Rank) modeOf(classes []int, passes []Backward) int {
	votes := make(map[int]int)
	for _, class := range classes {
		count := r.Params.Classes[class].Count
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
	best := Unknown
	for n, v := range votes {
		if best == Unknown || v > votes[best] || v == votes[best] && n > best {
			best = n
		}
	}
	return best
}

// forwardsOf is how many forward passes one of these backward passes runs through.
func forwardsOf(passes []Backward) int {
	least := 0
	for _, b := range passes {
		least = leastOf(least, b.Forwards)
	}
	return max(1, least)
}
