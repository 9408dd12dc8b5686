package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/gradients"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/timeline"
)

// GS002 finds a scaling of the gradients that could be folded into something else.
var GS002 = analyze.Rule{
	ID:    "GS002",
	Scope: analyze.PerRank,
	Doc: analyze.Doc{
		Title: "avoidable scaling of the gradients",
		Why: "Multiplying every gradient by 1/tokens after backward reads and writes them all " +
			"once more. The factor is known before backward if the tokens of all micro-batches " +
			"are counted first, and then a multiplication of one number, the loss, does the same.",
		Fix: "fold the factor into the loss of each micro-batch; the " +
			"finding names the other folds that are legal for the trace",
	},
	Needs: gradientNeeds,
	Edit:  "fold-scale",
	Run:   runGS002,
}

func runGS002(p *analyze.Pass) {
	list := withVerdict(p, report.Avoidable)
	p.ReportStructure(claimPasses(p, list), func(mean, step int64) report.Finding {
		return report.Finding{
			Message:  "avoidable scaling of the gradients costs " + perStep(mean, step),
			Why:      whyScaled(p, list),
			Fix:      strings.Join(folds(list[0].rank, list[0].pass), "; or "),
			Saving:   &report.Range{Low: 0, High: mean},
			Evidence: showPasses(list),
			Caveats:  append(hostCaveat(list), foldCaveats(list[0].rank)...),
		}
	})
}

// foldCaveats are what the trace does not show about a fold.
func foldCaveats(r *analyze.Rank) []string {
	caveats := []string{"the labels of all micro-batches must be available before the first backward"}
	if analyze.ReducingRanks(r.Rank) > 1 {
		caveats = append(caveats, "the factor is for gradients that are averaged "+
			"over ranks, as DDP and FSDP do; where they are summed it is 1/N")
	}
	return caveats
}

// folds are the ways to get rid of the pass that this trace allows. The factor is 1/N
// on one rank and R/N after a mean over R ranks, N being all tokens of the step.
func folds(r *analyze.Rank, scale *gradients.Pass) []string {
	factor, inverse, first := "1/N", "N", ""
	if ranks := analyze.ReducingRanks(r.Rank); ranks > 1 {
		factor, inverse = fmt.Sprintf("%d/N", ranks), fmt.Sprintf("N/%d", ranks)
		first = " (one token all-reduce before the first forward)"
	}
	list := []string{
		fmt.Sprintf("multiply each micro-batch's summed loss by %s before backward, N being all tokens of the step%s",
			factor, first),
	}
	if clips(r, scale.Step) {
		list = append(list,
			fmt.Sprintf("fold %s into the clip coefficient (the norm scales with it), one pass for both", factor))
	}
	if r.FusedOptimizer {
		list = append(list, fmt.Sprintf("hand %s to the fused optimizer as grad_scale, by which it divides", inverse))
	}
	if r.Sync.Kind == timeline.ReduceScatter && r.Sync.Pattern == gradients.SyncLast {
		list = append(list, "FSDP2: set_gradient_divide_factor(N) before the last backward, which alone reduces")
	}
	return list
}

// clips reports whether a step clips after backward.
func clips(r *analyze.Rank, step int) bool {
	return slices.ContainsFunc(r.Passes, func(p gradients.Pass) bool {
		return p.Step == step && p.Kind == gradients.ClipPass && !p.ByValue && p.Place == gradients.AfterBackward
	})
}
