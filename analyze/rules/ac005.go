package rules

import (
	"fmt"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/report"
)

// AC005 finds one backward pass over the losses of several forward passes.
var AC005 = analyze.Rule{
	ID:    "AC005",
	Scope: analyze.PerRank,
	Doc: analyze.Doc{
		Title: "one backward pass for several micro-batches keeps all their activations",
		Why: "If the losses of all micro-batches are summed and backward() runs once a " +
			"step, every micro-batch's activations stay in memory until then: the peak " +
			"grows with the number of micro-batches, which accumulation is meant to avoid.",
		Fix: "call backward() on each micro-batch's loss, scaled to its share of the step's tokens",
	},
	Needs: []analyze.Need{needOptimizerSteps, needBackward},
	Run:   runAC005,
}

func runAC005(p *analyze.Pass) {
	for _, r := range p.Ranks {
		for i := range r.Steps {
			s := &r.Steps[i]
			if !r.Selected(i) || len(s.Backwards) == 0 || s.MicroBatches < 2 || s.MicroBatches <= len(s.Backwards) {
				continue
			}
			p.Report(report.Note, report.Finding{
				Message: fmt.Sprintf(
					"%d forward passes are held for one backward pass: their activations are in memory together",
					s.MicroBatches/len(s.Backwards)),
				Why: fmt.Sprintf("the rarest backward node occurs %d times in one backward pass of step %d",
					s.MicroBatches/len(s.Backwards), s.Index),
			})
			return
		}
	}
}
