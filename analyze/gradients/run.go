package gradients

import (
	"slices"
	"sort"

	"github.com/gaprof/gaprof/analyze/steps"
	"github.com/gaprof/gaprof/analyze/timeline"
)

// region is a place in a step together with the index of the backward pass there, or before.
type region struct {
	place Place
	pass  int
}

// run is the operations of one family in one region of a step that belong together.
type run struct {
	region
	operations []operation // at least one, in order of start
	family     family
	afterNorm  bool // norms precede it in its region, so it clips
	counted    bool // a count was inverted before it in its region
	decays     bool // a number was subtracted from one before it in its region
	scattered  bool // each of its tensors is reduce-scattered right after
	updates    int  // its tensors that another tensor is added to right after: weights, not gradients
}

// window is a step and its backward passes, of which there is at least one.
type window struct {
	x         *timeline.Rank
	step      *steps.Step
	backwards []Backward
	own       int64 // ns: from here on what the optimizer's span holds is its own work
}

// runs cuts the operations of a step into runs.
//
//  1. The region follows from the backward passes and the update around an operation.
//  2. A norm or a clamp ends the runs before it in its region, as clipping goes over the
//     gradients three times: scale, norms, clip.
//  3. The first product after norms, or after a number was limited to one, clips; the next one scales again.
//
// Runs of several kinds may be open at the same time, because loops interleave them tensor
// by tensor, and threads of backward run in between.
func (w *window) runs(list []operation) []run {
	var done, open []run
	afterNorm := make(map[region]bool)
	counted, decays := make(map[region]bool), make(map[region]bool)
	mean := false
	for _, t := range list {
		at := w.regionOf(t)
		switch t.family {
		case norm:
			if openRun(open, t, at) < 0 {
				done, open = closeRuns(done, open, at)
			}
			afterNorm[at] = true
		case clampFactor:
			done, open = closeRuns(done, open, at)
			afterNorm[at] = afterNorm[at] || t.isOne()
			continue
		case countMade:
			counted[at] = !mean
			continue
		case decayMade:
			decays[at] = true
			continue
		case meanLoss:
			mean = mean || w.backwards[0].FromLoss
			continue
		case adjust:
			markUpdate(open, &t, at)
			continue
		}
		i := openRun(open, t, at)
		if i < 0 {
			i = len(open)
			open = append(open, run{
				region:    at,
				family:    t.family,
				afterNorm: afterNorm[at] && t.family == multiply,
				counted:   counted[at],
				decays:    decays[at],
			})
			afterNorm[at] = afterNorm[at] && t.family != multiply
			// Each factor is for one run: clipping inverts a norm, and weights may decay next.
			counted[at], decays[at] = false, false
		}
		open[i].operations = append(open[i].operations, t)
	}
	return append(done, open...)
}

// closeRuns moves the open runs of a region to those that are done, and returns both lists.
func closeRuns(done, open []run, at region) (closed, rest []run) {
	for _, r := range open {
		if r.region == at {
			done = append(done, r)
		} else {
			rest = append(rest, r)
		}
	}
	return done, rest
}

// openRun returns the index of the open run that an operation continues, -1 for none.
func openRun(open []run, t operation, at region) int {
	for i := range open {
		r := &open[i]
		if r.region == at && r.family == t.family && r.operations[0].alike(&t) {
			return i
		}
	}
	return -1
}

// alike reports whether two operations of one family can belong to the same run.
func (t *operation) alike(o *operation) bool {
	return t.framework == o.framework && t.tensor == o.tensor && t.averaged == o.averaged
}

// markUpdate counts a product to whose tensor another one is added next: the two together
// are weight decay or a moving average, and the tensor is no gradient.
func markUpdate(open []run, t *operation, at region) {
	for i := range open {
		r := &open[i]
		if r.region != at || r.family != multiply {
			continue
		}
		last, next := r.operations[len(r.operations)-1].shapes(), t.shapes()
		if len(last) > 0 && len(last) == len(next) && slices.Equal(last[0], next[0]) {
			r.updates += len(next)
		}
	}
}

// regionOf returns the region of an operation in its step; its place is empty before the
// first backward pass. What DDP and FSDP do after the last node of a backward pass still
// belongs to that pass.
func (w *window) regionOf(t operation) region {
	pass := max(0, sort.Search(len(w.backwards), func(i int) bool { return w.backwards[i].Start > t.start })-1)
	if t.start >= w.own && w.x.InUpdate(t.row) {
		return region{InOptimizer, pass}
	}
	switch b := &w.backwards[pass]; {
	case t.start < b.Start:
		return region{}
	case t.framework || t.start < b.Last || w.x.Inside(t.row, timeline.EvaluateFunction|timeline.AccumulateGrad):
		return region{InBackward, pass}
	case pass < len(w.backwards)-1:
		return region{BetweenMicroBatches, pass}
	case t.start >= w.step.Update.End:
		return region{AfterOptimizer, pass}
	}
	return region{AfterBackward, pass}
}
