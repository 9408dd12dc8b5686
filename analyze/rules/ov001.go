package rules

import (
	"fmt"
	"strings"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/timeline"
)

// OV001 finds reduce-scatter time that no compute hides and that no more specific
// rule explains.
var OV001 = analyze.Rule{
	ID:    "OV001",
	Scope: analyze.PerRank,
	Doc: analyze.Doc{
		Title: "exposed reduce-scatter",
		Why: "While a reduce-scatter runs and neither kernel, copy nor set does, the device waits " +
			"for the network. This is the rest that the more specific rules have not claimed.",
		Fix: "give it compute to hide behind (smaller, more even " +
			"groups, largest gradients first) and look for a late rank",
	},
	Needs: []analyze.Need{
		analyze.NeedDevice, analyze.NeedCollectives, analyze.NeedOneRank, analyze.NeedStreams, analyze.NeedSteps,
		analyze.NeedLaunches,
	},
	Run: runOV001,
}

func runOV001(p *analyze.Pass) {
	var cost analyze.Cost
	selected := make(map[*analyze.Rank][]int)
	for _, r := range p.Ranks {
		collectives := r.Select(func(c *facts.Collective) bool { return c.Kind == timeline.ReduceScatter })
		claimExposed(p, r, collectives, timeline.ReduceScatterBucket, &cost)
		selected[r] = r.Select(func(c *facts.Collective) bool {
			return c.Kind == timeline.ReduceScatter && !inOptimizer(c)
		})
	}
	p.ReportCost(&cost, func(mean, step int64) report.Finding {
		return report.Finding{
			Message:  "reduce-scatter exposed " + perStep(mean, step),
			Why:      whyExposed(p.Ranks),
			Saving:   &report.Range{Low: 0, High: mean},
			Evidence: mostExposed(p.Ranks, selected),
			Caveats:  []string{waitCaveat(p)},
		}
	})
}

// whyExposed lists where the reduce-scatters that no other rule holds come from.
func whyExposed(ranks []*analyze.Rank) string {
	sites := countSites(ranks, timeline.ReduceScatter)
	var parts []string
	for _, s := range []struct {
		site timeline.Site
		text string
	}{
		{timeline.SiteBackwardHook, "from backward hooks"}, {timeline.SiteFrameworkHook, "from framework hooks"},
		{timeline.SiteAnnotation, "under annotations"}, {timeline.SiteGraph, "from CUDA graphs"},
		{timeline.SiteUnknown, "from an unknown place"},
	} {
		if n, _ := sites.of(s.site); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, s.text))
		}
	}
	if len(parts) == 0 {
		return "all linked reduce-scatters are launched inside Optimizer.step"
	}
	return fmt.Sprintf("too little compute is left to hide them: %s of %d linked reduce-scatters",
		strings.Join(parts, ", "), sites.linked)
}
