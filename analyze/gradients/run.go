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
	operations []operation    // at least one, in order of start
	used       map[string]int // of products: how many tensors of each shape they touch
	family     family
	afterNorm  bool // norms precede it in its region, so it clips
	counted    bool // its factor comes from a count
	decays     bool // a number was subtracted from one before it in its region
	averages   bool // it is the first product after the loop reduced gradients itself, by a number of no count
	limited    bool // norms precede it and a number that was limited to one, so it clips for certain
	scattered  bool // each of its tensors is reduce-scattered right after
	updates    int  // its tensors that another tensor is added to right after: weights, not gradients
}

// window is a step and its backward passes, of which there is at least one.
type window struct {
	x         *timeline.Rank
	step      *steps.Step
	backwards []Backward
	own       int64   // ns: from here on what the optimizer's span holds is its own work
	byHand    []int64 // starts of the reductions of gradients that the loop itself asks for, ascending
	numbers   []int64 // starts of the all-reduces of a single number, ascending
	params    *shapeCounts
}

// cutter cuts the operations of a step into runs.
type cutter struct {
	*window
	done, open []run
	signs      map[region]*signs
	loss       lossSigns
}

// signs is what precedes an operation in its region.
type signs struct {
	afterNorm, counted, inverted, decays, multiplied, limited bool

	checked int  // sums of truth values of the shapes of gradients: those that are not finite, if they are of most
	read    bool // a whole number was read after the first of these
}

// runs cuts the operations of a step into runs.
//
//  1. The region follows from the backward passes and the update around an operation.
//  2. A norm or a clamp ends the runs before it in its region, as clipping goes over the
//     gradients three times: scale, norms, clip.
//  3. The first product after norms, or after a number was limited to one, clips; the next one scales again.
//  4. A product of a tensor of which all parameters of that shape have been multiplied begins a new run.
//
// Runs of several kinds may be open at the same time, because loops interleave them tensor
// by tensor, and threads of backward run in between.
func (w *window) runs(list []operation) []run {
	c := cutter{window: w, signs: make(map[region]*signs)}
	for _, t := range list {
		c.take(t, c.regionOf(t))
	}
	return append(c.done, c.open...)
}

// take notes what an operation is a sign of, or adds it to the run that it belongs to.
func (c *cutter) take(t operation, at region) {
	s := c.signs[at]
	if s == nil {
		s = &signs{}
		c.signs[at] = s
	}
	switch t.family {
	case norm:
		if c.openRun(&t, at) < 0 {
			c.closeRuns(at)
		}
		s.afterNorm = true
	case clampFactor:
		c.closeRuns(at)
		s.limited = s.afterNorm && t.isOne()
		s.afterNorm = s.afterNorm || t.isOne()
		return
	case countMade, countSummed:
		c.count(&t, at, s)
		return
	case inverse:
		s.inverted = true
		return
	case decayMade:
		s.decays = true
		return
	case meanLoss, sumLoss:
		c.loss.note(t.family, &c.backwards[0])
		return
	case adjust:
		markUpdate(c.open, &t, at)
		return
	case noFamily, reduceAll, fill, join:
		return
	case product:
		if !c.params.any(t.shapes()) {
			return
		}
	}
	c.add(t, at, s)
}

// count notes that something was counted, or a count inverted or read: of tokens, unless what is
// added up has the shapes of gradients.
func (c *cutter) count(t *operation, at region, s *signs) {
	switch checks := at.place == AfterBackward && c.params.any(t.shapes()); {
	case t.family == countMade && s.checked > 0:
		s.read = true
	case t.family == countMade:
		s.counted = true
		c.loss.inverted = c.loss.inverted || at.place == ""
	case checks:
		s.checked++
	default:
		c.loss.summed = true
	}
}

// add adds an operation to the open run that it continues, or begins another.
func (c *cutter) add(t operation, at region, s *signs) {
	i := c.openRun(&t, at)
	if i < 0 {
		i = len(c.open)
		if t.multiplies() && s.checked > 0 && 2*s.checked < c.params.count {
			c.loss.summed, s.counted = true, s.counted || s.read
		}
		counted := t.multiplies() && c.fromCount(&t, s)
		c.open = append(c.open, run{
			region:    at,
			family:    t.family,
			afterNorm: s.afterNorm && t.multiplies(),
			limited:   s.limited && t.multiplies(),
			counted:   counted,
			decays:    s.decays,
			averages:  !counted && !s.multiplied && at.place == AfterBackward && c.averages(&t),
			used:      make(map[string]int),
		})
		s.afterNorm, s.limited = s.afterNorm && !t.multiplies(), s.limited && !t.multiplies()
		s.multiplied = s.multiplied || t.family == multiply
		// Each factor is for one run: clipping inverts a norm, and weights may decay next.
		s.counted, s.inverted, s.decays = false, false, false
	}
	c.open[i].add(t)
}

// add adds an operation to a run.
func (g *run) add(t operation) {
	g.operations = append(g.operations, t)
	if t.multiplies() {
		for _, s := range t.shapes() {
			g.used[shapeKey(s)]++
		}
	}
}

// multiplies reports whether an operation multiplies tensors, in place or not.
func (t *operation) multiplies() bool { return t.family == multiply || t.family == product }

// averages reports whether a product is by a number of the program and follows reductions
// of gradients that the loop asked for since the last backward pass began.
func (c *cutter) averages(t *operation) bool {
	last := &c.backwards[len(c.backwards)-1]
	return t.family == multiply && (!t.tensor || t.whole) && steps.AnyIn(c.byHand, last.Start, t.start)
}

// closeRuns moves the open runs of a region to those that are done.
func (c *cutter) closeRuns(at region) {
	var rest []run
	for _, r := range c.open {
		if r.region == at {
			c.done = append(c.done, r)
		} else {
			rest = append(rest, r)
		}
	}
	c.open = rest
}

// openRun returns the index of the open run that an operation continues, -1 for none.
func (c *cutter) openRun(t *operation, at region) int {
	for i := range c.open {
		r := &c.open[i]
		if r.region == at && r.family == t.family && r.operations[0].alike(t) && c.params.room(r, t) {
			return i
		}
	}
	return -1
}

// alike reports whether two operations of one family can belong to the same run.
func (t *operation) alike(o *operation) bool {
	return t.framework == o.framework && t.tensor == o.tensor && t.averaged == o.averaged &&
		t.divides == o.divides && t.whole == o.whole
}

// markUpdate counts a product to whose tensor another one is added next: the two together
// are weight decay or a moving average, and the tensor is no gradient.
func markUpdate(open []run, t *operation, at region) {
	var latest *run
	for i := range open {
		r := &open[i]
		if r.region == at && r.family == multiply && (latest == nil || r.last().start > latest.last().start) {
			latest = r
		}
	}
	if latest == nil {
		return
	}
	last, next := latest.last().shapes(), t.shapes()
	if len(last) > 0 && len(last) == len(next) && slices.Equal(last[0], next[0]) {
		latest.updates += len(next)
	}
}

// last returns the last operation of a run.
func (g *run) last() *operation { return &g.operations[len(g.operations)-1] }

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
