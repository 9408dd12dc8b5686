package cpu

import (
	"math"

	"github.com/gaprof/gaprof/reference/cpu/gemm"
	"github.com/gaprof/gaprof/reference/ops"
)

func scaleBy[T gemm.Float](o ops.ScaleBy) { scaled(data[T](o.X), T(o.Value)) }

func raise[T gemm.Float](o ops.Raise) {
	x := data[T](o.X)
	for i := range x {
		x[i] += T(o.Value)
	}
}

func atLeast[T gemm.Float](o ops.AtLeast) {
	x := data[T](o.X)
	for i, v := range x {
		x[i] = max(v, T(o.Least))
	}
}

func addScaled[T gemm.Float](o ops.AddScaled) {
	y, f := data[T](o.Y), T(o.Alpha)
	for i, v := range data[T](o.X) {
		y[i] += T(v * f)
	}
}

func addProduct[T gemm.Float](o ops.AddProduct) {
	y, b, f := data[T](o.Y), data[T](o.B), T(o.Value)
	for i, v := range data[T](o.A) {
		y[i] += T(f * v * b[i])
	}
}

func roots[T gemm.Float](o ops.Roots) {
	y := data[T](o.Y)
	for i, v := range data[T](o.X) {
		y[i] = T(math.Sqrt(float64(v)))
	}
}

func quotient[T gemm.Float](o ops.Quotient) {
	y, b := data[T](o.Y), data[T](o.B)
	last := len(b) - 1
	for i, v := range data[T](o.A) {
		y[i] = v / b[min(i, last)]
	}
}

func lerp[T gemm.Float](o ops.Lerp) {
	y, b, w := data[T](o.Y), data[T](o.B), T(o.Weight)
	for i, v := range data[T](o.A) {
		y[i] = v + T(w*(b[i]-v))
	}
}

func matMul[T gemm.Float](o ops.MatMul) {
	a, b := whole[T](o.A, o.K), whole[T](o.B, o.N)
	if o.TransA {
		a = transposed(whole[T](o.A, o.M))
	}
	if o.TransB {
		b = transposed(whole[T](o.B, o.K))
	}
	gemm.Product[T]{C: whole[T](o.Y, o.N), A: a, B: b, M: o.M, N: o.N, K: o.K, Alpha: T(o.Alpha)}.Run()
	if o.C != nil {
		addScaled[T](ops.AddScaled{Y: o.Y, X: o.C, Alpha: o.Beta})
	}
}
