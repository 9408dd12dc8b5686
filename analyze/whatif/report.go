package whatif

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace/graph"
)

// ErrSteps says that no step was recorded from its beginning to its end.
var ErrSteps = errors.New("no complete step was recorded: nothing can be said per step")

// Report predicts each combination of edits.
func (w *World) Report(combinations [][]Use) (*report.WhatIf, []*Prediction, error) {
	switch {
	case w.Why != "":
		return nil, nil, errors.New(w.Why)
	case w.circle != nil:
		return nil, nil, w.circle
	case len(w.steps) == 0:
		return nil, nil, ErrSteps
	}
	fit, err := w.Fit()
	if err != nil {
		return nil, nil, err
	}
	r := &report.WhatIf{
		Schema: report.WhatIfSchema, Replay: w.replayRow(&fit),
		Steps: []report.WhatIfSteps{}, Edits: []report.WhatIfEdit{},
	}
	for _, k := range w.Kinds {
		r.Steps = append(r.Steps, report.WhatIfSteps{
			Kind: k.Name, Optimizers: k.Optimizers, Steps: k.Steps, Duration: k.Duration,
		})
	}
	if r.Paths, err = w.paths(); err != nil {
		return nil, nil, err
	}
	var list []*Prediction
	for _, uses := range combinations {
		p, err := w.Predict(uses)
		if err != nil {
			return nil, nil, err
		}
		list = append(list, p)
	}
	slices.SortStableFunc(list, func(a, b *Prediction) int {
		return cmp.Or(cmp.Compare(oneIf(a.Reason != ""), oneIf(b.Reason != "")),
			cmp.Compare(oneIf(a.bound()), oneIf(b.bound())), cmp.Compare(b.Gain.Mean, a.Gain.Mean))
	})
	for _, p := range list {
		r.Edits = append(r.Edits, w.row(p))
	}
	return r, list, nil
}

func (p *Prediction) bound() bool {
	return slices.ContainsFunc(p.Edits, func(u Use) bool { return u.Edit.Bound })
}

func (w *World) replayRow(f *Fit) report.WhatIfReplay {
	share := func(ns int64) float64 {
		if f.Span == 0 {
			return 0
		}
		return (float64(max(ns-f.Span, f.Span-ns)) / float64(f.Span))
	}
	return report.WhatIfReplay{
		Nodes: f.Nodes, Edges: f.Edges, Span: f.Span, Replayed: f.Replayed,
		SpanError: share(f.Replayed), Worst: f.Worst, UsualError: share(f.Usual),
		Gaps: f.Gaps, ComputeGaps: f.ComputeGaps, WorstGap: f.WorstGap,
		Events: report.WhatIfWaits{Recorded: f.Waits.Recorded, Inferred: f.Waits.Inferred, Unknown: f.Waits.Unknown},
		ByTime: f.Inferred[graph.Time], Broken: w.Broken, Joined: w.Joined, Apart: w.Apart,
	}
}

// row is a prediction as the report has it.
func (w *World) row(p *Prediction) report.WhatIfEdit {
	row := report.WhatIfEdit{Edit: p.Name(), Legal: p.Reason == "", Reason: p.Reason, Bound: p.bound()}
	row.Title = p.texts("; ", func(e *Edit) string { return e.Title })
	row.How = p.texts("; ", func(e *Edit) string { return e.How })
	row.Limit = p.texts("; ", func(e *Edit) string { return e.Limit })
	if !row.Legal {
		return row
	}
	row.Gain = &report.WhatIfRange{Low: p.Gain.Low, Mean: p.Gain.Mean, High: p.Gain.High}
	for _, g := range p.Kinds {
		k := &w.Kinds[g.Kind]
		row.Kinds = append(row.Kinds, report.WhatIfGain{
			Kind: k.Name, Steps: k.Steps, Before: g.Before, After: g.After,
			MedianBefore: g.MedianBefore, MedianAfter: g.MedianAfter,
			Gain: report.WhatIfRange{Low: g.Low, Mean: g.Mean, High: g.High},
		})
	}
	return row
}

// texts joins what the edits of a prediction say.
func (p *Prediction) texts(between string, of func(*Edit) string) string {
	var list []string
	for _, u := range p.Edits {
		list = append(list, of(u.Edit))
	}
	return strings.Join(list, between)
}

// Each is each edit that needs no argument by itself.
func Each() [][]Use {
	var list [][]Use
	table := Edits()
	for i := range table {
		if table[i].check == nil || table[i].check("") == nil {
			list = append(list, []Use{{Edit: &table[i]}})
		}
	}
	return list
}

// paths are the critical paths as the report has them.
func (w *World) paths() ([]report.WhatIfPath, error) {
	critical, err := w.Critical()
	rows := []report.WhatIfPath{}
	for _, c := range critical {
		row := report.WhatIfPath{
			Kind: w.Kinds[c.Kind].Name, Steps: c.Steps, Parts: make(map[string]int64),
			Operations: []report.WhatIfOperation{}, Hops: c.Hops, Inferred: c.Inferred,
		}
		for p, ns := range c.Parts {
			row.Parts[Part(p).String()] = ns
		}
		for _, n := range c.Names {
			row.Operations = append(row.Operations, report.WhatIfOperation{
				Name: timeline.ShortKernel(n.Name), Time: n.Time, Count: n.Count,
			})
		}
		rows = append(rows, row)
	}
	return rows, err
}
