package normalization

import "github.com/gaprof/gaprof/internal/bounded"

// Counts is one optimizer step as its token counts: the valid tokens of every micro-batch
// of every rank. The zero value is a step without ranks.
type Counts struct {
	Tokens [][]int64 // by rank and micro-batch; ranks may have fewer micro-batches than others

	// Accumulation is how many micro-batches a window of the run has; 0: as many as this
	// step. A step with fewer is a partial window.
	Accumulation int

	// Preshift counts the labels before they are shifted, in the shape of Tokens; nil
	// unknown.
	Preshift [][]int64
}

// Ranks is the number of ranks.
func (c *Counts) Ranks() int { return len(c.Tokens) }

// Micro is the number of micro-batches of this step: the most that a rank has.
func (c *Counts) Micro() int {
	most := 0
	for _, row := range c.Tokens {
		most = max(most, len(row))
	}
	return most
}

// Window is the number of micro-batches of a full window.
func (c *Counts) Window() int {
	if c.Accumulation > 0 {
		return c.Accumulation
	}
	return c.Micro()
}

// Partial reports whether the step has fewer micro-batches than a window.
func (c *Counts) Partial() bool { return c.Micro() < c.Window() }

// Total is the number of tokens of the step, N.
func (c *Counts) Total() int64 { return total(c.Tokens) }

func total(table [][]int64) int64 {
	n := int64(0)
	for _, row := range table {
		n = bounded.Add(n, sum(row))
	}
	return n
}

func sum(row []int64) int64 {
	n := int64(0)
	for _, tokens := range row {
		n = bounded.Add(n, tokens)
	}
	return n
}
