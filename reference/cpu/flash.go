package cpu

import (
	"math"

	"github.com/gaprof/gaprof/reference/cpu/gemm"
	"github.com/gaprof/gaprof/reference/cpu/simd"
	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/reference/ops"
)

// flashRows is how many rows of scores there are at a time.
const flashRows = 64

// flash is a head of queries of a sequence, with the keys and values that it uses.
type flash[T gemm.Float] struct {
	ops.Heads
	stride   int // as the operations have it
	b, q, kv int // the sequence, the head of queries, of keys
	root     T   // 1/sqrt(Size)
}

// flashHeads calls f for every head of every sequence.
func flashHeads[T gemm.Float](h ops.Heads, stride int, f func(f flash[T])) {
	root := T(1 / math.Sqrt(float64(h.Size)))
	for b := range h.B {
		for q := range h.Q {
			f(flash[T]{h, stride, b, q, q / (h.Q / h.KV), root})
		}
	}
}

// queries returns the head's columns of Q, or of a buffer like it, from row i on.
func (f flash[T]) queries(x *device.Buffer, stride, i int) gemm.Matrix[T] {
	return f.columns(x, stride, f.Heads.Q, f.q, i)
}

// keys returns the head's columns of K or V, or of a buffer like it.
func (f flash[T]) keys(x *device.Buffer, stride int) gemm.Matrix[T] {
	return f.columns(x, stride, f.KV, f.kv, 0)
}

func (f flash[T]) columns(x *device.Buffer, stride, heads, head, i int) gemm.Matrix[T] {
	if stride == 0 {
		stride = heads * f.Size
	}
	all := x.Block.Mem.([]T)[x.Off:] // beyond N if rows have a stride
	return gemm.Matrix[T]{Data: all[(f.b*f.T+i)*stride+head*f.Size:], Stride: stride}
}

// lse returns the head's part of a B x Heads x T buffer.
func (f flash[T]) lse(x *device.Buffer) []T { return data[T](x)[(f.b*f.Heads.Q+f.q)*f.T:][:f.T] }

// blocks calls f for stretches of rows: the first, and how many.
func (f flash[T]) blocks(do func(i, n int)) {
	for i := 0; i < f.T; i += flashRows {
		do(i, min(flashRows, f.T-i))
	}
}

func flashAttention[T gemm.Float](o ops.FlashAttention) {
	scores := make([]T, flashRows*o.Heads.T)
	flashHeads(o.Heads, o.Stride, func(f flash[T]) {
		lse := f.lse(o.LSE)
		f.blocks(func(i, n int) {
			seen := i + n // columns that the last of the rows has
			s := gemm.Matrix[T]{Data: scores, Stride: seen}
			gemm.Product[T]{C: s, A: f.queries(o.Q, o.Stride, i), B: transposed(f.keys(o.K, o.Stride)),
				M: n, N: seen, K: f.Size, Alpha: f.root}.Run()
			for j := range n {
				row, n := s.Data[j*seen:][:seen], i+j+1
				for k := n; k < whole16(n, seen); k++ {
					row[k] = T(math.Inf(-1))
				}
				lse[i+j] = T(logSumExpOf(row[:whole16(n, seen)]))
				likelihoods(row, n, lse[i+j])
			}
			gemm.Product[T]{C: f.queries(o.O, 0, i), A: s, B: f.keys(o.V, o.Stride),
				M: n, N: f.Size, K: seen, Alpha: 1}.Run()
		})
	})
}

// logSumExpOf returns the logarithm of the sum of exponentials.
func logSumExpOf[T gemm.Float](row []T) float64 {
	if row, ok := any(row).([]float32); ok {
		return logSumExpSingle(row)
	}
	return logSumExp(row)
}

// likelihoods replaces the first n elements of a row by e^(x-lse), and the others by zero.
func likelihoods[T gemm.Float](row []T, n int, lse T) {
	defer clear(row[n:])
	if row, ok := any(row).([]float32); ok {
		end := whole16(n, len(row))
		simd.Exp(row[:end], row[:end], float32(lse), 1)
		return
	}
	for j, v := range row[:n] {
		row[j] = T(math.Exp(float64(v) - float64(lse)))
	}
}

// flashSpace is what the backward pass of a head needs of memory.
type flashSpace[T gemm.Float] struct {
	p, dp []T // probabilities and their gradients, rows of a block
	sum   []T // what a block adds to gradients of keys or values
}

// flashAttentionBackward adds up gradients of keys and values over blocks of rows, and over
// the heads that share them, in their order.
func flashAttentionBackward[T gemm.Float](o ops.FlashAttentionBackward) {
	clear(data[T](o.DK))
	clear(data[T](o.DV))
	size := flashRows * o.Heads.T
	space := flashSpace[T]{p: make([]T, size), dp: make([]T, size), sum: make([]T, o.Heads.T*o.Heads.Size)}
	flashHeads(o.Heads, o.Stride, func(f flash[T]) {
		f.blocks(func(i, n int) { f.backward(o, space, i, n) })
	})
}

// backward: with probabilities P and D = sum over columns of dO*O, dV += P^T dO,
// dS = P * (dO V^T - D), dQ = dS K and dK += dS^T Q, both scaled as the scores.
func (f flash[T]) backward(o ops.FlashAttentionBackward, space flashSpace[T], i, n int) {
	seen := i + n
	p, dp := gemm.Matrix[T]{Data: space.p, Stride: seen}, gemm.Matrix[T]{Data: space.dp, Stride: seen}
	q, k, v := f.queries(o.Q, o.Stride, i), f.keys(o.K, o.Stride), f.keys(o.V, o.Stride)
	do := f.queries(o.DO, 0, i)
	gemm.Product[T]{C: p, A: q, B: transposed(k), M: n, N: seen, K: f.Size, Alpha: f.root}.Run()
	gemm.Product[T]{C: dp, A: do, B: transposed(v), M: n, N: seen, K: f.Size, Alpha: 1}.Run()
	out, lse := f.queries(o.O, 0, i), f.lse(o.LSE)
	for j := range n {
		row := p.Data[j*seen:][:seen]
		likelihoods(row, i+j+1, lse[i+j])
		dot := dotOf(do.Data[j*do.Stride:][:f.Size], out.Data[j*out.Stride:][:f.Size])
		scoresBackward(dp.Data[j*seen:][:seen], row, dot)
	}
	f.collect(f.keys(o.DV, 0), p, do, space.sum, n, seen, 1)
	f.collect(f.keys(o.DK, 0), dp, q, space.sum, n, seen, f.root)
	gemm.Product[T]{C: f.queries(o.DQ, 0, i), A: dp, B: k, M: n, N: f.Size, K: seen, Alpha: f.root}.Run()
}

// collect adds alpha a^T b to the first rows of a gradient of keys or values.
func (f flash[T]) collect(to, a, b gemm.Matrix[T], sum []T, n, seen int, alpha T) {
	gemm.Product[T]{C: gemm.Matrix[T]{Data: sum, Stride: f.Size}, A: transposed(a), B: b,
		M: seen, N: f.Size, K: n, Alpha: alpha}.Run()
	for j := range seen {
		row := to.Data[j*to.Stride:][:f.Size]
		plus(row, row, sum[j*f.Size:])
	}
}

func dotOf[T gemm.Float](a, b []T) T {
	if a, ok := any(a).([]float32); ok {
		return T(simd.Dot(a, any(b).([]float32)))
	}
	sum := 0.0
	for i, v := range a {
		sum += float64(float64(v) * float64(b[i]))
	}
	return T(sum)
}

// scoresBackward turns gradients d of probabilities p into those of scores, p * (d - dot).
func scoresBackward[T gemm.Float](d, p []T, dot T) {
	if d, ok := any(d).([]float32); ok {
		simd.SoftmaxBackward(d, any(p).([]float32), float32(dot))
		return
	}
	for j, v := range p {
		d[j] = v * (d[j] - dot)
	}
}
