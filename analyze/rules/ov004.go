package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/internal/units"
)

// OV004 finds gradient reductions that are launched only when the optimizer steps.
var OV004 = analyze.Rule{
	ID:    "OV004",
	Scope: analyze.PerRank,
	Doc: analyze.Doc{
		Title: "gradient reductions are launched only inside the optimizer step",
		Why: "A reduce-scatter that is launched inside Optimizer.step() starts when backward has been launched " +
			"as a whole, so no backward compute is left to hide it; it can only overlap with the optimizer's " +
			"own kernels. Launched as soon as its gradient is final it runs beside the rest of backward.",
		Fix: "launch each reduction from a post-accumulate-grad hook " +
			"(torch.Tensor.register_post_accumulate_grad_hook) on the last micro-batch and only wait for it in step()",
	},
	Needs: []analyze.Need{
		analyze.NeedDevice, analyze.NeedCollectives, analyze.NeedOneRank, analyze.NeedStreams, analyze.NeedSteps,
		analyze.NeedLaunches, analyze.NeedSites, analyze.NeedCaptures,
	},
	Run: runOV004,
}

// smallReduction is the size in bytes below which an all-reduce inside the
// optimizer is taken for a norm or a counter, not for gradients.
const smallReduction = 1_000_000

// inOptimizer reports whether a collective is a gradient reduction launched in step().
func inOptimizer(c *facts.Collective) bool {
	if c.Site.Site != timeline.SiteOptimizerStep {
		return false
	}
	return c.Kind == timeline.ReduceScatter || c.Kind == timeline.AllReduce && c.Bytes >= smallReduction
}

func runOV004(p *analyze.Pass) {
	var cost analyze.Cost
	selected := make(map[*analyze.Rank][]int)
	for _, r := range p.Ranks {
		for _, kind := range []timeline.CollectiveKind{timeline.ReduceScatter, timeline.AllReduce} {
			collectives := r.Select(func(c *facts.Collective) bool { return c.Kind == kind && inOptimizer(c) })
			claimExposed(p, r, collectives, timeline.BucketOf(kind), &cost)
			selected[r] = append(selected[r], collectives...)
		}
	}
	p.ReportCost(&cost, func(mean, step int64) report.Finding {
		why, subject := whyInOptimizer(p.Ranks)
		return report.Finding{
			Message:  fmt.Sprintf("%s exposed %s", subject, perStep(mean, step)),
			Why:      why,
			Fix:      fixInOptimizer(p.Ranks, subject),
			Saving:   &report.Range{Low: 0, High: mean},
			Evidence: mostExposed(p.Ranks, selected),
			Caveats: append([]string{
				waitCaveat(p),
				"the saving is an upper bound: the reductions of the gradients " +
					"that backward finishes last have little compute left to hide behind",
				"with gradient accumulation the hook must wait for the last micro-batch",
			}, graphCaveat(p.Ranks)...),
		}
	})
}

// whyInOptimizer says how many reductions are launched where, and names what they
// are: all of a kind, or those of some optimizers.
func whyInOptimizer(ranks []*analyze.Rank) (why, subject string) {
	for _, kind := range []timeline.CollectiveKind{timeline.ReduceScatter, timeline.AllReduce} {
		sites := countSites(ranks, kind)
		n, names := sites.of(timeline.SiteOptimizerStep)
		if n == 0 {
			continue
		}
		what := strings.ReplaceAll(kind.String(), "_", "-")
		why = fmt.Sprintf("%d of %d linked %ss are launched inside Optimizer.step (%s)", n, sites.linked, what, names)
		if n == sites.linked {
			return why, what
		}
		if hooks, _ := sites.of(timeline.SiteBackwardHook); hooks > 0 {
			why += fmt.Sprintf("; %d from backward hooks already", hooks)
		}
		return why, fmt.Sprintf("%s of %s", what, strings.Join(optimizersReducing(ranks), " and "))
	}
	return "", ""
}

// graphCaveat says how many reductions are not judged because graphs launch them.
func graphCaveat(ranks []*analyze.Rank) []string {
	n := 0
	for _, kind := range []timeline.CollectiveKind{timeline.ReduceScatter, timeline.AllReduce} {
		graphs, _ := countSites(ranks, kind).of(timeline.SiteGraph)
		n += graphs
	}
	if n == 0 {
		return nil
	}
	return []string{units.Count(n, "reduction") + " of CUDA graphs not judged: sites inside a graph are unknown " +
		"without annotations"}
}

func fixInOptimizer(ranks []*analyze.Rank, subject string) string {
	which := "them"
	if strings.Contains(subject, " of ") {
		which = "those of " + strings.Join(optimizersReducing(ranks), " and ")
	}
	return fmt.Sprintf("launch %s from a post-accumulate-grad hook", which)
}

// optimizersReducing names the optimizers that launch gradient reductions.
func optimizersReducing(ranks []*analyze.Rank) []string {
	var names []string
	for _, r := range ranks {
		for i := range r.Collectives {
			if m := &r.Collectives[i]; inOptimizer(m) && !slices.Contains(names, m.Site.Name) {
				names = append(names, m.Site.Name)
			}
		}
	}
	slices.Sort(names)
	return names
}
