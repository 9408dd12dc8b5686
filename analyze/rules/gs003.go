package rules

import (
	"fmt"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/gradients"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/units"
)

// GS003 finds passes over the gradients that are far slower than the memory.
var GS003 = analyze.Rule{
	ID:    "GS003",
	Scope: analyze.PerRank,
	Doc: analyze.Doc{
		Title: "slow pass over the gradients",
		Why: "A pass that only multiplies is memory-bound. If its kernels reach less than 40 % of the peak " +
			"bandwidth, they are not vectorized, as when the factor is a 0-dim CUDA tensor, which takes the " +
			"broadcasting kernel; if more than half of its span is gaps, it is launch-bound: one kernel per tensor.",
		Fix: "launch-bound: one torch._foreach_mul_ over all gradients; not vectorized: a " +
			"Python number, or a factor of the gradients' dtype, so that the vectorized " +
			"kernel is taken (CUDA _foreach_mul_.Tensor is fast only if the dtypes agree)",
	},
	Needs: append([]analyze.Need{needDevicePasses}, gradientNeeds...),
	Run:   runGS003,
}

// Bounds that distinguish the two causes of a slow pass; between them neither
// is named.
const (
	stridedShare   = 0.40 // of the peak bandwidth
	stridedGaps    = 0.10 // of the span
	launchBoundGap = 0.50 // of the span
	smallKernelNS  = 4000 // at peak bandwidth; kernels that move less are bound by what every kernel costs
)

// slowness is why a pass is slow, or empty.
func slowness(gp *gradients.Pass, bandwidth int64) string {
	if !gp.OnDevice || gp.Span == 0 || gp.Busy == 0 {
		return ""
	}
	gaps := gapShare(gp)
	achieved := float64(gp.Bytes) / float64(gp.Busy) * 1e9
	switch {
	case gaps > launchBoundGap:
		return fmt.Sprintf("launch-bound: %.0f %% of its span is gaps between %s", gaps*100,
			units.Count(gp.Kernels, "kernel"))
	case bandwidth > 0 && gaps < stridedGaps && achieved < stridedShare*float64(bandwidth) && !small(gp, bandwidth):
		return fmt.Sprintf("not vectorized: it moves %.0f of %.0f GB/s", achieved/1e9, float64(bandwidth)/1e9)
	}
	return ""
}

// small reports whether the kernels of a pass move so little that they cannot reach the
// bandwidth of the memory, however they are written.
func small(gp *gradients.Pass, bandwidth int64) bool {
	return float64(gp.Bytes)/float64(bandwidth)*1e9 < smallKernelNS*float64(gp.Kernels)
}

func runGS003(p *analyze.Pass) {
	list := steadyPasses(p, func(_ *analyze.Rank, gp *gradients.Pass) bool {
		switch gp.Kind {
		case gradients.ClipPass, gradients.UnscalePass:
			return true
		case gradients.ScalePass:
			return !gp.Doubtful && !gp.One
		}
		return false
	}, func(r *analyze.Rank, gp *gradients.Pass) bool { return slowness(gp, p.Bandwidth(r)) != "" })
	p.ReportHost(claimPasses(p, list), func(mean, step int64) report.Finding {
		return report.Finding{
			Message: "slow pass over the gradients costs " + perStep(mean, step),
			Why: fmt.Sprintf("%s of %s: %s", list[0].pass.Kind, units.Count(list[0].pass.Parameters, "gradient"),
				slowness(list[0].pass, p.Bandwidth(list[0].rank))),
			Saving:   &report.Range{Low: 0, High: mean},
			Evidence: showPasses(list),
		}
	})
}

// alsoSlow is what GS003 would say of passes that a more specific rule has taken.
func alsoSlow(p *analyze.Pass, list []found) string {
	for _, f := range list {
		if why := slowness(f.pass, p.Bandwidth(f.rank)); why != "" {
			return "; " + why
		}
	}
	return ""
}
