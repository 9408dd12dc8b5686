package rules

import (
	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/normalization"
	"github.com/gaprof/gaprof/analyze/report"
)

// NM002 finds gradients that are the mean of micro-batches' means.
var NM002 = analyze.Rule{
	ID:    "NM002",
	Scope: analyze.AllRanks,
	Doc: analyze.Doc{
		Title: "gradients are the mean of micro-batches' means",
		Why: "Every micro-batch has the same weight, however few valid tokens it has, so a token " +
			"of a short one counts many times as much as one of a long one. Accumulation " +
			"then gives other gradients than the same rows in one large batch.",
		Fix: "count the valid tokens of all micro-batches of the step first, over all ranks, and divide summed " +
			"losses by that number instead of averaging means (loss.sum() * ranks / all tokens under DDP and FSDP)",
	},
	Needs: []analyze.Need{needOptimizerSteps, needCounts},
	Run: func(p *analyze.Pass) {
		list := raggedSteps(p, normalization.MicroMean)
		if len(list) == 0 {
			return
		}
		reportWeights(p, list, normalization.MicroMean, report.Finding{
			Message: "micro-batches' means are averaged: one token counts from " +
				spread(list[0].weights) + " times what it should",
		})
	},
}
