package agent

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/gaprof/gaprof/analyze/compare"
	"github.com/gaprof/gaprof/analyze/gate"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/units"
)

// OfReport is the answer of analyze: the whole of it, for [Answer.Within] to cut. verdict is its
// sentence.
func OfReport(r *report.Report, verdict string, run Inputs) *Answer {
	a := &Answer{Schema: Schema, Version: r.Version, Command: "analyze", Verdict: verdict, Exit: r.Exit}
	a.Run = runOf(r)
	a.findings(r)
	a.skips(r.Skipped)
	a.Next = nextOfReport(r, run)
	return a
}

func runOf(r *report.Report) *Run {
	run := &Run{Files: r.Source.Files, Ranks: len(r.Source.Ranks), World: r.Source.WorldSize,
		Device: r.Source.Device, Health: healthOf(r), Parts: map[string]int64{}}
	if t := r.Time; t != nil {
		run.StepTime = &t.Length
		if t.Of == "step" {
			run.Steps = t.Count
		}
		for _, p := range t.Parts {
			run.Parts[p.What] = p.Mean
		}
	}
	return run
}

// healthOf is ok, or the kinds of damage above a note.
func healthOf(r *report.Report) string {
	codes := make(map[string]bool)
	for _, p := range r.Health.Problems {
		if p.Severity != "note" {
			codes[p.Code] = true
		}
	}
	text := strings.Join(slices.Sorted(maps.Keys(codes)), ", ")
	if r.Health.TimeUnknown != "" {
		text = strings.TrimPrefix(text+"; "+r.Health.TimeUnknown, "; ")
	}
	return cmp.Or(text, "ok")
}

func (a *Answer) findings(r *report.Report) {
	files := make(map[int64]string)
	for _, f := range r.Source.RankFiles {
		files[f.Rank] = f.File
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		one := Finding{Rule: f.Rule, Severity: f.Severity, Message: f.Message, Why: f.Why, Cost: f.Cost,
			Share: f.Share, Saving: f.Saving, Fix: f.Fix, Change: f.Change, Caveats: f.Caveats}
		for _, e := range f.Evidence {
			one.Evidence = append(one.Evidence, Evidence{File: files[e.Rank], Rank: e.Rank, Name: e.Name,
				Track: e.Track, Start: e.Start, Duration: e.Duration, Code: e.Code})
		}
		a.Findings = append(a.Findings, one)
	}
}

// skips joins rules that did not run for one reason, those of most rules first.
func (a *Answer) skips(list []report.Skip) {
	at := make(map[string]int)
	for _, s := range list {
		i, known := at[s.Reason]
		if !known {
			i = len(a.Skips)
			at[s.Reason] = i
			a.Skips = append(a.Skips, Skip{Reason: s.Reason})
		}
		a.Skips[i].Rules = append(a.Skips[i].Rules, s.Rule)
	}
	slices.SortStableFunc(a.Skips, func(x, y Skip) int { return len(y.Rules) - len(x.Rules) })
}

// OfCheck is the answer of check: rows that passed are only counted, in the verdict.
func OfCheck(c *gate.Result, reports []*report.Report, run Inputs) *Answer {
	a := &Answer{Schema: Schema, Version: c.Version, Command: "check", Exit: c.Exit}
	passed := 0
	for _, row := range c.Rows {
		switch row.Verdict {
		case gate.Fail, gate.Undecidable:
			a.Checks = append(a.Checks, checkOf(&row))
		case gate.Pass:
			passed++
		}
	}
	slices.SortStableFunc(a.Checks, func(x, y Check) int {
		return cmp.Or(cmp.Compare(x.Verdict, y.Verdict), y.Severity.Compare(x.Severity))
	})
	a.Verdict = string(c.Verdict) + ": " + c.Summary
	if passed > 0 {
		a.Verdict += "; " + units.Count(passed, "check") + " passed"
	}
	if len(reports) == 1 {
		a.Run = runOf(reports[0])
		a.findings(reports[0])
		a.skips(reports[0].Skipped)
		a.Next = nextOfReport(reports[0], run)
	}
	a.Facts = c.Notes
	return a
}

func checkOf(r *gate.Row) Check {
	return Check{Metric: r.Metric, Kind: r.Kind, Severity: r.Severity, Verdict: string(r.Verdict),
		Value: r.Value, Unit: string(r.Unit), Limit: r.Limit, Reason: cmp.Or(r.Reason, r.Finding)}
}

// OfDiff is the answer of diff: its sentences, of which the first is the verdict.
func OfDiff(d *compare.Diff, sentences []string, base, new Inputs) *Answer {
	a := &Answer{Schema: Schema, Version: d.Version, Command: "diff"}
	a.Exit.Reason = "ok"
	if len(sentences) > 0 {
		a.Verdict, a.Facts = sentences[0], sentences[1:]
	}
	a.Next = append(new.command("analyze", "{agent}"), base.command("analyze", "{agent}")...)
	return a
}

// OfWhatIf is the answer of whatif.
func OfWhatIf(w *report.WhatIf, verdict string, run Inputs) *Answer {
	a := &Answer{Schema: Schema, Version: w.Version, Command: "whatif", Verdict: verdict, Exit: w.Exit}
	for i := range w.Edits {
		e := &w.Edits[i]
		a.Edits = append(a.Edits, Edit{Edit: e.Edit, Title: e.Title, Gain: e.Gain, Bound: e.Bound, Reason: e.Reason})
	}
	if best := Best(w); best != nil {
		a.Next = run.command("whatif", "{edit}", best.Edit, "-o", "predicted{}.json.gz")
	}
	a.Next = append(a.Next, run.command("analyze", "{agent}")...)
	return a
}

// Best is the edit that gains most, rather one that says what a change gains than one that only
// bounds it; nil where none applies.
func Best(w *report.WhatIf) *report.WhatIfEdit {
	var bound *report.WhatIfEdit
	for i := range w.Edits {
		switch e := &w.Edits[i]; {
		case !e.Legal || e.Gain == nil:
		case !e.Bound:
			return e
		case bound == nil:
			bound = e
		}
	}
	return bound
}
