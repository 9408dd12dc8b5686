package analyze

import (
	"math"
	"slices"

	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/analyze/normalization"
)

// decide notes how one step is normalized.
func (a *assembly) decide(step int, counts *tokenCounts, window int) {
	o := a.loop()
	o.Case, o.Whole = counts.caseOf(step, window)
	if counts.known && o.Reduced != normalization.Yes {
		o.Reduced = normalization.NotKnown // ranks know the count of all, however they came by it
	}
	o.Micro = a.mostMicroBatches()
	a.losses(o, int64(step)+a.shift)
	for _, g := range a.o.Gradients {
		if g.Step == int64(step)+a.shift && (o.Gradients == nil || o.Gradients.Right()) {
			o.Gradients = g.Cause
		}
	}
	if o.Ranks == 0 && len(a.ranks) == 0 {
		o.Ranks = o.Case.Ranks() // of logs alone
	}
	a.normalized = append(a.normalized, NormalizedStep{step, o.Case, o, normalization.Decide(o)})
}

// mostMicroBatches is how many micro-batches a full step has, by the traces; 0 unknown.
func (a *assembly) mostMicroBatches() int {
	most := 0
	for _, fr := range a.ranks {
		for i := range fr.rank.Steps {
			most = max(most, fr.rank.Steps[i].MicroBatches)
		}
	}
	return most
}

// loop is what the traces of all ranks show of the loop, alike.
func (a *assembly) loop() *normalization.Observation {
	var o *normalization.Observation
	for _, fr := range a.ranks {
		seen := observe(fr.rank)
		if o == nil {
			o = seen
			continue
		}
		for _, pair := range [][2]*normalization.Answer{{&o.Mean, &seen.Mean}, {&o.Divided, &seen.Divided}, {&o.Scaled, &seen.Scaled}, {&o.Reduced, &seen.Reduced}, {&o.Inverted, &seen.Inverted}} {
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
	if o == nil {
		o = &normalization.Observation{Divisor: math.NaN(), Optimised: math.NaN(), Logged: math.NaN()}
	}
	o.Declared = a.o.Normalization
	return o
}

// observe is what the trace of one rank shows of its loop.
func observe(r *facts.Rank) *normalization.Observation {
	nan := math.NaN()
	o := &normalization.Observation{Ranks: int(ReducingRanks(r)), Divisor: r.Loss.Divisor, Optimised: nan, Logged: nan,
		Hidden: r.FusedOptimizer || r.Sync.Kind == facts.ReduceScatter}
	l := &r.Loss
	unscaled := slices.ContainsFunc(r.Passes, func(p facts.GradientPass) bool { return p.Kind == facts.UnscalePass })
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
		o.Scaled = answer(slices.ContainsFunc(r.Passes, func(p facts.GradientPass) bool { return p.Kind == facts.ScalePass }))
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

// reducesCounts tells whether the count of tokens is reduced over ranks. Other small
// messages may carry it as well.
func reducesCounts(r *facts.Rank) normalization.Answer {
	small := slices.ContainsFunc(r.Calls, func(c facts.Call) bool {
		return c.Step >= 0 && !c.Gradient && (c.Elems == facts.Unknown || c.Elems <= smallMessage)
	})
	switch {
	case !r.Tokens.Judgable:
		return normalization.NotKnown
	case r.Tokens.Place != facts.TokensNowhere:
		return normalization.Yes
	case small:
		return normalization.NotKnown
	}
	return normalization.No
}

// smallMessage is how many elements a message that may carry counts has at the most.
const smallMessage = 64

// losses fills in what the loss log says of a step; unknown are those of micro-batches
// unless all are there.
func (a *assembly) losses(o *normalization.Observation, step int64) {
	if a.o.Losses == nil {
		return
	}
	for _, s := range a.o.Losses.Steps {
		if s.Step != step {
			continue
		}
		if math.IsNaN(o.Optimised) {
			o.Optimised = s.Optimised
		}
		if math.IsNaN(o.Logged) {
			o.Logged = s.Logged
		}
	}
	o.Sums = LossSums(a.o.Losses, step, o.Case)
}
