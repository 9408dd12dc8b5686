package normalization

import (
	"fmt"
	"math"
	"strings"

	"github.com/gaprof/gaprof/trace/sidecar"
)

// Confidence says how a cause was found.
type Confidence string

// Exact: the gradients are those that the cause predicts, to rounding. Factor: they are
// a multiple of the reference, and only the factor was looked at. Weak: the norm ratio and
// the cosine are what token counts make one expect, and of nothing else.
const (
	Exact       Confidence = "exact"
	FactorAlone Confidence = "factor"
	Weak        Confidence = "weak"
	NoIdea      Confidence = "none"
)

// Cause is what makes gradients differ from the right ones.
type Cause struct {
	Mode       Mode       `json:"mode"`       // unknown where nothing fits
	Factor     string     `json:"factor"`     // common to all tokens; "" where it has no name
	Value      *float64   `json:"value"`      // of the factor, as measured; null where Mode is unknown
	Also       []string   `json:"also"`       // other factors, or modes, that would give the same
	Confidence Confidence `json:"confidence"` // how the cause was found
	Text       string     `json:"text"`       // a sentence without a full stop
}

// Right reports whether the gradients are the right ones.
func (c *Cause) Right() bool { return c.Mode == Global && c.Factor == "1" }

// named is the cause that is a mode, all times v, with the name of that factor.
func named(m Mode, list []Factor, v, tolerance float64, how Confidence) *Cause {
	cause := &Cause{Mode: m, Value: &v, Also: []string{}, Confidence: how, Text: m.Title()}
	hits := nameFactors(list, v, tolerance)
	if len(hits) == 0 {
		cause.Text += fmt.Sprintf("; all multiplied by %.6g, which is no product of ranks, micro-batches and tokens", v)
		return cause
	}
	cause.Factor = hits[0].Name
	for _, f := range hits[1:] {
		cause.Also = append(cause.Also, f.Name)
	}
	if hits[0].Name == "1" {
		return cause
	}
	cause.Text = fmt.Sprintf("%s times the right gradients: %s", hits[0].Name, hits[0].Text)
	if m != Global {
		cause.Text = fmt.Sprintf("%s; and all multiplied by %s: %s", m.Title(), hits[0].Name, hits[0].Text)
	}
	if len(hits) > 1 {
		cause.Text += fmt.Sprintf("; or %s, which is the same number here", strings.Join(cause.Also, " or "))
	}
	if hits[0].Name == "N" || hits[0].Name == "1/N" {
		cause.Text += "; both sides went through the same reduction: " +
			"whether that was a mean over R ranks, so that both are 1/R too small, cannot be seen"
	}
	return cause
}

// causeOfDeviation names a cause from norm ratio and cosine alone. Gradients that are a
// multiple of the reference have the cause that the factor names. Of others the mean
// weight of a token is known, ratio x cosine, but for noise, and that the cosine cannot be
// smaller than the spread of weights allows: if one mode alone fits both, it is named.
func causeOfDeviation(c *Counts, d *Deviation, dtype sidecar.Dtype) *Cause {
	nothing := &Cause{Mode: Unknown, Also: []string{}, Confidence: NoIdea, Text: "nothing known fits"}
	if d.NormRatio == nil || d.Cosine == nil {
		nothing.Text = "no cause can be told for gradients that are zero or not finite"
		return nothing
	}
	tolerance := tolerances[dtype]
	if sine := 1 - *d.Cosine**d.Cosine; *d.Cosine > 0 && sine <= tolerance*tolerance {
		return named(Global, c.Factors(), *d.NormRatio, tolerance, FactorAlone)
	}
	if *d.Cosine <= 0 || c.Total() == 0 {
		return nothing
	}
	var fits []Cause
	for _, m := range distinct {
		if f, ok := fit(c, m, *d.NormRatio, *d.Cosine); ok {
			fits = append(fits, Cause{Mode: m, Factor: f.Name, Value: &f.Value, Confidence: Weak})
		}
	}
	nothing.Text = "token counts alone do not tell why these gradients differ; " +
		"write the gradients of the micro-batches, too"
	for _, f := range fits {
		nothing.Also = append(nothing.Also, strings.TrimSuffix(string(f.Mode)+" x "+f.Factor, " x 1"))
	}
	if len(fits) != 1 {
		return nothing
	}
	one := fits[0]
	one.Also, one.Text = []string{}, one.Mode.Title()+"; by the norm ratio and the token counts alone"
	return &one
}

// meanTolerance is how far the measured mean weight of a token may be from that of a
// mode: gradients of single tokens differ.
const meanTolerance = 0.25

// mostLikely is how many factors are tried where little is known: 1, R, A and their inverses.
const mostLikely = 5

// fit reports whether a mode, with one of few factors, can have made a deviation. With
// gradients of tokens that have a common part and noise of their own, the mean weight is
// ratio x cosine, and the square of the cosine lies between 1 and (mean weight)^2 N /
// (sum of c^2 n N^2), where there is nothing but noise.
func fit(c *Counts, m Mode, ratio, cosine float64) (Factor, bool) {
	table := c.Coefficients(m)
	if table == nil {
		return One, false
	}
	var mean, square float64
	for r, row := range c.Tokens {
		for j, n := range row {
			mean += table[r][j] * float64(n)
			square += table[r][j] * table[r][j] * float64(n)
		}
	}
	noise := mean * mean / (square * float64(c.Total()))
	if square == 0 || cosine*cosine < noise*(1-meanTolerance) {
		return One, false
	}
	if !c.WeightsOf(m, One).Ragged() {
		return One, false // it is a multiple of the right gradients
	}
	likely := factors(c.Ranks(), c.Window(), c.Micro(), 0)
	for _, f := range likely[:min(mostLikely, len(likely))] {
		if math.Abs(ratio*cosine/(mean*f.Value)-1) <= meanTolerance {
			return f, true
		}
	}
	return One, false
}
