package gradients

import (
	"slices"
	"sort"

	"github.com/gaprof/gaprof/analyze/steps"
	"github.com/gaprof/gaprof/analyze/timeline"
)

// region is a place of a step and, inside and between backward passes, which one.
type region struct {
	place Place
	pass  int
}

// run is operators of one family in one region of a step, one after the other.
type run struct {
	region
	operations []operation
	family     family
	afterNorm  bool // norms stand before it in its region: it clips
	counted    bool // a count was inverted before it in its region
	decays     bool // a number was taken from one before it in its region
	updates    int  // touched tensors that are updated by another right after: weights
}

// window is a step and its backward passes, of which there is one at the least.
type window struct {
	x         *timeline.Rank
	step      *steps.Step
	backwards []Backward
}

// runs cuts the operators of a step into runs.
//
//  1. The region follows from the backward passes and the update around it.
//  2. A norm or a clamp ends the runs before it in its region: scale, norms, clip.
//  3. The first product behind norms clips; the next one scales again.
func (w *window) runs(list []operation) []run {
	var done, open []run
	afterNorm, counted, decays := make(map[region]bool), make(map[region]bool), make(map[region]bool)
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
			open = append(open, run{region: at, family: t.family, afterNorm: afterNorm[at] && t.family == multiply, counted: counted[at], decays: decays[at]})
			afterNorm[at] = afterNorm[at] && t.family != multiply
			counted[at], decays[at] = false, false // each factor is for one pass; clipping inverts a norm, and weights may decay next
		}
		open[i].operations = append(open[i].operations, t)
	}
	return append(done, open...)
}

// closeRuns moves the open runs of a region to those that are done.
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

// openRun is the run that a touch continues, or -1.
func openRun(open []run, t operation, at region) int {
	for i := range open {
		first := &open[i].operations[0]
		if open[i].region == at && open[i].family == t.family && first.framework == t.framework && first.tensor == t.tensor && first.averaged == t.averaged {
			return i
		}
	}
	return -1
}

// markUpdate counts a product whose tensor is updated by another one next: the two
// together are an average or a weight, not a gradient.
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

// regionOf is the region of an operator in its step; its place is empty before the
// first backward pass. What DDP and FSDP do behind the last node of a pass still
// belongs to that pass.
func (w *window) regionOf(t operation) region {
	pass := max(0, sort.Search(len(w.backwards), func(i int) bool { return w.backwards[i].Start > t.start })-1)
	if w.x.Inside(t.row, timeline.OptimizerStep) {
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
