package normalization

import "math"

// Weights is what one token of each micro-batch counts under a normalization, against
// 1/N. It is nil for a micro-batch without tokens, which has none to count.
type Weights struct {
	Mode   Mode         `json:"mode"`
	Factor string       `json:"factor"` // common to all: 1, 1/R, N ...
	Ratio  [][]*float64 `json:"ratio"`  // by rank and micro-batch; 1 is right
	Min    *float64     `json:"min"`
	Max    *float64     `json:"max"`
	MinAt  *Place       `json:"min_at"` // the first micro-batch with the least weight
	MaxAt  *Place       `json:"max_at"`
}

// Place is a micro-batch and its number of tokens.
type Place struct {
	Rank       int   `json:"rank"` // its place in Case.Tokens
	MicroBatch int   `json:"micro_batch"`
	Tokens     int64 `json:"tokens"`
}

// Tolerance is the deviation of a token's weight from which gradients are wrong.
const Tolerance = 1e-3

// Wrong tells whether a token's weight is off by more than Tolerance.
func (w *Weights) Wrong() bool {
	return w.Min != nil && (math.Abs(*w.Min-1) > Tolerance || math.Abs(*w.Max-1) > Tolerance)
}

// Ragged tells whether tokens count differently by more than Tolerance, whatever they
// all count.
func (w *Weights) Ragged() bool { return w.Min != nil && *w.Max-*w.Min > Tolerance*(*w.Max) }

// WeightsOf is what tokens count in a mode, times a common factor of a name.
func (c *Case) WeightsOf(m Mode, f Factor) *Weights {
	table := c.Coefficients(m)
	if table == nil || c.Total() == 0 {
		return nil
	}
	w := &Weights{Mode: m, Factor: f.Name, Ratio: make([][]*float64, len(table))}
	for r, row := range c.Tokens {
		w.Ratio[r] = make([]*float64, len(row))
		for j, tokens := range row {
			if tokens == 0 {
				continue
			}
			v := table[r][j] * f.Value * float64(c.Total())
			w.Ratio[r][j] = &v
			at := &Place{r, j, tokens}
			if w.Min == nil || v < *w.Min {
				w.Min, w.MinAt = &v, at
			}
			if w.Max == nil || v > *w.Max {
				w.Max, w.MaxAt = &v, at
			}
		}
	}
	return w
}

// Factor is a number that multiplies all gradients, in terms of R ranks, A
// micro-batches of a window, k of this one, and N tokens.
type Factor struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Text  string  `json:"text"` // how it comes about
}

// One is the factor that changes nothing.
var One = Factor{"1", 1, ""}

// Factors are the factors that mistakes leave behind, the likelier first; those that
// equal an earlier one are left in, because one cannot tell them apart.
func (c *Case) Factors() []Factor {
	return factors(c.Ranks(), c.Window(), c.Micro(), c.Total())
}

func factors(ranks, window, micro int, tokens int64) []Factor {
	r, a, k, n := float64(ranks), float64(window), float64(micro), float64(tokens)
	list := []Factor{One}
	add := func(known bool, name string, value float64, text string) {
		if known && value != 1 {
			list = append(list, Factor{name, value, text})
		}
	}
	add(k > 0 && k < a, "k/A", k/a, "a window of k micro-batches is divided by the A of a full one")
	add(r > 1, "1/R", 1/r, "divided by the number of ranks once too often: 1/N, or no R, on top of a mean over ranks")
	add(r > 1, "R", r, "a sum over ranks where a mean is meant, or multiplied by the number of ranks in vain")
	add(a > 1, "1/A", 1/a, "divided by the micro-batches of a window once too often")
	add(a > 1, "A", a, "not divided by the micro-batches of a window")
	add(r > 1 && a > 1, "1/(RA)", 1/(r*a), "divided by ranks and micro-batches once too often")
	add(r > 1 && a > 1, "RA", r*a, "divided by neither ranks nor micro-batches")
	add(r > 1 && a > 1, "R/A", r/a, "a sum over ranks, and divided by the micro-batches once too often")
	add(r > 1 && a > 1, "A/R", a/r, "divided by the number of ranks once too often, and not by the micro-batches")
	add(n > 1, "N", n, "not normalized: summed losses, summed over ranks, divided by nothing")
	add(n > 1 && r > 1, "N/R", n/r, "summed losses are divided by the number of ranks alone, not by tokens")
	add(n > 1 && a > 1, "N/A", n/a, "summed losses are divided by the number of micro-batches alone, not by tokens")
	add(n > 1 && r > 1 && a > 1, "N/(RA)", n/(r*a), "summed losses are divided by ranks and micro-batches, not by tokens")
	add(n > 1, "1/N", 1/n, "divided by the tokens twice")
	return list
}

// nameFactors lists the factors within a relative tolerance of v.
func nameFactors(list []Factor, v, tolerance float64) []Factor {
	var hits []Factor
	for _, f := range list {
		if math.Abs(v/f.Value-1) <= tolerance {
			hits = append(hits, f)
		}
	}
	return hits
}

// AllWeights is the table of every normalization that the counts allow to be told, the
// right one first.
func (c *Case) AllWeights() []*Weights {
	ranks, window := float64(c.Ranks()), float64(c.Window())
	var list []*Weights
	for _, row := range []struct {
		mode   Mode
		factor Factor
		when   bool
	}{
		{Global, One, true},
		{PerRank, One, true},
		{PerRank, Factor{"R", ranks, ""}, ranks > 1},
		{MicroMean, One, true},
		{MicroMean, Factor{"A", window, ""}, window > 1},
		{Sum, One, true},
		{Global, Factor{"1/R", 1 / ranks, ""}, ranks > 1},
		{Global, Factor{"R", ranks, ""}, ranks > 1},
		{Global, Factor{"1/A", 1 / window, ""}, window > 1},
		{Global, Factor{"N/(RA)", float64(c.Total()) / (ranks * window), ""}, ranks*window > 1},
		{LastMicro, One, window > 1},
		{ReReduced, One, ranks > 1 && window > 1},
		{Decayed, One, window > 1},
		{Preshift, One, c.Preshift != nil},
		{Global, Factor{"k/A", float64(c.Micro()) / window, ""}, c.Partial()},
	} {
		if w := c.WeightsOf(row.mode, row.factor); row.when && w != nil {
			list = append(list, w)
		}
	}
	return list
}
