package normalization

import (
	"math"

	"github.com/gaprof/gaprof/trace/sidecar"
)

// predictor adds up, tensor by tensor, how far gradients are from those that each mode
// predicts from the gradients of micro-batches.
type predictor struct {
	modes []Mode        // that the counts allow, the simplest first
	table [][][]float64 // their Coefficients
	oo    float64       // |observed|^2
	op    []float64     // <observed, predicted> by mode
	pp    []float64     // |predicted|^2 by mode

	buffer []float64 // of one predicted tensor, used again
}

// newPredictor makes a predictor of all modes that the counts allow.
func newPredictor(c *Counts) *predictor {
	p := &predictor{}
	for _, m := range distinct {
		if table := c.Coefficients(m); table != nil {
			p.modes, p.table = append(p.modes, m), append(p.table, table)
		}
	}
	p.op, p.pp = make([]float64, len(p.modes)), make([]float64, len(p.modes))
	return p
}

// add takes in one tensor: observed, and the gradients of all micro-batches, by rank and
// micro-batch.
func (p *predictor) add(observed []float64, micro [][][]float64) {
	for _, x := range observed {
		p.oo += x * x
	}
	for m := range p.modes {
		p.buffer = predict(p.buffer, p.table[m], micro, len(observed))
		for i, x := range observed {
			p.op[m] += x * p.buffer[i]
			p.pp[m] += p.buffer[i] * p.buffer[i]
		}
	}
}

// predict is the sum of coefficients times gradients, n elements in into, which grows as
// needed.
func predict(into []float64, table [][]float64, micro [][][]float64, n int) []float64 {
	if cap(into) < n {
		into = make([]float64, n)
	}
	into = into[:n]
	clear(into)
	for r, row := range table {
		for j, c := range row {
			if c == 0 {
				continue
			}
			for i, x := range micro[r][j] {
				into[i] += c * x
			}
		}
	}
	return into
}

// cause is the first mode that predicts the direction, with the factor that is left.
func (p *predictor) cause(c *Counts, dtype sidecar.Dtype) *Cause {
	tolerance := tolerances[dtype]
	for m, mode := range p.modes {
		sine := 1 - p.op[m]*p.op[m]/(p.oo*p.pp[m])
		if p.op[m] <= 0 || math.IsNaN(sine) || sine > tolerance*tolerance {
			continue
		}
		return named(mode, c.Factors(), p.op[m]/p.pp[m], tolerance, Exact)
	}
	return &Cause{Mode: Unknown, Also: []string{}, Confidence: NoIdea,
		Text: "no known mistake predicts these gradients from those of the micro-batches"}
}
