package normalization

import (
	"fmt"
	"math"
)

// Basis says what a decision rests on.
type Basis string

// The bases, the strongest first.
const (
	ByGradients Basis = "gradients"
	ByLoss      Basis = "loss log"
	ByTrace     Basis = "trace"
	ByWord      Basis = "declared"
	ByNothing   Basis = "unknown"
)

// Decision is how a step is normalized, as far as that can be told.
type Decision struct {
	Mode     Mode     // Unknown where nothing tells
	Factor   Factor   // Name is "" where it is not known
	Basis    Basis    // what Mode and Factor rest on
	Evidence string   // the same in words; choices in braces, see internal/choice
	Weights  *Weights // nil where mode, factor or counts are not known
}

// Proven reports whether the decision rests on more than the user's word.
func (d *Decision) Proven() bool { return d.Basis != ByWord && d.Basis != ByNothing }

// Decide says how a step is normalized: by its gradients, else by the loss that it logs to
// follow, else by what the trace shows of the loop, else by the user's word.
func Decide(o *Observation) *Decision {
	for _, judge := range []func(*Observation) *Decision{byGradients, byLoss, byTrace, byWord} {
		if d := judge(o); d != nil {
			d.weigh(o)
			return d
		}
	}
	return &Decision{Mode: Unknown, Basis: ByNothing,
		Evidence: "neither the trace nor a log says how gradients are normalized: " +
			"pass {normalization}, a loss log or gradients"}
}

// weigh fills in the weights of tokens.
func (d *Decision) weigh(o *Observation) {
	c := o.Counts
	if c == nil || d.Factor.Name == "" || c.Ranks() < o.Ranks {
		return
	}
	if o.Whole && d.Mode != Global && d.Mode != PerRank && d.Mode != Sum {
		return // what micro-batches count is not known
	}
	d.Weights = c.WeightsOf(d.Mode, d.Factor)
}

// byGradients decides by a cause that is exact, or is a factor alone.
func byGradients(o *Observation) *Decision {
	g := o.Gradients
	if g == nil || g.Mode == Unknown || g.Confidence != Exact && g.Confidence != FactorAlone {
		return nil
	}
	f := Factor{Name: g.Factor, Value: *g.Value}
	if f.Name == "" {
		f.Name = fmt.Sprintf("%.6g", f.Value)
	}
	return &Decision{Mode: g.Mode, Factor: f, Basis: ByGradients, Evidence: "gradients: " + g.Text}
}

// byLoss decides by the average that the loss is which the step follows: as it is, else
// times a factor.
func byLoss(o *Observation) *Decision {
	if o.Counts == nil || o.Whole || o.Sums == nil {
		return nil
	}
	for _, modes := range [][]Mode{distinct[:3], distinct[3:]} { // means, then what loops do by mistake
		for _, list := range [][]Factor{{One}, o.Counts.Factors()} {
			if hits := o.followed(modes, list); len(hits) > 0 {
				return o.only(hits)
			}
		}
	}
	return nil
}

// followed lists the averages of some modes that the optimised loss is, times one of some
// factors.
func (o *Observation) followed(modes []Mode, list []Factor) []match {
	var hits []match
	for _, m := range modes {
		l, ok := o.Counts.OptimisedLoss(o.Sums, m)
		if !ok {
			continue
		}
		named := nameFactors(list, o.Optimised/l.Value, lossTolerance)
		if len(named) == 0 {
			continue
		}
		d := &Decision{Mode: m, Factor: named[0], Basis: ByLoss,
			Evidence: fmt.Sprintf("the optimized loss %.9g is %s", o.Optimised, l.Text)}
		if named[0].Name != "1" {
			d.Evidence += " times " + named[0].Name + ": " + named[0].Text
		}
		hits = append(hits, match{d, math.Abs(o.Optimised/(l.Value*named[0].Value) - 1)})
	}
	return hits
}

// match is a decision and how far the loss is from what it says, relative.
type match struct {
	*Decision
	off float64
}

// Losses early in training are nearly the same for all tokens, and so are their averages:
// the nearest one is named only if any other is this much further away, and further than
// float64 adds up.
const (
	clearly    = 10
	leastApart = 1e-9
)

// only is the nearest of some decisions, the first of equal ones; nil where another that
// would give tokens other weights is as near: then the loss cannot tell them apart.
func (o *Observation) only(hits []match) *Decision {
	best := hits[0]
	for _, h := range hits[1:] {
		if h.off < best.off-leastApart {
			best = h
		}
	}
	for _, h := range hits {
		near := h.off <= max(clearly*best.off, leastApart)
		if h.Decision != best.Decision && near && !o.alike(h.Decision, best.Decision) {
			return nil
		}
	}
	return best.Decision
}

// alike reports whether two decisions give every token the same weight.
func (o *Observation) alike(a, b *Decision) bool {
	v, w := o.Counts.WeightsOf(a.Mode, a.Factor), o.Counts.WeightsOf(b.Mode, b.Factor)
	return v != nil && w != nil && !v.Ragged() && !w.Ragged() && math.Abs(*v.Min-*w.Min) <= Tolerance
}

// byTrace decides by the structure of the loop. The factor common to all tokens stays
// unknown where the trace does not hold the numbers.
//
//  1. A mean that nothing multiplies by its count makes the mean of micro-batches' means,
//     or with one micro-batch that of ranks' means: no later factor can undo that.
//  2. Sums that are divided by a count which no rank tells the others make the mean of
//     ranks' means.
//  3. Sums on one rank, or with a count of all ranks, count alike.
func byTrace(o *Observation) *Decision {
	switch o.Mean {
	case Yes:
		return o.byMeans()
	case No:
		return o.bySums()
	}
	return nil
}

// byMeans decides where the loss of a micro-batch is a mean.
func (o *Observation) byMeans() *Decision {
	micro := o.Micro // 0 unknown
	if o.Counts != nil && !o.Whole {
		micro = o.Counts.Window()
	}
	switch {
	case micro > 1:
		return &Decision{Mode: MicroMean, Factor: o.meanFactor(), Basis: ByTrace,
			Evidence: "each micro-batch's loss is a mean over its own tokens, which nothing multiplies by their number"}
	case o.Scaled != No || micro != 1:
		return nil
	case o.Ranks > 1:
		return &Decision{Mode: PerRank, Factor: One, Basis: ByTrace,
			Evidence: "each rank's loss is a mean over its own tokens, and gradients are averaged over ranks"}
	case o.Ranks == 1:
		return &Decision{Mode: Global, Factor: One, Basis: ByTrace,
			Evidence: "one rank and one micro-batch, whose loss is a mean"}
	}
	return nil
}

// bySums decides where losses are sums, which something divides by a count.
func (o *Observation) bySums() *Decision {
	if o.Inverted != Yes {
		return nil
	}
	const unsaid = "; the trace does not say what else they are multiplied by"
	switch {
	case o.Ranks == 1:
		return &Decision{Mode: Global, Basis: ByTrace, Evidence: "losses are sums, and a count is inverted" + unsaid}
	case o.Reduced == Yes:
		evidence := "losses are sums, and a count is inverted"
		if o.Ranks > 1 {
			evidence += " that is reduced over ranks"
		}
		return &Decision{Mode: Global, Basis: ByTrace, Evidence: evidence + unsaid}
	case o.Ranks > 1 && o.Reduced == No && o.Divided == No:
		return &Decision{Mode: PerRank, Factor: One, Basis: ByTrace,
			Evidence: "losses are sums that are divided by a count, and ranks do not exchange their counts"}
	}
	return nil
}

// meanFactor is what means of micro-batches are multiplied by beside 1/k: of a loss that
// is divided by a number that the trace holds, or of a whole window.
func (o *Observation) meanFactor() Factor {
	c := o.Counts
	if c == nil || o.Whole || o.Scaled != No {
		return Factor{} // not the counts, or not what a pass multiplies by
	}
	micro := float64(c.Micro())
	switch {
	case o.Divided == No && o.Hidden:
		return Factor{}
	case o.Divided == No && c.Partial():
		return Factor{"k", micro, undivided}
	case o.Divided == No:
		return Factor{"A", micro, undivided}
	case !math.IsNaN(o.Divisor):
		if hits := nameFactors(c.Factors(), micro/o.Divisor, 1e-9); len(hits) > 0 {
			return hits[0]
		}
		return Factor{fmt.Sprintf("%d/%g", c.Micro(), o.Divisor), micro / o.Divisor,
			"divided by another number than there are micro-batches"}
	case c.Partial():
		return Factor{} // by k or by A: not known
	}
	return One
}

const undivided = "not divided by the micro-batches of a window"

// byWord takes the user's word.
func byWord(o *Observation) *Decision {
	if o.Declared == "" || o.Declared == Unknown {
		return nil
	}
	return &Decision{Mode: o.Declared, Factor: One, Basis: ByWord,
		Evidence: "as declared; neither trace nor logs show it or contradict it"}
}
