package cpu

import (
	"math"

	"github.com/gaprof/gaprof/reference/cpu/gemm"
	"github.com/gaprof/gaprof/reference/cpu/simd"
)

// plus sets y to a + b; y may be one of them.
func plus[T gemm.Float](y, a, b []T) {
	if y, ok := any(y).([]float32); ok {
		simd.Add(y, any(a).([]float32), any(b).([]float32))
		return
	}
	for i, v := range a[:len(y)] {
		y[i] = v + b[i]
	}
}

// times sets y to x * f; y may be x.
func times[T gemm.Float](y, x []T, f T) {
	if y, ok := any(y).([]float32); ok {
		simd.Scale(y, any(x).([]float32), float32(f))
		return
	}
	for i, v := range x[:len(y)] {
		y[i] = v * f
	}
}

// squared returns the sum of the squares of x.
func squared[T gemm.Float](x []T) float64 {
	if x, ok := any(x).([]float32); ok {
		return simd.Squares(x, 0)
	}
	sum := 0.0
	for _, v := range x {
		sum += float64(v) * float64(v)
	}
	return sum
}

// softmax replaces the first n elements of a row by their softmax, and the others by zero.
func softmax[T gemm.Float](row []T, n int) {
	if row, ok := any(row).([]float32); ok {
		softmaxSingle(row, n)
		return
	}
	most := row[0]
	for _, v := range row[:n] {
		most = max(most, v)
	}
	sum := 0.0
	for j, v := range row[:n] {
		e := math.Exp(float64(v - most))
		row[j] = T(e)
		sum += e
	}
	for j := range row[:n] {
		row[j] = T(float64(row[j]) / sum)
	}
	clear(row[n:])
}

// turn is how many elements the loops of simd take at a time. They are quickest if none
// are left over.
const turn = 16

func whole16(n, most int) int { return min((n+turn-1)/turn*turn, most) }

func softmaxSingle(row []float32, n int) {
	end := whole16(n, len(row))
	for i := n; i < end; i++ {
		row[i] = float32(math.Inf(-1))
	}
	sum := simd.Exp(row[:end], row[:end], simd.Max(row[:end]), 1)
	simd.Scale(row[:end], row[:end], float32(1/sum))
	clear(row[n:])
}

// softmaxBackward turns gradients d of n probabilities p into gradients of their logits,
// p * (d - sum of p*d), and sets what follows them in their row to zero. So it is in that
// of p.
func softmaxBackward[T gemm.Float](d, p []T, n int) {
	clear(d[n:])
	if d, ok := any(d).([]float32); ok {
		p, end := any(p).([]float32), whole16(n, len(d))
		simd.SoftmaxBackward(d[:end], p[:end], float32(simd.Dot(d[:end], p[:end])))
		return
	}
	dot := 0.0
	for j, v := range p[:n] {
		dot += float64(d[j]) * float64(v)
	}
	for j, v := range p[:n] {
		d[j] = T(float64(v) * (float64(d[j]) - dot))
	}
}
