package rules

import (
	"fmt"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/gradients"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/units"
)

// CL001 finds gradient norms that are bound by launches.
var CL001 = analyze.Rule{
	ID:    "CL001",
	Scope: analyze.PerRank,
	Doc: analyze.Doc{
		Title: "host-bound gradient norm",
		Why: "A norm per tensor, each launched on its own, leaves " +
			"the device waiting between kernels that last microseconds.",
		Fix: "torch.nn.utils.clip_grad_norm_(..., foreach=True), one _foreach_norm for all",
	},
	Needs: append([]analyze.Need{needDevicePasses}, gradientNeeds...),
	Run:   runCL001,
}

func runCL001(p *analyze.Pass) {
	list := steadyPasses(p, func(_ *analyze.Rank, gp *gradients.Pass) bool {
		return gp.Kind == gradients.NormPass && gp.OnDevice && 2*gp.Launches > gp.Parameters && !oneByOne(gp)
	}, func(_ *analyze.Rank, gp *gradients.Pass) bool { return gapShare(gp) > launchBoundGap })
	p.ReportHost(claimPasses(p, list), func(mean, step int64) report.Finding {
		return report.Finding{
			Message: "host-bound gradient norm costs " + perStep(mean, step),
			Why: fmt.Sprintf("%s in %s; more than half of the span is gaps",
				units.Count(list[0].pass.Parameters, "norm"), units.Count(list[0].pass.Launches, "call")),
			Saving:   &report.Range{Low: 0, High: mean},
			Evidence: showPasses(list),
		}
	})
}
