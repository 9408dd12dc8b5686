package rules

import (
	"fmt"
	"strings"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/facts"
)

// GS002 finds a scaling of the gradients that could be folded into something else.
var GS002 = analyze.Rule{
	ID: "GS002",
	Doc: analyze.Doc{
		Title: "avoidable scaling of the gradients",
		Why: "Multiplying every gradient by 1/tokens behind backward reads and writes them all once more. The factor is known before " +
			"backward if the tokens of all micro-batches are counted first, and then a multiplication of one number, the loss, does the same.",
		Fix: "fold the factor into the loss of each micro-batch; the finding names the other folds that are legal for the trace",
	},
	Needs: gradientNeeds,
	Run:   runGS002,
}

func runGS002(p *analyze.Pass) {
	list := withVerdict(p, analyze.Avoidable)
	if len(list) == 0 {
		return
	}
	p.ReportStructure(claimPasses(p, list), func(mean, step int64) analyze.Finding {
		_, reason := analyze.VerdictOf(list[0].rank, list[0].pass, p.UniformTokens)
		return analyze.Finding{
			Message:  "avoidable scaling of the gradients costs " + perStep(mean, step),
			Why:      fmt.Sprintf("multiplying %s after backward takes %s; %s", plural(int64(list[0].pass.Parameters), "gradient"), plural(int64(list[0].pass.Launches), "call"), reason) + alsoSlow(p, list),
			Fix:      strings.Join(folds(list[0].rank, list[0].pass), "; or "),
			Saving:   &analyze.Range{Low: 0, High: mean},
			Evidence: showPasses(list),
			Caveats:  append(hostCaveat(list), "the labels of all micro-batches must be at hand before the first backward"),
		}
	})
}

// folds are the ways to get rid of the pass that this trace allows.
func folds(r *facts.Rank, scale *facts.GradientPass) []string {
	ranks := analyze.ReducingRanks(r)
	loss := "multiply each micro-batch's summed loss by 1/N before backward, N being the tokens of all micro-batches"
	if ranks > 1 {
		loss = fmt.Sprintf("multiply each micro-batch's summed loss by %d/N before backward, N being the tokens of all micro-batches and ranks (one token all-reduce before the first forward)", ranks)
	}
	list := []string{loss}
	for i := range r.Passes {
		if p := &r.Passes[i]; p.Step == scale.Step && p.Kind == facts.ClipPass && p.Place == facts.AfterBackward {
			list = append(list, "fold 1/N into the clip coefficient (norm and coefficient scale with it), one pass for both")
			break
		}
	}
	if fusedOptimizer(r) {
		list = append(list, "pass it as grad_scale to the fused optimizer")
	}
	if r.Sync.Kind == facts.ReduceScatter && ranks > 1 {
		list = append(list, "FSDP2: set_gradient_divide_factor(N) on the last micro-batch")
	}
	return list
}

// fusedOptimizer tells whether the optimizer runs as PyTorch's fused kernels.
func fusedOptimizer(r *facts.Rank) bool {
	for id := range r.Trace.NumStrings() {
		if name := r.Trace.String(traceString(id)); strings.HasPrefix(name, "aten::_fused_adam") || strings.HasPrefix(name, "aten::_fused_sgd") {
			return true
		}
	}
	return false
}
