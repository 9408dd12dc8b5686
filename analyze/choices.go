package analyze

import (
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/choice"
)

// nameChoices puts the caller's names in the place of choices in all texts of a report that
// are advice. Messages, which quote the trace, are left alone.
func nameChoices(r *report.Report, names map[string]string) {
	name := func(text *string) { *text = choice.Name(*text, names) }
	name(&r.Normalization.Evidence)
	for i := range r.Health.Problems {
		name(&r.Health.Problems[i].Action)
	}
	for i := range r.GradientPasses {
		name(&r.GradientPasses[i].Reason)
	}
	for i := range r.Skipped {
		name(&r.Skipped[i].Reason)
	}
	nameInFindings(r.Findings, names)
}

// nameInFindings does the same in what findings advise. Caveats are copied: a rule may
// share them between findings.
func nameInFindings(list []report.Finding, names map[string]string) {
	for i := range list {
		f := &list[i]
		f.Why, f.Fix = choice.Name(f.Why, names), choice.Name(f.Fix, names)
		caveats := make([]string, len(f.Caveats))
		for j, text := range f.Caveats {
			caveats[j] = choice.Name(text, names)
		}
		f.Caveats = caveats
	}
}
