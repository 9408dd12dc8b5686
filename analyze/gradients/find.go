package gradients

import (
	"math"
	"sort"

	"github.com/gaprof/gaprof/analyze/steps"
	"github.com/gaprof/gaprof/analyze/timeline"
)

// passFinder finds the gradient passes of a rank.
type passFinder struct {
	x           *timeline.Rank
	list        []operation // the gradient operations, in order of start
	collectives []HostCollective
	rows        []int32 // of collectives
	found       []Pass
	before      kernelsOf            // the passes before reduce-scatters
	byHand      []int64              // starts of the reductions of gradients that the loop itself asks for, ascending
	numbers     []int64              // starts of the all-reduces of a single number, ascending
	waits       func() *timeline.Set // when host collectives run, on any thread
}

// find finds the passes of every step. own is what each step shows.
func (f *passFinder) find(s []steps.Step, own []Step, m *matcher) []Pass {
	if !m.params.Known() {
		return nil
	}
	f.before = make(kernelsOf)
	for i := range s {
		backwards := own[i].Backwards
		from := sort.Search(len(f.list), func(k int) bool { return f.list[k].start >= s[i].HostStart })
		to := sort.Search(len(f.list), func(k int) bool { return f.list[k].start >= s[i].HostEnd })
		if len(backwards) == 0 {
			continue
		}
		w := &window{x: f.x, step: &s[i], backwards: backwards, own: ownWork(f.x, &s[i]),
			byHand: f.byHand, numbers: f.numbers, params: m.shapes}
		for _, r := range m.shapes.joinPieces(w.runs(f.list[from:max(from, to)])) {
			f.addParts(r, i, w, m)
		}
	}
	f.before.hide(f.x, f.found)
	return f.found
}

// addParts adds the passes of a run.
func (f *passFinder) addParts(r run, step int, w *window, m *matcher) {
	for _, part := range m.parts(r) {
		if p, ok := m.pass(part); ok {
			p.Step = step
			f.add(p, part.operations, w)
		}
	}
}

// add measures a pass of some operations and adds it.
func (f *passFinder) add(p Pass, operations []operation, w *window) {
	kernels := measure(f.x, &p, operations, f.waits)
	switch {
	case p.BeforeScatter && p.OnDevice:
		f.before.add(len(f.found), kernels)
	case p.Kind == NormPass && p.Place == AfterBackward:
		last := operations[len(operations)-1].start
		p.Rounds = f.rounds(&p, operations, min(w.own, f.used(last)))
	}
	f.found = append(f.found, p)
}

// ownWork returns from when (ns) on an optimizer's span holds its own work: its start, or, where
// a closure runs in it, the first sum after the last backward pass of that. What a closure
// does with gradients after backward is in the optimizer's span too; every optimizer begins
// with a sum, of its count of steps or of weights.
func ownWork(x *timeline.Rank, s *steps.Step) int64 {
	c, ok := x.ClosureAt(s.Update.Start - 1)
	if !ok {
		return s.Update.Start
	}
	end, trackEnd := x.End(c.Row), x.TrackEnd(c.Row)
	for i := c.Row + 1; i < trackEnd && x.Col.Start[i] < end; i++ {
		if x.Col.Start[i] >= c.End && families[x.Name(i)] == adjust {
			return x.Col.Start[i]
		}
	}
	return s.Update.Start
}

// used returns when (ns) norms are used, of which the last begins at an instant: the start
// of the next operation that is no norm, or the end of time.
func (f *passFinder) used(last int64) int64 {
	for i := sort.Search(len(f.list), func(k int) bool { return f.list[k].start > last }); i < len(f.list); i++ {
		switch f.list[i].family {
		case multiply, clampFactor, unscale, zeroFill:
			return f.list[i].start
		}
	}
	return math.MaxInt64
}
