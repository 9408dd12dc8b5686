package rules

import (
	"fmt"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/gradients"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/units"
)

// CL004 finds clipping at every micro-batch.
var CL004 = analyze.Rule{
	ID:     "CL004",
	Scope:  analyze.PerRank,
	Weighs: true,
	Doc: analyze.Doc{
		Title: "gradients are clipped at every micro-batch",
		Why: "The norm of what is accumulated so far is not the norm of the step's gradient: " +
			"each micro-batch shrinks the ones before it, and the result depends on their " +
			"order. It also costs a norm and a multiplication of all gradients each time.",
		Fix: "call clip_grad_norm_ once, after the last backward of the step",
	},
	Needs: gradientNeeds,
	Run:   runCL004,
}

func runCL004(p *analyze.Pass) {
	list := passes(p, func(r *analyze.Rank, gp *gradients.Pass) bool {
		return gp.Kind == gradients.ClipPass && betweenMicroBatches(r, gp)
	})
	if len(list) == 0 {
		return
	}
	f := report.Finding{
		Message: "gradients are clipped between micro-batches: the result depends on their order",
		Why: fmt.Sprintf("gradients are clipped by their norm in %s between two backward passes of one step",
			units.Count(len(list), "pass")),
		Evidence: showPasses(list),
	}
	p.Report(report.Warn, f)
}
