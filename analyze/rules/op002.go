package rules

import (
	"fmt"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/internal/units"
)

// OP002 finds optimizers that step inside backward while gradients accumulate.
var OP002 = analyze.Rule{
	ID:     "OP002",
	Scope:  analyze.PerRank,
	Weighs: true,
	Doc: analyze.Doc{
		Title: "optimizer in backward together with gradient accumulation",
		Why: "An optimizer that steps as soon as a gradient is ready takes each micro-batch for a whole step. If the " +
			"gradients are not cleared, each update repeats the ones before it; if they are, there is no accumulation.",
		Fix: "gradient_accumulation_steps=1 with the optimizer in backward, or step() after the last backward",
	},
	Needs: []analyze.Need{needOptimizerSteps, needBackward},
	Run:   runOP002,
}

func runOP002(p *analyze.Pass) {
	var evidence []report.Evidence
	steps := 0
	for _, r := range p.Ranks {
		inBackward := make(map[int]timeline.Event)
		for _, o := range r.OptimizerRuns {
			if _, seen := inBackward[o.Step]; o.InBackward && o.Step >= 0 && !seen {
				inBackward[o.Step] = o.Event
			}
		}
		for i := range r.Steps {
			span, ok := inBackward[i]
			b := r.Steps[i].Backwards
			// One pass per step that adds to gradients which were there before it.
			if !ok || i == 0 || len(b) != 1 || float64(b[0].InPlace) < 0.9*float64(r.Params.Count) || r.Cleared(i) {
				continue
			}
			steps++
			if len(evidence) < maxEvidence {
				evidence = append(evidence, analyze.EvidenceOf(r, span))
			}
		}
	}
	if steps == 0 {
		return
	}
	p.Report(report.Error, report.Finding{
		Message: "the optimizer steps inside backward on gradients that still hold those of earlier steps",
		Why: fmt.Sprintf("in %s every gradient is added to one that the optimizer has already used",
			units.Count(steps, "step")),
		Evidence: evidence,
	})
}
