package rules

import (
	"fmt"
	"strings"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/gradients"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/units"
)

// GS007 finds gradients that are scaled or cleared between micro-batches.
var GS007 = analyze.Rule{
	ID:     "GS007",
	Scope:  analyze.PerRank,
	Weighs: true,
	Doc: analyze.Doc{
		Title: "gradients are scaled or cleared inside the accumulation loop",
		Why: "What has been accumulated so far is multiplied again at every micro-batch, " +
			"or thrown away: early micro-batches count for less than late ones, or " +
			"not at all. The loss still falls, so nothing else shows it.",
		Fix: "move the scaling and zero_grad() out of the loop over micro-batches: " +
			"scale once after the last backward, clear once after the optimizer step",
	},
	Needs: []analyze.Need{needOptimizerSteps, needBackward},
	Run:   runGS007,
}

func runGS007(p *analyze.Pass) {
	inside := passes(p, func(r *analyze.Rank, gp *gradients.Pass) bool {
		changes := gp.Kind == gradients.ScalePass || gp.Kind == gradients.ZeroPass
		return changes && betweenMicroBatches(r, gp) && !gp.Doubtful && !gp.One
	})
	evidence := showPasses(inside)
	var parts []string
	if n := len(inside); n > 0 {
		parts = append(parts,
			fmt.Sprintf("gradients are multiplied or cleared in %s between two backward passes of one step",
				units.Count(n, "pass")))
	}
	cleared := 0
	for _, r := range p.Ranks {
		for _, z := range r.ZeroInside {
			cleared++
			if len(evidence) < maxEvidence {
				evidence = append(evidence, analyze.EvidenceOf(r, z.Event))
			}
		}
	}
	if cleared > 0 {
		parts = append(parts, fmt.Sprintf("zero_grad() runs %s between two backward passes of one step",
			units.Count(cleared, "time")))
	}
	if len(parts) == 0 {
		return
	}
	p.Report(report.Error, report.Finding{
		Message:  "gradients are scaled or cleared inside the accumulation loop: micro-batches do not count equally",
		Why:      strings.Join(parts, "; "),
		Evidence: evidence,
	})
}
