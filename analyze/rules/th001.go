package rules

import (
	"fmt"
	"strings"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/units"
	"github.com/gaprof/gaprof/trace"
)

// TH001 says that the input was damaged and what was done about it.
var TH001 = analyze.Rule{
	ID:    "TH001",
	Scope: analyze.PerRank,
	Doc: analyze.Doc{
		Title: "the trace was damaged and repaired",
		Why: "What was left out of a damaged file is missing from " +
			"every figure; what was repaired may be wrong in detail.",
		Fix: "record again, or look at the places listed under health; {strict} rejects damaged input",
	},
	Run: runTH001,
}

func runTH001(p *analyze.Pass) {
	var parts []string
	severity := report.Note
	for _, problem := range p.Problems {
		info := trace.Code(problem.Code).Info()
		if !info.Strict || deviceDamage[trace.Code(problem.Code)] {
			continue
		}
		if info.Level != trace.Note {
			severity = report.Warn
		}
		parts = append(parts, describeProblem(problem))
	}
	if len(parts) == 0 {
		return
	}
	p.Report(severity, report.Finding{
		Message: "the input is damaged in " + units.Count(len(parts), "way") +
			"; it was repaired or parts were left out",
		Why: strings.Join(parts, "; "),
	})
}

// describeProblem is a problem with its count and place.
func describeProblem(p report.Problem) string {
	text := fmt.Sprintf("%s (%d)", p.Message, p.Count)
	if p.Offset != nil {
		text += fmt.Sprintf(" at byte %d", *p.Offset)
	}
	return text
}
