package normalization

import "math"

// Weights is what one token of each micro-batch counts under a normalization, against
// 1/N: 1 is right.
type Weights struct {
	Mode   Mode         `json:"mode"`
	Factor string       `json:"factor"` // common to all tokens: 1, 1/R, N ...
	Ratio  [][]*float64 `json:"ratio"`  // by rank and micro-batch; null without tokens, which count nothing
	Min    *float64     `json:"min"`    // of Ratio; null without tokens
	Max    *float64     `json:"max"`    // likewise
	MinAt  *MicroBatch  `json:"min_at"` // the first micro-batch of that weight; null without tokens
	MaxAt  *MicroBatch  `json:"max_at"` // likewise
}

// MicroBatch is a micro-batch of a step.
type MicroBatch struct {
	Rank   int   `json:"rank"`        // a row of Counts.Tokens
	Index  int   `json:"micro_batch"` // a column of it
	Tokens int64 `json:"tokens"`      // that count, at least 1
}

// Tolerance is the deviation of a token's weight from which gradients are wrong.
const Tolerance = 1e-3

// Wrong reports whether a token's weight is off by more than Tolerance.
func (w *Weights) Wrong() bool {
	return w.Min != nil && (math.Abs(*w.Min-1) > Tolerance || math.Abs(*w.Max-1) > Tolerance)
}

// Ragged reports whether tokens count differently by more than Tolerance, whatever they
// all count.
func (w *Weights) Ragged() bool { return w.Min != nil && *w.Max-*w.Min > Tolerance*(*w.Max) }

// WeightsOf is what tokens count in a mode, all times a factor. It is nil where the mode
// needs counts that are not known, and without any tokens.
func (c *Counts) WeightsOf(m Mode, f Factor) *Weights {
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
			at := &MicroBatch{r, j, tokens}
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

// AllWeights is the table of every normalization that the counts allow to be told, the
// right one first.
func (c *Counts) AllWeights() []*Weights {
	var list []*Weights
	for _, row := range c.nameable() {
		if w := c.WeightsOf(row.mode, row.factor); row.when && w != nil {
			list = append(list, w)
		}
	}
	return list
}

// scaledMode is a mode with a factor, and whether the shape of a step lets it be told from
// those before it.
type scaledMode struct {
	mode   Mode
	factor Factor
	when   bool
}

func (c *Counts) nameable() []scaledMode {
	ranks, window := float64(c.Ranks()), float64(c.Window())
	return []scaledMode{
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
	}
}
