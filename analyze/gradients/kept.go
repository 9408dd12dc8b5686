package gradients

import (
	"github.com/gaprof/gaprof/analyze/steps"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/internal/bounded"
)

// addsAll is the share of what a reduce-scatter leaves on a rank that has to be added to something for the gradients
// of shards to be kept. It leaves padding as well.
const addsAll = 0.9

// kept reports, by step, whether gradients of shards were there before it: all that the first reduce-scatters leave,
// those of the first backward pass that has some, is added to tensors as large. Those that were cleared take what is
// left as it is, and only later micro-batches add to it. ops are the gradient operations.
func kept(x *timeline.Rank, list []steps.Step, collectives []HostCollective, ops []operation) []bool {
	all := make([]bool, len(list))
	for first := 0; first < len(collectives); {
		step, end := collectives[first].Step, first
		for end < len(collectives) && collectives[end].Step == step {
			end++
		}
		if step > 0 {
			scatters, until := firstScatters(collectives[first:end], list[step].Update.Start)
			all[step] = addedAll(x, scatters, until, ops, list[step-1].Update.Start)
		}
		first = end
	}
	return all
}

// firstScatters returns those of a step's collectives that reduce-scatter gradients in the first backward pass that
// has some, and where the next one begins, or the update.
func firstScatters(list []HostCollective, update int64) (scatters []HostCollective, until int64) {
	for i := range list {
		c := &list[i]
		if !c.Gradient || c.Kind != timeline.ReduceScatter || c.Event.Start >= update {
			continue
		}
		if len(scatters) > 0 && c.Backward != scatters[0].Backward {
			return scatters, c.Event.Start
		}
		scatters = append(scatters, *c)
	}
	return scatters, update
}

// addedAll reports whether all that some reduce-scatters leave is added to tensors as large before the next of them,
// none of which was filled with zeros since an instant.
func addedAll(x *timeline.Rank, scatters []HostCollective, until int64, ops []operation, since int64) bool {
	added := make(map[int64]bool) // sizes of what is added to
	for i := range scatters {
		c := &scatters[i]
		if c.GroupSize < 2 || c.Elems <= 0 {
			return false
		}
		end, left := until, c.Elems/c.GroupSize
		if i+1 < len(scatters) {
			end = scatters[i+1].Event.Start
		}
		if sum := addedIn(x, ops, c.Event.Start, end, added); float64(sum) < addsAll*float64(left) || sum > left {
			return false
		}
	}
	return len(scatters) > 0 && !zeroedIn(ops, since, scatters[0].Event.Start, added)
}

// addedIn is how many elements are added to between two instants, other than whole gradients; the sizes of tensors are
// noted.
func addedIn(x *timeline.Rank, ops []operation, start, end int64, sizes map[int64]bool) (sum int64) {
	for i := from(ops, start); i < len(ops) && ops[i].start < end; i++ {
		if t := &ops[i]; t.family == adjust && !accumulates(x, t.row) {
			n := t.elements()
			sum, sizes[n] = bounded.Add(sum, n), true
		}
	}
	return sum
}

// zeroedIn reports whether a tensor of some sizes is filled with zeros between two instants.
func zeroedIn(ops []operation, start, end int64, sizes map[int64]bool) bool {
	for i := from(ops, start); i < len(ops) && ops[i].start < end; i++ {
		if ops[i].family == zeroFill && sizes[ops[i].elements()] {
			return true
		}
	}
	return false
}

// accumulates reports whether a row is a part of an accumulation of autograd: that of a whole gradient.
func accumulates(x *timeline.Rank, row int32) bool {
	found := false
	x.Stack(row, func(span int32) bool {
		found = found || x.Class(span) == timeline.AccumulateGrad
		return !found
	})
	return found
}
