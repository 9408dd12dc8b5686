package rules

import (
	"fmt"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/normalization"
	"github.com/gaprof/gaprof/analyze/report"
)

// NM003 finds gradients that are a multiple of the right ones, or whose micro-batches are
// reduced or scaled again and again.
var NM003 = analyze.Rule{
	ID:    "NM003",
	Scope: analyze.AllRanks,
	Doc: analyze.Doc{
		Title: "gradients are off by a factor of the accumulation steps or the world size",
		Why: "With N tokens, R ranks and A micro-batches: 1/N on top of a mean over the ranks makes gradients R " +
			"times too small; losses that are means and are not divided by A make them A times too large. AdamW " +
			"divides the factor out again, so loss curves look alike, but clipping, the balance with weight decay, " +
			"and every gradient figure in the log do not.",
		Fix: "multiply by ranks / all tokens where gradients are averaged over ranks, " +
			"by 1 / all tokens where they are summed (FSDP2: set_gradient_divide_factor(1.0)), " +
			"and by nothing else; compare gradients with {compare-gradients}",
	},
	Needs: []analyze.Need{needOptimizerSteps, needCounts},
	Run:   runNM003,
}

func runNM003(p *analyze.Pass) {
	var list []weighed
	for i := range p.Normalized {
		s := &p.Normalized[i]
		named := s.Factor.Name != "" && s.Factor.Name != partialFactor
		if !named || !s.Proven() || s.Weights == nil || !s.Weights.Wrong() {
			continue
		}
		means := s.Mode == normalization.PerRank || s.Mode == normalization.MicroMean
		if means && s.Weights.Ragged() || s.Explained != "" {
			continue // NM001 and NM002 say what is wrong first, and so do those that see why
		}
		list = append(list, weighed{s, s.Weights})
	}
	if len(list) == 0 {
		return
	}
	list = worstFirst(list)
	w := list[0].weights
	message := fmt.Sprintf("gradients are %.4g times the right ones (%s)", *w.Max, w.Factor)
	if w.Ragged() {
		message = list[0].Mode.Title() + ": one token counts from " + spread(w) + " times what it should"
	}
	reportWeights(p, list, "", report.Finding{Message: message})
}
