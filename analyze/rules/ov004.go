package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/internal/units"
)

// OV004 finds gradient reductions that are launched only when the optimizer steps.
var OV004 = analyze.Rule{
	ID:    "OV004",
	Scope: analyze.PerRank,
	Doc: analyze.Doc{
		Title: "gradient reductions are launched only inside the optimizer step, or after backward",
		Why: "A reduction that is launched inside Optimizer.step(), or between backward and it, starts when all of " +
			"backward has been launched, so no backward compute is left to hide it; it can only overlap with the " +
			"optimizer's own kernels. Launched as soon as its gradient is ready, it runs beside the rest of backward.",
		Fix: "launch each reduction from a post-accumulate-grad hook " +
			"(torch.Tensor.register_post_accumulate_grad_hook) on the last micro-batch and only wait for it in step()",
	},
	Needs: []analyze.Need{
		analyze.NeedDevice, analyze.NeedCollectives, analyze.NeedOneRank, analyze.NeedStreams, analyze.NeedSteps,
		analyze.NeedLaunches, analyze.NeedSites, analyze.NeedCaptures,
	},
	Edit: "hoist-reduce-scatter",
	Run:  runOV004,
}

func runOV004(p *analyze.Pass) {
	var cost analyze.Cost
	late := make(map[*analyze.Rank][]int)
	for _, r := range p.Ranks {
		late[r] = lateReductions(r)
		for _, kind := range reducingKinds {
			which := slices.DeleteFunc(slices.Clone(late[r]), func(i int) bool { return r.Collectives[i].Kind != kind })
			if len(which) > 0 {
				claimExposed(p, r, which, kind, &cost)
			}
		}
	}
	p.ReportCost(&cost, func(mean, step int64) report.Finding {
		w := whyAfterBackward(p.Ranks, late)
		f := report.Finding{
			Message:  fmt.Sprintf("%s exposed %s", w.subject, perStep(mean, step)),
			Why:      w.why,
			Saving:   &report.Range{Low: 0, High: mean},
			Evidence: mostExposed(p.Ranks, late),
			Caveats: append([]string{
				waitCaveat(p),
				"the exposed time is an upper bound of the saving: the reductions of the gradients " +
					"that backward finishes last have little compute left to hide behind",
				"with gradient accumulation the hook must wait for the last micro-batch",
			}, graphCaveat(p.Ranks)...),
		}
		fromHooks(w.fix, w.reduction).give(&f)
		return f
	})
}

// reducingKinds are the kinds of collectives that reduce gradients.
var reducingKinds = []timeline.CollectiveKind{timeline.ReduceScatter, timeline.AllReduce}

// lateWords is what is said of reductions that are launched late.
type lateWords struct{ subject, why, fix, reduction string }

// whyAfterBackward says how many reductions are launched where, and names what they are: all of a
// kind, or those of some optimizers.
func whyAfterBackward(ranks []*analyze.Rank, late map[*analyze.Rank][]int) lateWords {
	for _, kind := range reducingKinds {
		of := func(r *analyze.Rank, i int) bool {
			c := &r.Collectives[i]
			return c.Kind == kind && carriesGradients(r, c)
		}
		all := countSites(ranks, of)
		sites := countSites(ranks, func(r *analyze.Rank, i int) bool {
			_, found := slices.BinarySearch(late[r], i)
			return found && of(r, i)
		})
		if sites.linked > 0 {
			return lateOf(strings.ReplaceAll(kind.String(), "_", "-"), all, sites)
		}
	}
	return lateWords{}
}

// graphCaveat says how many reductions are not judged because graphs launch them.
func graphCaveat(ranks []*analyze.Rank) []string {
	graphs, _ := countSites(ranks, func(r *analyze.Rank, i int) bool {
		return slices.Contains(reducingKinds, r.Collectives[i].Kind)
	}).of(timeline.SiteGraph)
	if graphs == 0 {
		return nil
	}
	return []string{units.Count(graphs, "reduction") + " in CUDA graphs not judged: launch sites inside a graph are " +
		"unknown without annotations"}
}

// reduceScatter and allReduce are the lines of PyTorch that reduce a gradient.
const (
	reduceScatter = "dist.reduce_scatter_tensor(shard, p.grad)"
	allReduce     = "dist.all_reduce(p.grad)"
)

var reductionLine = map[string]string{"reduce-scatter": reduceScatter, "all-reduce": allReduce}

// lateOf words the late ones of all reductions of a kind.
func lateOf(what string, all, late siteCount) lateWords {
	inStep, names := late.of(timeline.SiteOptimizerStep)
	w := lateWords{subject: what, fix: "launch them from a post-accumulate-grad hook", reduction: reductionLine[what]}
	after := fmt.Sprintf("%d of %d linked %ss of gradients are launched after backward, before Optimizer.step",
		late.linked-inStep, all.linked, what)
	if inStep == 0 {
		w.subject, w.why = what+" after backward", after
		w.fix += ", or let DistributedDataParallel (Megatron: overlap_grad_reduce) " +
			"reduce them while backward goes on"
		return w
	}
	w.why = fmt.Sprintf("%d of %d linked %ss are launched inside Optimizer.step (%s)", inStep, all.linked, what, names)
	if late.linked > inStep {
		w.why += "; " + after
	}
	if late.linked == all.linked {
		return w
	}
	if hooks, _ := all.of(timeline.SiteBackwardHook); hooks > 0 {
		w.why += fmt.Sprintf("; %d from backward hooks already", hooks)
	}
	optimizers := strings.Join(late.names(timeline.SiteOptimizerStep), " and ")
	w.subject = fmt.Sprintf("%s of %s", what, optimizers)
	w.fix = fmt.Sprintf("launch those of %s from a post-accumulate-grad hook", optimizers)
	return w
}
