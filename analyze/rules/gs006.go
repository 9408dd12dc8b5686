package rules

import (
	"fmt"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/gradients"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/timeline"
)

// GS006 finds passes that multiply every gradient by one.
var GS006 = analyze.Rule{
	ID:    "GS006",
	Scope: analyze.PerRank,
	Doc: analyze.Doc{
		Title: "gradients are multiplied by one",
		Why: "A pass whose factor is one reads and writes every gradient and changes none. The trace shows " +
			"the factor where it is a number handed to a foreach operator (Concrete Inputs), and where " +
			"DDP divides by the number of ranks and its group has one. A factor in a tensor, or one " +
			"that Python wraps (p.grad *= x), is not recorded and not judged.",
		Fix: "guard it: if factor != 1: torch._foreach_mul_(grads, factor); a clip coefficient on the host: " +
			"if coefficient < 1. On a single rank, train without DistributedDataParallel",
	},
	Needs: gradientNeeds,
	Edit:  "drop-scale-pass",
	Run:   runGS006,
}

func runGS006(p *analyze.Pass) {
	list := passes(p, multipliesByOne)
	p.ReportStructure(claimOne(p, list), func(mean, step int64) report.Finding {
		f := report.Finding{
			Message:  "multiplying gradients by one costs " + perStep(mean, step),
			Why:      whyOne(p, list),
			Saving:   &report.Range{Low: 0, High: mean},
			Evidence: showPasses(list),
			Caveats:  hostCaveat(list),
		}
		fixOne(list[0].pass).give(&f)
		return f
	})
}

// multipliesByOne reports whether the factor of a pass is known to be one.
func multipliesByOne(r *analyze.Rank, gp *gradients.Pass) bool {
	return gp.One || dividesByOneRank(r, gp)
}

// dividesByOneRank reports whether a pass is DDP's division by its number of ranks, of which
// there is one.
func dividesByOneRank(r *analyze.Rank, gp *gradients.Pass) bool {
	ofDDP := gp.Kind == gradients.DividePass && gp.Place == gradients.InBackward && !gp.BeforeScatter
	return ofDDP && r.Sync.Kind == timeline.AllReduce && analyze.ReducingRanks(r.Rank) == 1
}

// claimOne claims what passes cost: with their gaps, but for those that hooks of backward
// launch between the kernels of the model.
func claimOne(p *analyze.Pass, list []found) *analyze.Cost {
	cost := &analyze.Cost{}
	for _, f := range list {
		if f.pass.Place == gradients.InBackward {
			claimAlone(p, f, cost)
		} else {
			claimPass(p, f, cost)
		}
	}
	return cost
}

// whyOne says how the factor is known, and of how many of the passes of the kind.
func whyOne(p *analyze.Pass, list []found) string {
	first := list[0].pass
	if !first.One {
		return "DDP divides by the number of ranks, and the group that reduces gradients has only one"
	}
	alike := passes(p, func(_ *analyze.Rank, gp *gradients.Pass) bool {
		return gp.Kind == first.Kind && gp.Place == first.Place
	})
	return fmt.Sprintf("the recorded factor of the %s is 1 in %d of %d passes", first.Kind, len(list), len(alike))
}

// fixOne is what to change about a pass.
func fixOne(gp *gradients.Pass) advice {
	switch {
	case !gp.One:
		return advice{fix: "on a single rank, train the module itself, without DistributedDataParallel",
			before: "model = DDP(model)", after: "model = DDP(model) if dist.get_world_size() > 1 else model"}
	case gp.Kind == gradients.ClipPass:
		return advice{
			fix:    "the host knows the coefficient: if coefficient < 1: torch._foreach_mul_(grads, coefficient)",
			before: "torch._foreach_mul_(grads, coefficient)",
			after:  "if coefficient < 1: torch._foreach_mul_(grads, coefficient)",
		}
	}
	return advice{fix: "leave the pass out, or guard it: if factor != 1: torch._foreach_mul_(grads, factor)"}
}
