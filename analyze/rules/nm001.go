package rules

import (
	"fmt"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/normalization"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/bounded"
	"github.com/gaprof/gaprof/internal/units"
)

// NM001 finds gradients that each rank normalizes by its own tokens.
var NM001 = analyze.Rule{
	ID:    "NM001",
	Scope: analyze.AllRanks,
	Doc: analyze.Doc{
		Title: "each rank divides by its own tokens",
		Why: "The mean of the ranks' means is not the mean over all tokens: where ranks have " +
			"different numbers of valid tokens, those of a rank with few tokens count for more. The " +
			"loss still falls and AdamW hides the change of scale, so loss curves do not show it.",
		Fix: "all-reduce the step's count of valid tokens before the first forward, and multiply each " +
			"micro-batch's summed loss by ranks / all tokens (1 / all tokens where gradients are summed over ranks)",
	},
	Needs: []analyze.Need{needOptimizerSteps, needCounts},
	Run: func(p *analyze.Pass) {
		list := raggedSteps(p, normalization.PerRank)
		if len(list) == 0 {
			return
		}
		reportWeights(p, list, normalization.PerRank, report.Finding{
			Message: "each rank divides by its own tokens: one token counts from " +
				rankSpread(list[0]) + " times what it should",
		})
	},
}

// rankSpread is the range of weights of a step whose tokens weigh the same within a rank.
func rankSpread(s weighed) string {
	of := func(at *normalization.MicroBatch) string {
		n := int64(0)
		for _, tokens := range s.Counts.Tokens[at.Rank] {
			n = bounded.Add(n, tokens)
		}
		return fmt.Sprintf("rank %d: %s", at.Rank, units.Count(n, "token"))
	}
	return fmt.Sprintf("%.4g (%s) to %.4g (%s)", *s.weights.Min, of(s.weights.MinAt), *s.weights.Max,
		of(s.weights.MaxAt))
}
