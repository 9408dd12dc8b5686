package whatif

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/gaprof/gaprof/internal/bounded"
	"github.com/gaprof/gaprof/trace/graph"
)

// Range is a prediction in ns per step: what is expected, and between what it lies.
type Range struct{ Low, Mean, High int64 }

// Gain is what an edit gains in steps of one kind.
type Gain struct {
	Kind   int   // index into World.Kinds
	Before int64 // ns: mean of the steps as recorded
	After  int64 // ns: mean as predicted
	Range

	MedianBefore, MedianAfter int64 // ns
}

// Prediction is what a combination of edits comes to.
type Prediction struct {
	Edits  []Use
	Reason string // why it cannot be applied to this run, "" where it can
	Gain   Range  // per step, over all complete steps
	Kinds  []Gain
	Times  *graph.Times // as predicted, by node of World.Graph; nil where Reason is not ""
}

// Name is the edits as a user writes them.
func (p *Prediction) Name() string {
	var names []string
	for _, u := range p.Edits {
		names = append(names, u.String())
	}
	return strings.Join(names, ",")
}

// outcome is what each step takes under one assumption, and by how much sooner it ends after the
// one before, in ns. The latter does not depend on where a rank that was late begins its steps.
type outcome struct{ before, after, gain []int64 }

// outcomes replays the run with edits under each assumption, that of the mean first: as recorded, with what is in
// doubt of each edit, with the usual time on every edge in place of the recorded one, and of a single rank with
// peers that are never late.
func (w *World) outcomes(p *Prediction) ([]outcome, error) {
	var list []outcome
	for i, base := range w.bases() {
		before, err := w.unchanged(i, base)
		if err != nil {
			return nil, err
		}
		edited := [][]func(*Change){p.applied(-1, 0)}
		if len(list) == 0 {
			edited = p.variants()
		}
		for _, edits := range edited {
			after, err := replayOf(base(), edits)
			if err != nil {
				return nil, err
			}
			if len(list) == 0 {
				p.Times = after
			}
			list = append(list, w.outcome(before, after))
		}
	}
	return list, nil
}

// bases are the runs that edits begin from, the recorded one first.
func (w *World) bases() []func() *Change {
	list := []func() *Change{
		func() *Change { return w.change(AsRecorded) },
		func() *Change { return usualTimes(w) },
	}
	if len(w.Ranks) == 1 {
		list = append(list, func() *Change { return w.change(InTime) })
	}
	return list
}

// variants are the edits as they are meant, and each in doubt.
func (p *Prediction) variants() [][]func(*Change) {
	list := [][]func(*Change){p.applied(-1, 0)}
	for i, u := range p.Edits {
		for k := range u.Edit.doubts {
			list = append(list, p.applied(i, k))
		}
	}
	return list
}

// applied are the edits in their turns, the one at doubtful in its k-th doubt.
func (p *Prediction) applied(doubtful, k int) []func(*Change) {
	var list []func(*Change)
	for _, i := range inTurn(p.Edits) {
		u := p.Edits[i]
		apply := u.Edit.apply
		if i == doubtful {
			apply = u.Edit.doubts[k]
		}
		list = append(list, func(c *Change) { apply(c, u.Arg) })
	}
	return list
}

// inTurn are the positions of edits in the order in which they are applied.
func inTurn(edits []Use) []int {
	var list []int
	for i := range edits {
		list = append(list, i)
	}
	slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(edits[a].Edit.turn, edits[b].Edit.turn) })
	return list
}

func replayOf(c *Change, edits []func(*Change)) (*graph.Times, error) {
	for _, apply := range edits {
		apply(c)
	}
	c.pauseLess()
	return c.Replay()
}

// unchanged replays the i-th base without an edit, once for all predictions.
func (w *World) unchanged(i int, base func() *Change) (paces, error) {
	if i == len(w.before) {
		t, err := base().Replay()
		if err != nil {
			return paces{}, err
		}
		w.before = append(w.before, paces{w.durations(t), w.periods(t)})
	}
	return w.before[i], nil
}

func (w *World) outcome(before paces, after *graph.Times) outcome {
	o := outcome{before.durations, w.durations(after), slices.Clone(before.periods)}
	for i, ns := range w.periods(after) {
		o.gain[i] -= ns
	}
	return o
}

// sum makes ranges of outcomes.
func (w *World) sum(p *Prediction, list []outcome) {
	for k := range w.Kinds {
		g := Gain{Kind: k, Range: w.rangeOf(list, k)}
		g.Before = w.mean(list[0].before, k)
		g.After = max(0, g.Before-g.Mean)
		g.MedianBefore, g.MedianAfter = w.median(list[0].before, k), w.median(list[0].after, k)
		g.Range.hold(g.MedianBefore - g.MedianAfter) // of few steps one may be unlike the others
		w.bounded(&g.Range, p)
		p.Kinds = append(p.Kinds, g)
	}
	p.Gain = w.rangeOf(list, -1)
	w.bounded(&p.Gain, p)
	if len(p.Kinds) == 1 {
		p.Gain = p.Kinds[0].Range
	}
}

// rangeOf is the gain of a kind of step, -1 for all: between the least and the greatest mean under any
// assumption, and of the steps without the first or the last, as if the recording had been shorter.
func (w *World) rangeOf(list []outcome, kind int) Range {
	mean := w.mean(list[0].gain, kind)
	r := Range{mean, mean, mean}
	for _, o := range list {
		r.hold(w.mean(o.gain, kind))
	}
	first, last := w.shorter(list[0].gain, kind)
	r.hold(first)
	r.hold(last)
	if len(w.Ranks) == 1 && r != (Range{}) {
		noise := w.lateness(list[0].after, list[len(list)-1].after, kind)
		r.hold(mean - noise)
		r.hold(mean + noise)
	}
	return r
}

// lateness is by how much steps of a kind are longer or shorter because peers come at other times in another
// run: the standard error of the mean of what they wait for peers, in ns. Of a single step it is all of that.
func (w *World) lateness(seen, inTime []int64, kind int) int64 {
	var waits []int64
	for i := range seen {
		if kind < 0 || w.steps[i].kind == kind {
			waits = append(waits, seen[i]-inTime[i])
		}
	}
	n, mean, sum := float64(len(waits)), float64(average(waits)), 0.0
	if n < 2 {
		return int64(mean)
	}
	for _, ns := range waits {
		sum += (float64(ns) - mean) * (float64(ns) - mean)
	}
	return int64(math.Sqrt(sum / (n - 1) / n))
}

// hold widens a range to hold a value.
func (r *Range) hold(ns int64) { r.Low, r.High = min(r.Low, ns), max(r.High, ns) }

// shorter are the means over steps of a kind without the first and without the last, or over all where
// there is only one.
func (w *World) shorter(list []int64, kind int) (noFirst, noLast int64) {
	first, last := math.MaxInt, -1
	for i := range list {
		if kind < 0 || w.steps[i].kind == kind {
			first, last = min(first, w.steps[i].index), max(last, w.steps[i].index)
		}
	}
	if first >= last {
		mean := w.mean(list, kind)
		return mean, mean
	}
	without := func(index int) int64 {
		var sum bounded.Sum
		for i, ns := range list {
			if s := w.steps[i]; s.index != index && (kind < 0 || s.kind == kind) {
				sum.Add(ns)
			}
		}
		return sum.Mean()
	}
	return without(first), without(last)
}

// bounded widens a range of what bounds others down to nothing.
func (w *World) bounded(r *Range, p *Prediction) {
	if p.Bound() {
		r.hold(0)
	}
}

// KindRange is what an edit gains in steps of a kind, as the traces call it.
type KindRange struct {
	Kind string
	Range
}

// Over is what a prediction gains in some of the complete steps, and the same by kind: of says
// of each step of each rank, by index, which kind it is and whether it counts. Steps of a
// kind are taken to gain alike. kinds is sorted, and empty where no step counts; over all steps
// the gain is that of the prediction.
func (w *World) Over(p *Prediction, of func(rank, step int) (kind string, counts bool)) (all Range, kinds []KindRange) {
	steps := make(map[string][]int64) // by kind: how many of each of World.Kinds
	every := make([]int64, len(w.Kinds))
	n := 0
	for _, s := range w.steps {
		if kind, counts := of(s.rank, s.index); counts {
			if steps[kind] == nil {
				steps[kind] = make([]int64, len(w.Kinds))
			}
			steps[kind][s.kind]++
			every[s.kind]++
			n++
		}
	}
	for kind, list := range steps {
		kinds = append(kinds, KindRange{kind, p.weighted(list)})
	}
	slices.SortFunc(kinds, func(a, b KindRange) int { return cmp.Compare(a.Kind, b.Kind) })
	if n == len(w.steps) {
		return p.Gain, kinds
	}
	return p.weighted(every), kinds
}

// weighted is the mean gain of so many steps of each kind.
func (p *Prediction) weighted(steps []int64) Range {
	var low, mean, high bounded.Sum
	for k, count := range steps {
		g := &p.Kinds[k]
		for range count {
			low.Add(g.Low)
			mean.Add(g.Mean)
			high.Add(g.High)
		}
	}
	return Range{low.Mean(), mean.Mean(), high.Mean()}
}
