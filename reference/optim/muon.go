package optim

import (
	"math"

	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/reference/ops"
)

// distAdam updates a parameter, or a shard of one, by Adam as it is written out in
// modded-nanogpt's DistAdam: nine operations, moments in the precision of the parameter, and the
// correction of the second moment applied to epsilon, too.
func (o *Optimizer) distAdam(s *state, t Target) {
	s.updates++
	h, n := o.hyper, float64(s.updates)
	o.decay(t.Value)
	o.rank.Run(ops.ScaleBy{X: s.mean, Value: h.Beta1})
	o.rank.Run(ops.AddScaled{Y: s.mean, X: t.Grad, Alpha: 1 - h.Beta1})
	o.rank.Run(ops.ScaleBy{X: s.square, Value: h.Beta2})
	o.rank.Run(ops.AddProduct{Y: s.square, A: t.Grad, B: t.Grad, Value: 1 - h.Beta2})
	below, update := o.like(t.Value), o.like(t.Value)
	o.rank.Run(ops.Roots{Y: below, X: s.square})
	o.rank.Run(ops.Raise{X: below, Value: h.Epsilon})
	o.rank.Run(ops.Quotient{Y: update, A: s.mean, B: below})
	size := h.LearningRate * math.Sqrt(1-math.Pow(h.Beta2, n)) / (1 - math.Pow(h.Beta1, n))
	o.rank.Run(ops.ScaleBy{X: update, Value: size})
	o.rank.Run(ops.AddScaled{Y: t.Value, X: update, Alpha: -1})
	o.rank.Free(below)
	o.rank.Free(update)
}

// decay is decoupled weight decay.
func (o *Optimizer) decay(value *device.Buffer) {
	if by := o.hyper.LearningRate * o.hyper.WeightDecay; by != 0 {
		o.rank.Run(ops.ScaleBy{X: value, Value: 1 - by})
	}
}

func (o *Optimizer) like(b *device.Buffer) *device.Buffer { return o.rank.Malloc(b.DType, b.Shape...) }

// The iteration of Muon, as torch.optim.Muon has it by default.
const (
	muonSteps           = 5
	muonA, muonB, muonC = 3.4445, -4.7750, 2.0315
	muonLeastNorm       = 1e-7
)

// muon updates a matrix, or its rows of one that is sharded, as torch.optim.Muon does: by its
// momentum with all singular values brought near one. Shards of the momentum are gathered before,
// and each rank then does the same.
func (o *Optimizer) muon(s *state, t Target) {
	h := o.hyper
	o.rank.Run(ops.Lerp{Y: s.mean, A: s.mean, B: t.Grad, Weight: 1 - h.Momentum})
	update := o.like(t.Grad)
	o.rank.Run(ops.Lerp{Y: update, A: t.Grad, B: s.mean, Weight: h.Momentum})
	whole := o.gathered(update, t)
	x := o.orthogonal(whole)
	if whole != update {
		o.rank.Free(whole)
	}
	o.rank.Free(update)
	rows, cols := float64(t.Whole[0]), float64(t.Whole[1])
	o.decay(t.Value)
	mine := x
	if t.Shards != nil {
		mine = x.View(t.Shards.Rank()*t.Value.N, t.Value.Shape...)
	}
	rate := h.LearningRate * math.Sqrt(max(1, rows/cols)) // tall ones move more
	o.rank.Run(ops.AddScaled{Y: t.Value, X: mine, Alpha: -rate})
	o.rank.Free(x)
}

// gathered returns the rows of all ranks, if t is a shard.
func (o *Optimizer) gathered(rows *device.Buffer, t Target) *device.Buffer {
	if t.Shards == nil || t.Shards.Size() == 1 {
		return rows
	}
	whole := o.rank.Malloc(rows.DType, rows.Shape[0]*t.Shards.Size(), rows.Shape[1])
	o.rank.Collective(func() { t.Shards.AllGather(o.rank.Comms, rows, whole) })
	return whole
}

// orthogonal returns a new matrix with the singular vectors of g and singular values near one,
// by Newton's and Schulz's iteration on the shorter side.
func (o *Optimizer) orthogonal(g *device.Buffer) *device.Buffer {
	x := o.like(g)
	o.rank.Run(ops.Cast{Y: x, X: g})
	norm := o.rank.Scalar()
	o.rank.Run(ops.VectorNorm{Norm: norm, X: x})
	o.rank.Run(ops.AtLeast{X: norm, Least: muonLeastNorm})
	o.rank.Run(ops.Quotient{Y: x, A: x, B: norm})
	o.rank.Free(norm)
	m, n := g.Shape[0], g.Shape[1]
	tall, side := m > n, min(m, n)
	gram, change := o.rank.Malloc(g.DType, side, side), o.rank.Malloc(g.DType, side, side)
	for range muonSteps {
		square := ops.MatMul{Y: gram, A: x, B: x, M: side, N: side, K: max(m, n), Alpha: 1, TransA: tall, TransB: !tall}
		o.rank.Run(square)
		o.rank.Run(ops.MatMul{Y: change, A: gram, B: gram, C: gram, M: side, N: side, K: side,
			Alpha: muonC, Beta: muonB})
		next := ops.MatMul{Y: o.like(g), A: change, B: x, C: x, M: m, N: n, K: side, Alpha: 1, Beta: muonA,
			Flipped: tall}
		if tall {
			next.A, next.B = x, change
		}
		o.rank.Run(next)
		o.rank.Free(x)
		x = next.Y
	}
	o.rank.Free(gram)
	o.rank.Free(change)
	return x
}
