package whatif

import (
	"slices"
	"strings"

	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace/graph"
)

// Bound reports whether an edit of a prediction bounds a family of changes.
func (p *Prediction) Bound() bool {
	return slices.ContainsFunc(p.Edits, func(u Use) bool { return u.Edit.Bound })
}

// replayRow is how well the graph fits as the report has it.
func replayRow(w *World, f *Fit) report.WhatIfReplay {
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
		Queue:  report.WhatIfQueue{Depth: f.Queue.Depth, Blocked: f.Queue.Blocked, Full: f.Queue.Full},
		ByTime: f.Inferred[graph.Time], Broken: w.Broken, Joined: w.Joined, Apart: w.Apart,
		Transfers: w.Transfers.Joined, TransfersApart: w.Transfers.Apart,
	}
}

// editRow is a prediction as the report has it.
func editRow(w *World, p *Prediction) report.WhatIfEdit {
	row := report.WhatIfEdit{Edit: p.Name(), Legal: p.Reason == "", Reason: p.Reason, Bound: p.Bound()}
	row.Title = p.texts("; ", func(e *Edit) string { return e.Title })
	row.How = p.texts("; ", func(e *Edit) string { return e.How })
	row.Limit = p.texts("; ", func(e *Edit) string { return e.Limit })
	if !row.Legal {
		return row
	}
	row.Fitted = p.fits(w)
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

// fits is what was fitted for the edits of a prediction.
func (p *Prediction) fits(w *World) string {
	var list []string
	for _, u := range p.Edits {
		if u.Edit.fitted != nil {
			list = append(list, u.Edit.Name+": "+u.Edit.fitted(w, u.Arg))
		}
	}
	return strings.Join(list, "; ")
}

// pathRows are critical paths as the report has them.
func pathRows(w *World, critical []Critical) []report.WhatIfPath {
	rows := []report.WhatIfPath{}
	for _, c := range critical {
		row := report.WhatIfPath{
			Kind: w.Kinds[c.Kind].Name, Steps: c.Steps, Parts: make(map[string]int64),
			Operations: []report.WhatIfOperation{}, Hops: c.Hops, Inferred: c.Inferred, Edges: []report.WhatIfEdge{},
		}
		for _, j := range c.Edges {
			row.Edges = append(row.Edges, report.WhatIfEdge{
				Kind: j.Kind.String(), Count: j.Count,
				From: strings.TrimSpace(timeline.ShortKernel(j.From)),
				To:   strings.TrimSpace(timeline.ShortKernel(j.To)),
			})
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
	return rows
}
