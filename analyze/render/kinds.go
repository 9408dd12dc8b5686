package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gaprof/gaprof/analyze/report"
)

// Findings are means over the steps of those kinds that cost anything. Where kinds differ, two
// of them cannot be added up, so each line says of which steps it is.

// withKinds returns the report with the kinds of steps in the messages of findings, if some
// finding is not about the steps of all kinds. It changes a copy.
func withKinds(r *report.Report) *report.Report {
	all := kindsOf(r)
	some := func(f report.Finding) bool { return f.Cost != nil && len(f.Kinds) < len(all) }
	if !slices.ContainsFunc(r.Findings, some) {
		return r
	}
	own := *r
	own.Findings = slices.Clone(r.Findings)
	for i := range own.Findings {
		if f := &own.Findings[i]; f.Cost != nil && len(f.Kinds) > 0 {
			f.Message += " " + ofKinds(r, f.Kinds, all)
		}
	}
	return &own
}

// kindsOf are the kinds of a report's steps, sorted.
func kindsOf(r *report.Report) []string {
	var all []string
	for i := range r.Steps {
		all = append(all, r.Steps[i].Kind)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// ofKinds is "in steps of kind B (DistAdam + NorMuon)".
func ofKinds(r *report.Report, kinds, all []string) string {
	switch {
	case len(kinds) == len(all):
		return "in steps of all kinds"
	case len(kinds) > 1:
		return "in steps of kinds " + strings.Join(kinds, ", ")
	}
	text := "in steps of kind " + kinds[0]
	if name := runIn(r, kinds[0]); name != "" {
		text += fmt.Sprintf(" (%s)", name)
	}
	return text
}

// runIn are the optimizers of the steps of a kind; "" where they differ or are unknown, and
// where those of another kind are the same.
func runIn(r *report.Report, kind string) string {
	name, seen := "", false
	for i := range r.Steps {
		if s := &r.Steps[i]; s.Kind == kind {
			if seen && optimizers(s) != name {
				return ""
			}
			name, seen = optimizers(s), true
		}
	}
	other := func(s report.Step) bool { return s.Kind != kind && optimizers(&s) == name }
	if slices.ContainsFunc(r.Steps, other) {
		return ""
	}
	return short(name)
}
