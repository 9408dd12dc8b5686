package render

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/units"
)

// WhatIfText writes predictions for a terminal: how well the replay fits, then what each edit
// gains, then the edits that do not apply.
func WhatIfText(w io.Writer, r *report.WhatIf, o Options) error {
	b := o.sheet()
	b.WriteString(whatIfHeadline(r) + "\n")
	since := b.line()
	sayAll(b, whatIfSentences(r))
	b.repeat(since)
	if !o.Quiet {
		for _, t := range whatIfTables(r) {
			drawText(b, t)
		}
	}
	return b.flush(w)
}

// WhatIfMarkdown writes predictions for a pull request.
func WhatIfMarkdown(w io.Writer, r *report.WhatIf, o Options) error {
	var b strings.Builder
	b.WriteString("# gaprof whatif\n\n")
	for _, s := range whatIfSentences(r) {
		fmt.Fprintf(&b, "- **%s** %s\n", s.head, markdownText(s.text))
	}
	if !o.Quiet {
		for _, t := range whatIfTables(r) {
			drawMarkdown(&b, t)
		}
	}
	return flush(w, &b)
}

func whatIfHeadline(r *report.WhatIf) string {
	steps := 0
	for i := range r.Steps {
		steps += r.Steps[i].Steps
	}
	files := units.Count(len(r.Files), "trace")
	if len(r.Files) == 1 {
		files = filepath.Base(r.Files[0])
	}
	return "gaprof " + r.Version + " whatif  " + files + " · " + units.Count(len(r.Ranks), "rank") + " · " +
		units.Count(steps, "complete step")
}

// whatIfSentences are what follows the headline.
func whatIfSentences(r *report.WhatIf) []sentence {
	p := &r.Replay
	fit := fmt.Sprintf("%s of %s, span error %.4f %%, worst start error %s", units.Count(p.Nodes, "node"),
		units.Milliseconds(p.Span), 100*float64(p.SpanError), units.Duration(p.Worst))
	if p.Gaps > 0 {
		fit += fmt.Sprintf("; %s above 10 us, the longest %s", units.Count(p.Gaps, "unexplained gap"),
			units.Duration(p.WorstGap))
	} else {
		fit += "; no unexplained gap above 10 us"
	}
	if inferred := p.Events.Inferred + p.ByTime; inferred > 0 {
		fit += fmt.Sprintf("; %s inferred", units.Count(inferred, "edge"))
	}
	if p.Broken > 0 {
		fit += fmt.Sprintf("; %s closed a circle and were left out", units.Count(p.Broken, "inferred edge"))
	}
	if p.TransfersApart > 0 {
		fit += fmt.Sprintf("; of sends and receives %d lack the other side", p.TransfersApart)
	}
	list := []sentence{{"REPLAY", fit}}
	if len(r.Edits) == 1 && !r.Edits[0].Legal {
		return append(list, sentence{"REFUSED", r.Edits[0].Edit + ": " + r.Edits[0].Reason})
	}
	for i := range r.Edits {
		e := &r.Edits[i]
		if !e.Legal || e.Bound || e.Gain.Mean <= 0 {
			continue
		}
		list = append(list,
			sentence{"GAIN", fmt.Sprintf("%s: %s (%s)", e.Title, gainText(e.Gain), e.Edit)},
			sentence{"NEXT", e.How}, sentence{"ASSUMES", e.Limit})
		if e.Fitted != "" {
			list = append(list, sentence{"FITTED", e.Fitted})
		}
		break
	}
	return list
}

// gainText is a gain in words: how much shorter or longer a step gets.
func gainText(g *report.WhatIfRange) string {
	return fmt.Sprintf("%s ms/step, between %s and %s", signed(g.Mean), signed(g.Low), signed(g.High))
}

// signed is a gain as what it adds to the step.
func signed(gain int64) string {
	if max(gain, -gain) < 5_000 { // nothing in the digits that are shown
		return "0"
	}
	return fmt.Sprintf("%+.2f", -units.MS(gain))
}

func whatIfTables(r *report.WhatIf) []table {
	list := []table{pathTable(r)}
	gains := table{
		title: "WHAT IF", left: 2,
		header: []string{"edit", "kind", "steps", "ms/step", "predicted", "gain", "low", "high"},
		note:   "means per step; a bound is what no change of its kind exceeds",
	}
	refused := table{title: "NOT FOR THIS RUN", left: 2, header: []string{"edit", "why"}}
	for i := range r.Edits {
		e := &r.Edits[i]
		if !e.Legal {
			refused.rows = append(refused.rows, []string{e.Edit, e.Reason})
			continue
		}
		name := e.Edit
		if e.Bound {
			name += " (bound)"
		}
		for _, k := range e.Kinds {
			gains.rows = append(gains.rows, []string{
				name, k.Kind, fmt.Sprint(k.Steps), ms2(k.Before), ms2(k.After),
				signed(k.Gain.Mean), signed(k.Gain.Low), signed(k.Gain.High),
			})
			name = ""
		}
	}
	if len(gains.rows) > 0 {
		list = append(list, gains)
	}
	if len(refused.rows) > 0 {
		list = append(list, refused)
	}
	return list
}

func ms2(ns int64) string { return fmt.Sprintf("%.2f", units.MS(ns)) }

// pathParts are the parts of a critical path, by the names of the report.
var pathParts = []string{
	"host", "launch_latency", "compute", "memory", "communication", "kernel_gap", "event_latency", "unknown",
}

// pathTable is what decided how long steps took.
func pathTable(r *report.WhatIf) table {
	t := table{
		title: "CRITICAL PATH", left: 1, header: []string{"kind"},
		note: "ms per step, as recorded: shortening what is not on it does not make the step shorter",
	}
	for _, part := range pathParts {
		t.header = append(t.header, strings.ReplaceAll(part, "_", " "))
	}
	for i := range r.Paths {
		p := &r.Paths[i]
		row := []string{p.Kind}
		for _, part := range pathParts {
			row = append(row, ms2(p.Parts[part]))
		}
		t.rows = append(t.rows, row)
		for k, op := range p.Operations {
			if k < 2 {
				t.more = append(t.more, fmt.Sprintf("%s: %s %s ms", p.Kind, op.Name, ms2(op.Time)))
			}
		}
		t.more = append(t.more, inferredText(p)...)
	}
	return t
}

// inferredText says which edges of a critical path were inferred, none where all were recorded.
func inferredText(p *report.WhatIfPath) []string {
	if p.Inferred == 0 {
		return nil
	}
	text := fmt.Sprintf("%s: %d of %s inferred", p.Kind, p.Inferred, units.Count(p.Hops, "edge"))
	for i := range p.Edges {
		e := &p.Edges[i]
		if i == 2 {
			break
		}
		text += fmt.Sprintf(", %d by %s from %s to %s", e.Count, e.Kind, e.From, e.To)
	}
	return []string{text}
}
