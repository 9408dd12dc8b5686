package cpu

import (
	"math"

	"github.com/gaprof/gaprof/reference/cpu/gemm"
	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/reference/ops"
)

func accumulate[T gemm.Float](o ops.Accumulate) {
	y := data[T](o.Y)
	plus(y, y, data[T](o.X))
}

func accumulateCounts(o ops.Accumulate) {
	y := data[int64](o.Y)
	for i, v := range data[int64](o.X) {
		y[i] += v
	}
}

func scaled[T gemm.Float](x []T, f T) { times(x, x, f) }

func scale[T gemm.Float](o ops.Scale) {
	scaled(data[T](o.X), first[T](o.Factor))
}

func foreachScale[T gemm.Float](o ops.ForeachScale) {
	for _, x := range o.X {
		scaled(data[T](x), first[T](o.Factor))
	}
}

func foreachScaleBy[T gemm.Float](o ops.ForeachScaleBy) {
	for _, x := range o.X {
		scaled(data[T](x), T(o.Value))
	}
}

func foreachNorm[T gemm.Float](o ops.ForeachNorm) {
	norms := data[T](o.Norms)
	for i, x := range o.X {
		norms[i] = T(math.Sqrt(squared(data[T](x))))
	}
}

func vectorNorm[T gemm.Float](o ops.VectorNorm) {
	norm := squared(data[T](o.X))
	if !o.Squared {
		norm = math.Sqrt(norm)
	}
	data[T](o.Norm)[0] = T(norm)
}

func sqrt[T gemm.Float](o ops.Sqrt) {
	data[T](o.Y)[0] = T(math.Sqrt(float64(first[T](o.X))))
}

func addScalar[T gemm.Float](o ops.AddScalar) { data[T](o.Y)[0] = first[T](o.X) + T(o.Value) }

func reciprocal[T gemm.Float](o ops.Reciprocal) {
	x := first[T](o.X)
	if x != 0 {
		x = 1 / x
	}
	data[T](o.Y)[0] = x
}

func mulScalar[T gemm.Float](o ops.MulScalar) { data[T](o.Y)[0] = first[T](o.X) * T(o.Value) }

func mul[T gemm.Float](o ops.Mul) { data[T](o.Y)[0] = first[T](o.A) * first[T](o.B) }

func mulInto[T gemm.Float](o ops.MulInto) {
	times(data[T](o.Y), data[T](o.X), T(o.Value))
}

func clamp[T gemm.Float](o ops.Clamp) { data[T](o.Y)[0] = min(first[T](o.X), T(o.Max)) }

func onesLike[T gemm.Float](o ops.OnesLike) {
	y := data[T](o.Y)
	for i := range y {
		y[i] = 1
	}
}

// factor returns the value of an optional factor, 1 if there is none.
func factor[T gemm.Float](b *device.Buffer) T {
	if b == nil {
		return 1
	}
	return first[T](b)
}

func adamW[T gemm.Float](o ops.AdamW) {
	f := factor[T](o.Factor)
	for i := range o.P {
		adamWTensor(o, data[T](o.P[i]), data[T](o.G[i]), data[T](o.M[i]), data[T](o.V[i]), f)
	}
}

func adamWTensor[T gemm.Float](o ops.AdamW, p, g, m, v []T, f T) {
	b1, c1 := T(o.Beta1), T(1-o.Beta1)
	b2, c2 := T(o.Beta2), T(1-o.Beta2)
	decay := T(1 - o.LR*o.Decay)
	rate := T(o.LR / (1 - math.Pow(o.Beta1, float64(o.Step))))
	root := T(math.Sqrt(1 - math.Pow(o.Beta2, float64(o.Step))))
	for i := range p {
		d := g[i] * f
		m[i] = b1*m[i] + c1*d
		v[i] = b2*v[i] + c2*d*d
		p[i] = p[i]*decay - rate*m[i]/(T(math.Sqrt(float64(v[i])))/root+T(o.Eps))
	}
}

func sgd[T gemm.Float](o ops.SGD) {
	f, decay, rate := factor[T](o.Factor), T(1-o.LR*o.Decay), T(o.LR)
	for k := range o.P {
		p, g := data[T](o.P[k]), data[T](o.G[k])
		for i := range p {
			p[i] = p[i]*decay - rate*(g[i]*f)
		}
	}
}

func cast[T gemm.Float](o ops.Cast) {
	y := data[T](o.Y)
	switch o.X.DType {
	case device.F32:
		convert(y, data[float32](o.X))
	case device.F64:
		convert(y, data[float64](o.X))
	}
}

func convert[To, From gemm.Float](y []To, x []From) {
	for i, v := range x {
		y[i] = To(v)
	}
}
