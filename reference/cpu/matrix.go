package cpu

import (
	"math"

	"github.com/gaprof/gaprof/reference/cpu/gemm"
	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/reference/ops"
)

// whole returns a buffer as a matrix with n columns.
func whole[T gemm.Float](b *device.Buffer, n int) gemm.Matrix[T] {
	return gemm.Matrix[T]{Data: data[T](b), Stride: n}
}

func transposed[T gemm.Float](m gemm.Matrix[T]) gemm.Matrix[T] {
	m.Transposed = true
	return m
}

func linear[T gemm.Float](o ops.Linear) {
	beta := T(0)
	if o.B != nil {
		y, b := data[T](o.Y), data[T](o.B)
		for i := range o.M {
			copy(y[i*o.N:], b)
		}
		beta = 1
	}
	gemm.Mul(whole[T](o.Y, o.N), whole[T](o.X, o.K), transposed(whole[T](o.W, o.K)), o.M, o.N, o.K, 1, beta)
}

func linearInput[T gemm.Float](o ops.LinearInput) {
	gemm.Mul(whole[T](o.DX, o.K), whole[T](o.DY, o.N), whole[T](o.W, o.K), o.M, o.K, o.N, 1, 0)
}

func linearWeight[T gemm.Float](o ops.LinearWeight) {
	gemm.Mul(whole[T](o.DW, o.K), transposed(whole[T](o.DY, o.N)), whole[T](o.X, o.K), o.N, o.K, o.M, 1, 0)
}

func linearBias[T gemm.Float](o ops.LinearBias) {
	db, dy := data[T](o.DB), data[T](o.DY)
	clear(db)
	for i := range o.M {
		for j, v := range dy[i*o.N : (i+1)*o.N] {
			db[j] += v
		}
	}
}

// head returns the part of a B*T x D buffer that belongs to one head of one sequence.
func head[T gemm.Float](x *device.Buffer, b, h, t, d, heads int) gemm.Matrix[T] {
	return gemm.Matrix[T]{Data: data[T](x)[b*t*d+h*(d/heads):], Stride: d}
}

func attention[T gemm.Float](o ops.Attention) {
	size := o.D / o.Heads
	root := T(1 / math.Sqrt(float64(size)))
	for b := range o.B {
		for h := range o.Heads {
			part := func(x *device.Buffer) gemm.Matrix[T] { return head[T](x, b, h, o.T, o.D, o.Heads) }
			p := gemm.Matrix[T]{Data: data[T](o.P)[(b*o.Heads+h)*o.T*o.T:][:o.T*o.T], Stride: o.T}
			gemm.Mul(p, part(o.Q), transposed(part(o.K)), o.T, o.T, size, root, 0)
			causalSoftmax(p.Data, o.T)
			gemm.Mul(part(o.O), p, part(o.V), o.T, size, o.T, 1, 0)
		}
	}
}

// causalSoftmax replaces every row i of an n x n matrix by its softmax over columns 0 to i,
// and by zeros in other columns.
func causalSoftmax[T gemm.Float](p []T, n int) {
	for i := range n {
		row := p[i*n : (i+1)*n]
		most := row[0]
		for _, v := range row[:i+1] {
			most = max(most, v)
		}
		sum := 0.0
		for j, v := range row[:i+1] {
			e := math.Exp(float64(v - most))
			row[j] = T(e)
			sum += e
		}
		for j := range row[:i+1] {
			row[j] = T(float64(row[j]) / sum)
		}
		clear(row[i+1:])
	}
}

func attentionBackward[T gemm.Float](o ops.AttentionBackward) {
	size := o.D / o.Heads
	root := T(1 / math.Sqrt(float64(size)))
	work := whole[T](o.Work, o.T)
	for b := range o.B {
		for h := range o.Heads {
			part := func(x *device.Buffer) gemm.Matrix[T] { return head[T](x, b, h, o.T, o.D, o.Heads) }
			p := gemm.Matrix[T]{Data: data[T](o.P)[(b*o.Heads+h)*o.T*o.T:][:o.T*o.T], Stride: o.T}
			gemm.Mul(part(o.DV), transposed(p), part(o.DO), o.T, size, o.T, 1, 0)
			gemm.Mul(work, part(o.DO), transposed(part(o.V)), o.T, o.T, size, 1, 0)
			softmaxBackward(work.Data, p.Data, o.T)
			gemm.Mul(part(o.DQ), work, part(o.K), o.T, size, o.T, root, 0)
			gemm.Mul(part(o.DK), transposed(work), part(o.Q), o.T, size, o.T, root, 0)
		}
	}
}

// softmaxBackward turns gradients of probabilities into gradients of their logits:
// d = p * (d - sum of p*d).
func softmaxBackward[T gemm.Float](d, p []T, n int) {
	for i := range n {
		row, prob := d[i*n:(i+1)*n], p[i*n:(i+1)*n]
		dot := 0.0
		for j := range i + 1 {
			dot += float64(row[j]) * float64(prob[j])
		}
		for j := range i + 1 {
			row[j] = T(float64(prob[j]) * (float64(row[j]) - dot))
		}
		clear(row[i+1:])
	}
}
