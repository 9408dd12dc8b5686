package cpu

import (
	"math"

	"github.com/gaprof/gaprof/reference/cpu/gemm"
	"github.com/gaprof/gaprof/reference/cpu/simd"
	"github.com/gaprof/gaprof/reference/ops"
)

func rmsNorm[T gemm.Float](o ops.RMSNorm) {
	y, x, w := data[T](o.Y), data[T](o.X), data[T](o.W)
	rstds := data[T](o.Rstd)
	for i := range rstds {
		row, out := x[i*o.D:(i+1)*o.D], y[i*o.D:(i+1)*o.D]
		rstd := 1 / math.Sqrt(squared(row)/float64(o.D)+o.Eps)
		rstds[i] = T(rstd)
		for j, v := range row {
			out[j] = T(float64(v)*rstd) * w[j]
		}
	}
}

// rmsNormSingle is a layer norm whose mean is zero.
func rmsNormSingle(o ops.RMSNorm) {
	y, x, w := data[float32](o.Y), data[float32](o.X), data[float32](o.W)
	rstds, zeros := data[float32](o.Rstd), make([]float32, o.D)
	for i := range rstds {
		row := x[i*o.D : (i+1)*o.D]
		rstds[i] = float32(1 / math.Sqrt(simd.Squares(row, 0)/float64(o.D)+o.Eps))
		simd.Norm{Rstd: rstds[i]}.Forward(y[i*o.D:(i+1)*o.D], row, w, zeros)
	}
}

// rmsNormBackward: with hat = x*rstd and g = dy*w, dx = rstd * (g - hat*mean(g*hat)).
func rmsNormBackward[T gemm.Float](o ops.RMSNormBackward) {
	dx, dw := data[T](o.DX), data[T](o.DW)
	dy, x, w := data[T](o.DY), data[T](o.X), data[T](o.W)
	clear(dw)
	for i, r := range data[T](o.Rstd) {
		row := func(of []T) []T { return of[i*o.D : (i+1)*o.D] }
		rmsNormRow(row(dx), dw, row(dy), row(x), w, float64(r))
	}
}

func rmsNormRow[T gemm.Float](dx, dw, dy, x, w []T, rstd float64) {
	dot := 0.0
	for j, v := range x {
		hat := float64(v) * rstd
		dot += float64(float64(dy[j])*float64(w[j])) * hat
		dw[j] += T(float64(dy[j]) * hat)
	}
	mean := dot / float64(len(x))
	for j, v := range x {
		dx[j] = T(rstd * (float64(float64(dy[j])*float64(w[j])) - float64(float64(v)*rstd*mean)))
	}
}

func rmsNormBackwardSingle(o ops.RMSNormBackward) {
	dx, dw := data[float32](o.DX), data[float32](o.DW)
	dy, x, w := data[float32](o.DY), data[float32](o.X), data[float32](o.W)
	clear(dw)
	unused := make([]float32, o.D)
	for i, rstd := range data[float32](o.Rstd) {
		row := func(of []float32) []float32 { return of[i*o.D : (i+1)*o.D] }
		r := simd.Norm{Rstd: rstd}
		_, dot := r.Sums(dw, unused, row(dy), row(x), w)
		r.Backward(row(dx), row(dy), row(x), w, 0, float32(dot/float64(o.D)))
	}
}

func rope[T gemm.Float](o ops.RoPE) {
	y, x, table := data[T](o.Y), data[T](o.X), data[T](o.Table)
	sign := T(1)
	if o.Conjugate {
		sign = -1
	}
	width := o.Heads * o.Size
	for from := 0; from < len(x); from += o.Size {
		position := from / width % o.T
		turn := table[position*o.Size:][:o.Size]
		head, out := x[from:][:o.Size], y[from:][:o.Size]
		for i := 0; i < o.Size; i += 2 {
			c, s := turn[i], sign*turn[i+1]
			out[i] = T(head[i]*c) - T(head[i+1]*s)
			out[i+1] = T(head[i]*s) + T(head[i+1]*c)
		}
	}
}

// sigmoids calls f for stretches of x with the sigmoids of their elements.
func sigmoids[T gemm.Float](x []T, f func(from int, s []T)) {
	var scratch [512]T
	for from := 0; from < len(x); from += len(scratch) {
		part := x[from:min(from+len(scratch), len(x))]
		s := scratch[:len(part)]
		sigmoid(s, part)
		f(from, s)
	}
}

// sigmoid sets s to 1/(1 + e^-x).
func sigmoid[T gemm.Float](s, x []T) {
	if s, ok := any(s).([]float32); ok {
		simd.Scale(s, any(x).([]float32), -1)
		simd.Exp(s, s, 0, 1)
		for i, e := range s {
			s[i] = 1 / (1 + e)
		}
		return
	}
	for i, v := range x {
		s[i] = T(1 / (1 + math.Exp(-float64(v))))
	}
}

func silu[T gemm.Float](o ops.Silu) {
	y, x := data[T](o.Y), data[T](o.X)
	sigmoids(x, func(from int, s []T) {
		for i, v := range s {
			y[from+i] = x[from+i] * v
		}
	})
}

func siluBackward[T gemm.Float](o ops.SiluBackward) {
	dx, dy, x := data[T](o.DX), data[T](o.DY), data[T](o.X)
	sigmoids(x, func(from int, s []T) {
		for i, v := range s {
			dx[from+i] = dy[from+i] * siluSlope(x[from+i], v)
		}
	})
}

// siluSlope is silu'(x) = s (1 + x (1-s)).
func siluSlope[T gemm.Float](x, s T) T { return s * (1 + T(x*(1-s))) }

func product[T gemm.Float](o ops.Product) {
	y, a, b := data[T](o.Y), data[T](o.A), data[T](o.B)
	for i := range y {
		y[i] = a[i] * b[i]
	}
}

func swiGLU[T gemm.Float](o ops.SwiGLU) {
	y, gate, up := data[T](o.Y), data[T](o.Gate), data[T](o.Up)
	sigmoids(gate, func(from int, s []T) {
		for i, v := range s {
			y[from+i] = T(gate[from+i]*v) * up[from+i]
		}
	})
}

func swiGLUBackward[T gemm.Float](o ops.SwiGLUBackward) {
	dGate, dUp := data[T](o.DGate), data[T](o.DUp)
	dy, gate, up := data[T](o.DY), data[T](o.Gate), data[T](o.Up)
	sigmoids(gate, func(from int, s []T) {
		for i, v := range s {
			j := from + i
			dUp[j] = dy[j] * T(gate[j]*v)
			dGate[j] = T(dy[j]*up[j]) * siluSlope(gate[j], v)
		}
	})
}

func concat[T gemm.Float](o ops.Concat) {
	y, width := data[T](o.Y), o.D*len(o.X)
	for part, b := range o.X {
		x := data[T](b)
		for row := 0; row*o.D < len(x); row++ {
			copy(y[row*width+part*o.D:], x[row*o.D:(row+1)*o.D])
		}
	}
}
