package whatif

import (
	"strings"

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

// Margins are by what share of the mean a range is widened, with the trace of one rank and of
// all. They are chosen: too few outcomes are known to fit them (docs/whatif.md).
const (
	marginAlone    = 0.20
	marginTogether = 0.10
)

// outcome is what each step takes under one assumption, and by how much sooner it ends after the
// one before, in ns. The latter does not depend on where a rank that was late begins its steps.
type outcome struct{ before, after, gain []int64 }

// outcomes replays the run under each assumption, that of the mean first.
func (w *World) outcomes(p *Prediction) ([]outcome, error) {
	var list []outcome
	for late := range numLateness {
		if late != AsRecorded && len(w.Ranks) > 1 {
			break
		}
		before, err := w.change(late).Replay()
		if err != nil {
			return nil, err
		}
		c := w.change(late)
		for _, u := range p.Edits {
			u.Edit.apply(c, u.Arg)
		}
		after, err := c.Replay()
		if err != nil {
			return nil, err
		}
		if late == AsRecorded {
			p.Times = after
		}
		o := outcome{w.durations(before), w.durations(after), w.periods(before)}
		for i, ns := range w.periods(after) {
			o.gain[i] -= ns
		}
		list = append(list, o)
	}
	return list, nil
}

// sum makes ranges of outcomes: between the least and the greatest mean of any assumption.
func (w *World) sum(p *Prediction, list []outcome) {
	for k := range w.Kinds {
		g := Gain{Kind: k, Range: w.rangeOf(list, k)}
		g.Before = w.mean(list[0].before, k)
		g.After = g.Before - g.Mean
		g.MedianBefore, g.MedianAfter = w.median(list[0].before, k), w.median(list[0].after, k)
		median := g.MedianBefore - g.MedianAfter // of few steps one may be unlike the others
		g.Low, g.High = min(g.Low, median), max(g.High, median)
		w.widen(&g.Range, p)
		p.Kinds = append(p.Kinds, g)
	}
	p.Gain = w.rangeOf(list, -1)
	w.widen(&p.Gain, p)
	if len(p.Kinds) == 1 {
		p.Gain = p.Kinds[0].Range
	}
}

// rangeOf is the gain of a kind of step, -1 for all, and its extremes over all assumptions.
func (w *World) rangeOf(list []outcome, kind int) Range {
	mean := w.mean(list[0].gain, kind)
	r := Range{mean, mean, mean}
	for _, o := range list {
		gain := w.mean(o.gain, kind)
		r.Low, r.High = min(r.Low, gain), max(r.High, gain)
	}
	return r
}

// widen adds the error of predictions to a range. What assumes the best of all cases, or
// bounds others, cannot gain more.
func (w *World) widen(r *Range, p *Prediction) {
	margin := marginAlone
	if len(w.Ranks) > 1 {
		margin = marginTogether
	}
	ideal := false
	for _, u := range p.Edits {
		margin, ideal = max(margin, u.Edit.margin), ideal || u.Edit.margin > 0 || u.Edit.Bound
		if u.Edit.Bound {
			margin = 1
		}
	}
	by := int64(margin * float64(max(r.Mean, -r.Mean)))
	r.Low = min(r.Low, r.Mean-by)
	if !ideal {
		r.High = max(r.High, r.Mean+by)
	}
}
