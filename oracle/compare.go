package oracle

import (
	"fmt"
	"math"
)

// Outcome is what a run of one loop gave, whoever ran it.
type Outcome struct {
	Steps     []Step       // in order
	Gradients [][][]Tensor // by step, rank and parameter: what every rank holds before clipping
	Weights   [][]Tensor   // by rank and parameter, after the last step
}

// Step is one optimizer step of an outcome.
type Step struct {
	Loss   float64 // the mean over all valid targets, before the update
	Logged float64 // what the loop logs as its loss, on rank 0
	Ranks  []Rank  // by rank
}

// Rank is what one rank knows of a step when it is over.
type Rank struct {
	LossSums []float64 // by micro-batch: over valid targets
	Tokens   []int64   // by micro-batch, as the loop counts them
	GradNorm float64   // before clipping; 0 where the loop does not clip
	ClipCoef float64   // that clipping multiplied gradients by; 0 where the loop does not clip
}

// Tensor is the values of one parameter or of its gradient, row-major.
type Tensor struct {
	Name   string    // of the parameter
	Values []float64 // as many as Param.Numel
}

// Check is the worst that was found in the outcome of one loop.
type Check struct {
	What  string  // the loop
	Off   float64 // the relative error; +Inf where something is missing or not a number
	Where string  // what is off by that much; "" where nothing was compared
}

// Within reports whether nothing is off by more than a tolerance.
func (c *Check) Within(tolerance float64) bool { return c.Off <= tolerance }

// note keeps the worst.
func (c *Check) note(where string, off float64) {
	if math.IsNaN(off) {
		off = math.Inf(1)
	}
	if off > c.Off || c.Where == "" {
		c.Off, c.Where = off, where
	}
}

// number notes the relative error of one number.
func (c *Check) number(where string, got, want float64) {
	if got == want {
		c.note(where, 0)
		return
	}
	c.note(where, math.Abs(got-want)/math.Abs(want))
}

// tensors notes the error of every tensor: max|got-want| / max|want|. One that is missing
// is infinitely off.
func (c *Check) tensors(prefix string, got []Tensor, want map[string]Floats) {
	if len(got) != len(want) {
		c.note(fmt.Sprintf("%s%d tensors of %d", prefix, len(got), len(want)), math.Inf(1))
	}
	for _, g := range got {
		w := want[g.Name]
		if len(w) != len(g.Values) {
			c.note(prefix+g.Name+" has another size", math.Inf(1))
			continue
		}
		diff, size := 0.0, 0.0
		for i, v := range g.Values {
			d := math.Abs(v - w[i])
			if math.IsNaN(d) {
				d = math.Inf(1)
			}
			diff, size = max(diff, d), max(size, math.Abs(w[i]))
		}
		if size > 0 {
			diff /= size
		}
		c.note(prefix+g.Name, diff)
	}
}

// norm is the length of all tensors together.
func norm(list []Tensor) float64 {
	square := 0.0
	for _, t := range list {
		for _, v := range t.Values {
			square += v * v
		}
	}
	return math.Sqrt(square)
}
