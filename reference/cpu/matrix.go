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
	p := gemm.Product[T]{C: whole[T](o.Y, o.N), A: whole[T](o.X, o.K), B: transposed(whole[T](o.W, o.K)),
		M: o.M, N: o.N, K: o.K, Alpha: 1}
	if o.B != nil {
		p.Row = data[T](o.B)
	}
	p.Run()
}

func linearInput[T gemm.Float](o ops.LinearInput) {
	gemm.Product[T]{C: whole[T](o.DX, o.K), A: whole[T](o.DY, o.N), B: whole[T](o.W, o.K),
		M: o.M, N: o.K, K: o.N, Alpha: 1}.Run()
}

func linearWeight[T gemm.Float](o ops.LinearWeight) {
	gemm.Product[T]{C: whole[T](o.DW, o.K), A: transposed(whole[T](o.DY, o.N)), B: whole[T](o.X, o.K),
		M: o.N, N: o.K, K: o.M, Alpha: 1}.Run()
}

func linearBias[T gemm.Float](o ops.LinearBias) {
	db, dy := data[T](o.DB), data[T](o.DY)
	clear(db)
	for i := range o.M {
		plus(db, db, dy[i*o.N:(i+1)*o.N])
	}
}

// heads calls f for every head of every sequence. The parts of buffers that belong to it
// are T x size.
func heads[T gemm.Float](b, t, d, heads int, f func(h headOf[T])) {
	for i := range b {
		for j := range heads {
			f(headOf[T]{b: i, h: j, t: t, d: d, heads: heads, size: d / heads})
		}
	}
}

// headOf is a head of a sequence.
type headOf[T gemm.Float] struct{ b, h, t, d, heads, size int }

// of returns its columns of a B*T x D buffer.
func (h headOf[T]) of(x *device.Buffer) gemm.Matrix[T] {
	return gemm.Matrix[T]{Data: data[T](x)[h.b*h.t*h.d+h.h*h.size:], Stride: h.d}
}

// square returns its part of a B x Heads x T x T buffer.
func (h headOf[T]) square(x *device.Buffer) gemm.Matrix[T] {
	return gemm.Matrix[T]{Data: data[T](x)[(h.b*h.heads+h.h)*h.t*h.t:][:h.t*h.t], Stride: h.t}
}

// scores computes C = alpha A B^T as far as it is on or below the diagonal.
func (h headOf[T]) scores(c, a, b gemm.Matrix[T], alpha T) {
	gemm.Product[T]{C: c, A: a, B: transposed(b), M: h.t, N: h.t, K: h.size, Alpha: alpha, Part: gemm.LowerC}.Run()
}

// mix computes C = alpha P B, where P, or its transpose, is zero above the diagonal.
func (h headOf[T]) mix(c, p, b gemm.Matrix[T], alpha T) {
	part := gemm.LowerA
	if p.Transposed {
		part = gemm.UpperA
	}
	gemm.Product[T]{C: c, A: p, B: b, M: h.t, N: h.size, K: h.t, Alpha: alpha, Part: part}.Run()
}

func attention[T gemm.Float](o ops.Attention) {
	root := T(1 / math.Sqrt(float64(o.D/o.Heads)))
	heads(o.B, o.T, o.D, o.Heads, func(h headOf[T]) {
		p := h.square(o.P)
		h.scores(p, h.of(o.Q), h.of(o.K), root)
		for i := range o.T {
			softmax(p.Data[i*o.T:(i+1)*o.T], i+1)
		}
		h.mix(h.of(o.O), p, h.of(o.V), 1)
	})
}

func attentionBackward[T gemm.Float](o ops.AttentionBackward) {
	root := T(1 / math.Sqrt(float64(o.D/o.Heads)))
	work := whole[T](o.Work, o.T)
	heads(o.B, o.T, o.D, o.Heads, func(h headOf[T]) {
		p := h.square(o.P)
		h.mix(h.of(o.DV), transposed(p), h.of(o.DO), 1)
		h.scores(work, h.of(o.DO), h.of(o.V), 1)
		for i := range o.T {
			softmaxBackward(work.Data[i*o.T:(i+1)*o.T], p.Data[i*o.T:(i+1)*o.T], i+1)
		}
		h.mix(h.of(o.DQ), work, h.of(o.K), root)
		h.mix(h.of(o.DK), transposed(work), h.of(o.Q), root)
	})
}
