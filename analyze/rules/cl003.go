package rules

import (
	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/gradients"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/units"
)

// CL003 finds gradient norms that no clipping follows.
var CL003 = analyze.Rule{
	ID:    "CL003",
	Scope: analyze.PerRank,
	Doc: analyze.Doc{
		Title: "gradient norm without clipping",
		Why: "The norm of all gradients is computed, but no gradient is " +
			"multiplied by a clip coefficient: the pass only serves a number in the log.",
		Fix: "compute the norm only in the steps that log it, or take it from the optimizer",
	},
	Needs: gradientNeeds,
	Run:   runCL003,
}

func runCL003(p *analyze.Pass) {
	clips := make(map[*analyze.Rank]bool) // in any step: some loops clip only where the norm is too large
	clipping := func(_ *analyze.Rank, gp *gradients.Pass) bool { return gp.Kind == gradients.ClipPass && !gp.ByValue }
	for _, f := range passes(p, clipping) {
		clips[f.rank] = true
	}
	list := passes(p, func(r *analyze.Rank, gp *gradients.Pass) bool {
		return gp.Kind == gradients.NormPass && gp.Place == gradients.AfterBackward && !clips[r] && !oneByOne(gp)
	})
	p.ReportNote(claimPasses(p, list), func(mean, step int64) report.Finding {
		return report.Finding{
			Message: "norm of all gradients, or weights, that no clipping uses costs " + perStep(mean, step),
			Why: "the norm reads " + units.Count(list[0].pass.Parameters, "tensor") +
				" of the shapes of the gradients after backward, and nothing is multiplied by it",
			Saving:   &report.Range{Low: 0, High: mean},
			Evidence: showPasses(list),
			Caveats: append(hostCaveat(list), "if the norm guards against non-finite "+
				"gradients, or clips only in steps where it is too large, it is needed"),
		}
	})
}
