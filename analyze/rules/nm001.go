package rules

import (
	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/norm"
)

// NM001 finds gradients that each rank normalizes by its own tokens.
var NM001 = analyze.Rule{
	ID: "NM001",
	Doc: analyze.Doc{
		Title: "each rank divides by its own tokens",
		Why: "The mean of the ranks' means is not the mean over all tokens: where ranks have different numbers of valid tokens, those of a rank " +
			"with few count for more. The loss still falls and AdamW hides the change of scale, so curves do not show it.",
		Fix: "all-reduce the count of valid tokens of the step before the first forward, and multiply each micro-batch's summed loss by ranks / all tokens " +
			"(1 / all tokens where gradients are summed over ranks)",
	},
	Needs: []analyze.Need{needOptimizerSteps, needCounts},
	Run: func(p *analyze.Pass) {
		list := raggedSteps(p, norm.PerRank)
		if len(list) == 0 {
			return
		}
		reportWeights(p, list, norm.PerRank, analyze.Finding{
			Message: "each rank divides by its own tokens: one token counts from " + spread(list[0].weights) + " times what it should",
		})
	},
}
