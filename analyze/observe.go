package analyze

import (
	"math"
	"slices"

	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/analyze/gradients"
	"github.com/gaprof/gaprof/analyze/normalization"
	"github.com/gaprof/gaprof/analyze/timeline"
)

// observeAll is what the traces of all ranks show of the loop; what they do not show alike
// is not known.
func observeAll(list []*Rank) normalization.Observation {
	if len(list) == 0 {
		return normalization.Observation{Divisor: math.NaN(), Optimised: math.NaN(), Logged: math.NaN()}
	}
	o := observe(list[0].Rank)
	for _, r := range list[1:] {
		seen := observe(r.Rank)
		for _, pair := range [][2]*normalization.Answer{
			{&o.Mean, &seen.Mean}, {&o.Divided, &seen.Divided}, {&o.Scaled, &seen.Scaled},
			{&o.Reduced, &seen.Reduced}, {&o.Inverted, &seen.Inverted},
		} {
			if *pair[0] != *pair[1] {
				*pair[0] = normalization.NotKnown
			}
		}
		o.Hidden = o.Hidden || seen.Hidden
		if o.Divisor != seen.Divisor {
			o.Divisor = math.NaN()
		}
		if o.Ranks != seen.Ranks {
			o.Ranks = 0
		}
	}
	return *o
}

// observe is what the trace of one rank shows of its loop.
func observe(r *facts.Rank) *normalization.Observation {
	nan := math.NaN()
	o := &normalization.Observation{Ranks: int(ReducingRanks(r)), Divisor: r.Loss.Divisor, Optimised: nan, Logged: nan,
		Hidden: r.FusedOptimizer || r.Sync.Kind == timeline.ReduceScatter}
	l := &r.Loss
	unscaled := slices.ContainsFunc(r.Passes, func(p gradients.Pass) bool { return p.Kind == gradients.UnscalePass })
	switch { // a GradScaler multiplies losses, too
	case !l.Known || unscaled:
	case l.Reduction == facts.LossMean && !l.Multiplied:
		o.Mean = normalization.Yes
	case l.Reduction == facts.LossSum, l.Reduction == facts.LossMean && l.Multiplied:
		o.Mean = normalization.No
	}
	if l.Known {
		o.Divided = answer(l.Divided)
	}
	if l.Inverted {
		o.Inverted = normalization.Yes
	}
	if r.Params.Known() {
		o.Scaled = answer(slices.ContainsFunc(r.Passes, func(p gradients.Pass) bool {
			return p.Kind == gradients.ScalePass && !p.One
		}))
	}
	o.Reduced = reducesCounts(r)
	return o
}

func answer(yes bool) normalization.Answer {
	if yes {
		return normalization.Yes
	}
	return normalization.No
}

// reducesCounts reports whether the count of tokens is reduced over ranks. Other small
// collectives may carry it as well.
func reducesCounts(r *facts.Rank) normalization.Answer {
	small := slices.ContainsFunc(r.HostCollectives, func(c gradients.HostCollective) bool {
		return c.Step >= 0 && !c.Gradient && (c.Elems == facts.Unknown || c.Elems <= smallCollective)
	})
	switch {
	case !r.Tokens.Judgable:
		return normalization.NotKnown
	case r.Tokens.Place != gradients.TokensNowhere:
		return normalization.Yes
	case small:
		return normalization.NotKnown
	}
	return normalization.No
}

// smallCollective is the largest number of elements of a collective that may carry counts.
const smallCollective = 64
