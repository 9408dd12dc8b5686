package analyze

import (
	"fmt"
	"slices"

	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/analyze/gradients"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/timeline"
)

// ReducingRanks is the size of the group that reduces gradients, not the world: 1
// where the trace shows no collective of any kind and no distributed run, 0 unknown.
func ReducingRanks(r *facts.Rank) int64 {
	distributed := r.Distributed
	every := r.Sync.Pattern == gradients.SyncEvery && r.Sync.Kind != timeline.NotCommunication
	reduces := every || r.Sync.Pattern == gradients.SyncLast
	switch {
	case r.Sync.Ranks > 0 && reduces:
		return r.Sync.Ranks
	case reduces && r.WorldSize > 0:
		return r.WorldSize
	case distributed != nil && distributed.WorldSize == 1:
		return 1
	case distributed == nil && !r.Communicates && len(r.Collectives) == 0 && r.Categorised:
		return 1
	}
	return 0
}

// VerdictOf judges a gradient pass. uniform says that the user declared equal token
// counts on all ranks; equal counts in a few recorded steps would not be enough.
func VerdictOf(r *facts.Rank, p *gradients.Pass, uniform bool) (report.Verdict, string) {
	if p.One {
		return report.Needless, "the factor, as recorded, is 1"
	}
	switch p.Kind {
	case gradients.ClipPass:
		if p.ByValue {
			return report.Required, "what it limits is known only after backward"
		}
		return report.Required, "clipping multiplies by a coefficient that is known only after the norm"
	case gradients.UnscalePass:
		return report.Required, "the gradients of a scaled loss must be divided again"
	case gradients.DividePass, gradients.CopyPass, gradients.CastPass, gradients.ZeroPass:
		return report.UnknownVerdict, "part of how the framework averages and keeps gradients"
	}
	if p.Doubtful {
		return report.UnknownVerdict, doubtOf(p)
	}
	if p.Place != gradients.AfterBackward {
		return report.UnknownVerdict, "it runs inside the accumulation loop, where it changes what is accumulated"
	}
	if scaledInside(r, p.Step) {
		return report.UnknownVerdict, "the same scaling runs inside " +
			"the accumulation loop, which is the first thing to change"
	}
	return foldable(ReducingRanks(r), r.Steps[p.Step].MicroBatches, uniform)
}

// foldable judges a scale pass by how many ranks reduce the gradients and how many micro-batches
// a step has: what the loss would have to carry instead.
func foldable(ranks int64, micro int, uniform bool) (report.Verdict, string) {
	switch {
	case ranks == 0:
		return report.UnknownVerdict, "how many ranks reduce the gradients is unknown"
	case micro < 1:
		return report.UnknownVerdict, "the number of micro-batches is unknown"
	case ranks == 1 && micro == 1:
		return report.Needless, "one rank and one micro-batch: loss.mean() gives the same gradients"
	case micro == 1 && uniform:
		return report.Needless, "one micro-batch and equal token counts on all ranks, as declared"
	case micro == 1:
		return report.Avoidable, fmt.Sprintf(
			"one micro-batch on %d ranks: fold ranks x tokens / all tokens into the loss; "+
				"needless only if all ranks always have equally many tokens ({uniform-tokens})",
			ranks)
	case ranks == 1:
		return report.Avoidable, fmt.Sprintf("%d micro-batches: fold tokens / all tokens into each loss", micro)
	}
	return report.Avoidable, fmt.Sprintf(
		"%d micro-batches on %d ranks: fold ranks x tokens / all tokens into each loss, after one token all-reduce",
		micro, ranks)
}

// doubtOf says what a scale pass may be whose factor is not known to come from a count.
func doubtOf(p *gradients.Pass) string {
	if p.Decay {
		return "the factor is not known to be made of a token count: weights that decay by hand look the same"
	}
	return "the factor is not known to be made of a token count: " +
		"undoing a factor of the loss, or learning rates by group of parameters, look the same"
}

// scaledInside reports whether gradients are scaled between the micro-batches of a step.
func scaledInside(r *facts.Rank, step int) bool {
	return slices.ContainsFunc(r.Passes, func(p gradients.Pass) bool {
		return p.Step == step && p.Kind == gradients.ScalePass && p.Place == gradients.BetweenMicroBatches && !p.One
	})
}
