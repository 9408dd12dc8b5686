package rules

import (
	"fmt"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/units"
)

// TH006 says that steps hold compilation or loading of kernels.
var TH006 = analyze.Rule{
	ID:    "TH006",
	Scope: analyze.PerRank,
	Doc: analyze.Doc{
		Title: "warm-up or compilation inside the recorded steps",
		Why: "Steps in which code is compiled, tuned or loaded, or a CUDA graph is captured and " +
			"instantiated, are longer than those that follow; means over them say nothing about training.",
		Fix: "give the profiler's schedule more wait and warmup steps, or select later steps with {steps}",
	},
	Needs: []analyze.Need{analyze.NeedSteps},
	Run:   runTH006,
}

// warmupShare is the share of a step's host time from which compilation matters.
const warmupShare = 0.01

// warmsUp reports whether enough of step i is spent on compiling and loading code.
func warmsUp(r *analyze.Rank, i int) bool {
	return r.Compiling[i] > 0 && float64(r.Compiling[i]) >= warmupShare*float64(r.Steps[i].HostDuration())
}

func runTH006(p *analyze.Pass) {
	var evidence []report.Evidence
	var steps []int
	for _, r := range p.Ranks {
		for i := range r.Steps {
			if r.Selected(i) && warmsUp(r, i) {
				steps = append(steps, i)
			}
		}
		for _, span := range r.Compiled {
			if len(steps) > 0 && len(evidence) < maxEvidence {
				evidence = append(evidence, analyze.EvidenceOf(r, span))
			}
		}
	}
	if len(steps) == 0 {
		return
	}
	p.Report(report.Warn, report.Finding{
		Message: fmt.Sprintf("code is compiled or loaded%s during %s of those recorded, first in step %d",
			orGraphs(p.Ranks), units.Count(len(steps), "step"), steps[0]),
		Why:      "it takes at least 1 % of their host time; figures of these steps are not those of steady training",
		Evidence: evidence,
	})
}

// orGraphs says that graphs are instantiated as well, where any rank does so.
func orGraphs(ranks []*analyze.Rank) string {
	for _, r := range ranks {
		if r.Graphs {
			return ", or a CUDA graph instantiated,"
		}
	}
	return ""
}
