package normalization

import (
	"errors"
	"fmt"
	"math"

	"github.com/gaprof/gaprof/trace/sidecar"
)

// The AdamW whose first update Deviation speaks of. Its direction is
// m/(1-b1) / (sqrt(v)/sqrt(1-b2) + eps) with m = (1-b1) g and v = (1-b2) g^2.
const (
	adamBeta1 = 0.9
	adamBeta2 = 0.95
	adamEps   = 1e-8
)

// firstUpdate is the direction of the first step of AdamW, without learning rate and
// weight decay.
func firstUpdate(g float64) float64 {
	m, v := (1-adamBeta1)*g, (1-adamBeta2)*g*g
	return m / (1 - adamBeta1) / (math.Sqrt(v)/math.Sqrt(1-adamBeta2) + adamEps)
}

// Deviation is how gradients a differ from reference gradients b. What cannot be said,
// because a side is zero or not finite, is nil.
type Deviation struct {
	NormRatio *float64          `json:"norm_ratio"`                // |a| / |b|
	Cosine    *float64          `json:"cosine"`                    // <a, b> / (|a| |b|), -1..1
	MaxRel    *float64          `json:"max_rel"`                   // max |a-b| / max |b|
	RelL2     *float64          `json:"rel_l2"`                    // |a-b| / |b|
	AdamW     *float64          `json:"adamw_first_update_rel_l2"` // |u(a)-u(b)| / |u(b)|, u the first update of AdamW
	Norm      *float64          `json:"norm"`                      // |a|
	Reference *float64          `json:"reference_norm"`            // |b|
	NotFinite int64             `json:"not_finite"`                // elements of either side that are NaN or infinite
	Tensors   []TensorDeviation `json:"tensors"`                   // in the order of the file
}

// TensorDeviation is the same of one tensor, its fields those of Deviation.
type TensorDeviation struct {
	Name      string   `json:"name"`
	NormRatio *float64 `json:"norm_ratio"`
	Cosine    *float64 `json:"cosine"`
	MaxRel    *float64 `json:"max_rel"`
	RelL2     *float64 `json:"rel_l2"`
}

// sums are what is added up over elements.
type sums struct {
	aa, bb, ab, dd     float64
	maxDiff, maxB      float64
	updateDD, updateBB float64
	notFinite          int64
}

// add adds one tensor. Numbers that are not finite are counted and left out.
func (s *sums) add(a, b []float64) {
	for i, x := range a {
		y := b[i]
		if d := x - y; math.IsNaN(d) || math.IsInf(d, 0) {
			s.notFinite++
			continue
		}
		d := x - y
		s.aa += x * x
		s.bb += y * y
		s.ab += x * y
		s.dd += d * d
		s.maxDiff = max(s.maxDiff, math.Abs(d))
		s.maxB = max(s.maxB, math.Abs(y))
		u, v := firstUpdate(x), firstUpdate(y)
		s.updateDD += (u - v) * (u - v)
		s.updateBB += v * v
	}
}

func (s *sums) merge(t *sums) {
	s.aa += t.aa
	s.bb += t.bb
	s.ab += t.ab
	s.dd += t.dd
	s.maxDiff, s.maxB = max(s.maxDiff, t.maxDiff), max(s.maxB, t.maxB)
	s.updateDD += t.updateDD
	s.updateBB += t.updateBB
	s.notFinite += t.notFinite
}

// quotient is a/b, nil where that says nothing. Two zeros are equal: 0 for an error.
func (s *sums) quotient(a, b float64, isError bool) *float64 {
	v := a / b
	switch {
	case s.notFinite > 0:
		return nil
	case a == 0 && b == 0 && isError:
		v = 0
	case math.IsNaN(v) || math.IsInf(v, 0):
		return nil
	}
	return &v
}

func (s *sums) ratio() *float64  { return s.quotient(math.Sqrt(s.aa), math.Sqrt(s.bb), false) }
func (s *sums) relL2() *float64  { return s.quotient(math.Sqrt(s.dd), math.Sqrt(s.bb), true) }
func (s *sums) maxRel() *float64 { return s.quotient(s.maxDiff, s.maxB, true) }
func (s *sums) cosine() *float64 {
	v := s.quotient(s.ab, math.Sqrt(s.aa)*math.Sqrt(s.bb), false)
	if v != nil {
		*v = max(-1, min(1, *v))
	}
	return v
}

// Comparison adds tensors up one by one, so that no more than one of each side need be
// in memory.
type Comparison struct {
	all     sums
	tensors []TensorDeviation
}

// Add takes in one tensor of both sides.
func (c *Comparison) Add(name string, a, b []float64) error {
	if len(a) != len(b) {
		return fmt.Errorf("%s has %d elements here and %d in the reference", name, len(a), len(b))
	}
	var s sums
	s.add(a, b)
	c.take(name, &s)
	return nil
}

// take takes in what the elements of one tensor add up to.
func (c *Comparison) take(name string, s *sums) {
	c.all.merge(s)
	c.tensors = append(c.tensors, TensorDeviation{name, s.ratio(), s.cosine(), s.maxRel(), s.relL2()})
}

// Deviation is what the tensors so far say.
func (c *Comparison) Deviation() *Deviation {
	s := &c.all
	norm, reference := math.Sqrt(s.aa), math.Sqrt(s.bb)
	d := &Deviation{NormRatio: s.ratio(), Cosine: s.cosine(), MaxRel: s.maxRel(), RelL2: s.relL2(),
		AdamW:     s.quotient(math.Sqrt(s.updateDD), math.Sqrt(s.updateBB), true),
		NotFinite: s.notFinite, Tensors: c.tensors}
	if s.notFinite == 0 {
		d.Norm, d.Reference = &norm, &reference
	}
	return d
}

// Precision is the least precise of the types of two gradients.
func Precision(a, b sidecar.Dtype) sidecar.Dtype {
	for _, least := range []sidecar.Dtype{sidecar.BF16, sidecar.F16, sidecar.F32} {
		if a == least || b == least {
			return least
		}
	}
	return sidecar.F64
}

// tolerances bound what rounding alone does to a direction, or to a factor, relative. A
// direction is known to the square root of the precision of a sum, 1e-8.
var tolerances = map[sidecar.Dtype]float64{
	sidecar.F64: 1e-6, sidecar.F32: 1e-4, sidecar.F16: 5e-3, sidecar.BF16: 3e-2,
}

// ErrNoGradients says that there is nothing to compare.
var ErrNoGradients = errors.New("no gradients to compare")
