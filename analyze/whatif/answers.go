package whatif

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/graph"
)

// ErrSteps says that no step was recorded from its beginning to its end.
var ErrSteps = errors.New("no complete step was recorded: nothing can be said per step")

// Fit replays what was recorded.
func (w *World) Fit() (Fit, error) {
	c := w.change(AsRecorded)
	f := Fit{Nodes: c.G.Len(), Edges: c.G.Edges(), Span: w.Seen.Span()}
	t, err := c.Replay()
	if err != nil {
		return f, err
	}
	f.Replayed = t.Span()
	for n := range t.Start {
		f.Worst = max(f.Worst, t.Start[n]-w.Seen.Start[n], w.Seen.Start[n]-t.Start[n])
	}
	for _, r := range w.Ranks {
		f.add(r)
	}
	if t, err = usualTimes(w).Replay(); err == nil {
		f.Usual = t.Span()
	}
	return f, err
}

// Critical finds the critical paths of all complete steps, as recorded.
func (w *World) Critical() ([]Critical, error) {
	c := &critical{World: w, rows: make([]Critical, len(w.Kinds))}
	if c.plan = w.base; w.circle != nil {
		return nil, w.circle
	}
	c.names, c.inferredOf = make([]map[string]*Named, len(w.Kinds)), make([]map[joint]int, len(w.Kinds))
	for i := range c.rows {
		c.rows[i].Kind, c.names[i], c.inferredOf[i] = i, make(map[string]*Named), make(map[joint]int)
	}
	for i, end := range lastOps(w) {
		if end != graph.None {
			c.walk(&w.steps[i], end)
		}
	}
	for i := range c.rows {
		c.mean(i)
	}
	return c.rows, nil
}

// Predict replays the run with some edits.
func (w *World) Predict(edits []Use) (*Prediction, error) {
	p := &Prediction{Edits: edits}
	if p.Reason = refusals(w, edits); p.Reason != "" {
		return p, nil
	}
	outcomes, err := w.outcomes(p)
	if err != nil {
		return nil, err
	}
	w.sum(p, outcomes)
	return p, nil
}

// refusals are the reasons for which edits cannot be applied, "" where all can.
func refusals(w *World, edits []Use) string {
	var list []string
	for _, u := range edits {
		switch reason := u.Edit.Refuse(w, u.Arg); {
		case reason == "":
		case len(edits) == 1:
			return reason
		default:
			list = append(list, fmt.Sprintf("%s: %s", u, reason))
		}
	}
	return strings.Join(list, "; ")
}

// Predicted is the trace of a rank as it is predicted: calls and operations at their predicted
// times, and what stands around them moved along. t is the trace that the rank's graph was made of.
func (w *World) Predicted(t *trace.Trace, rank int, p *Prediction) *trace.Trace {
	m := &mover{World: w, t: t, rank: rank, p: p, node: make(map[int32]graph.Node)}
	r := w.Ranks[rank]
	for n, row := range r.Row {
		if r.What[n] != Return {
			m.node[row] = graph.Node(n)
		}
	}
	m.findAnchors()
	m.hoistCalls()
	return m.build()
}

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
		Schema: report.WhatIfSchema, Replay: replayRow(w, &fit),
		Steps: []report.WhatIfSteps{}, Edits: []report.WhatIfEdit{},
	}
	for _, k := range w.Kinds {
		r.Steps = append(r.Steps, report.WhatIfSteps{
			Kind: k.Name, Optimizers: k.Optimizers, Steps: k.Steps, Duration: k.Duration,
		})
	}
	critical, err := w.Critical()
	if err != nil {
		return nil, nil, err
	}
	r.Paths = pathRows(w, critical)
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
			cmp.Compare(oneIf(a.Bound()), oneIf(b.Bound())), cmp.Compare(b.Gain.Mean, a.Gain.Mean))
	})
	for _, p := range list {
		r.Edits = append(r.Edits, editRow(w, p))
	}
	return r, list, nil
}
