package cpu

import (
	"math"

	"github.com/gaprof/gaprof/reference/cpu/simd"
	"github.com/gaprof/gaprof/reference/ops"
)

// Operations in float32 that simd has loops for. Those of the same name without Single
// define them.

func layerNormSingle(o ops.LayerNorm) {
	y, x := data[float32](o.Y), data[float32](o.X)
	w, b := data[float32](o.W), data[float32](o.B)
	means, rstds := data[float32](o.Mean), data[float32](o.Rstd)
	for i := range means {
		row := x[i*o.D : (i+1)*o.D]
		mean := simd.Sum(row) / float64(o.D)
		variance := simd.Squares(row, mean) / float64(o.D)
		r := simd.Norm{Mean: float32(mean), Rstd: float32(1 / math.Sqrt(variance+o.Eps))}
		r.Forward(y[i*o.D:(i+1)*o.D], row, w, b)
		means[i], rstds[i] = r.Mean, r.Rstd
	}
}

func layerNormBackwardSingle(o ops.LayerNormBackward) {
	dx, dw, db := data[float32](o.DX), data[float32](o.DW), data[float32](o.DB)
	dy, x, w := data[float32](o.DY), data[float32](o.X), data[float32](o.W)
	rstds := data[float32](o.Rstd)
	clear(dw)
	clear(db)
	n := float64(o.D)
	for i, mean := range data[float32](o.Mean) {
		row := func(of []float32) []float32 { return of[i*o.D : (i+1)*o.D] }
		r := simd.Norm{Mean: mean, Rstd: rstds[i]}
		sum, dot := r.Sums(dw, db, row(dy), row(x), w)
		r.Backward(row(dx), row(dy), row(x), w, float32(sum/n), float32(dot/n))
	}
}

func geluSingle(o ops.Gelu) { simd.Gelu(data[float32](o.Y), data[float32](o.X)) }

func geluBackwardSingle(o ops.GeluBackward) {
	simd.GeluBackward(data[float32](o.DX), data[float32](o.DY), data[float32](o.X))
}

func crossEntropySingle(o ops.CrossEntropy) { crossEntropyBy(o, logSumExpSingle) }

func logSumExpSingle(row []float32) float64 {
	var scratch [512]float32
	most := simd.Max(row)
	sum := 0.0
	for len(row) > 0 {
		n := min(len(row), len(scratch))
		sum += simd.Exp(scratch[:n], row[:n], most, 1)
		row = row[n:]
	}
	return float64(most) + math.Log(sum)
}

func crossEntropyBackwardSingle(o ops.CrossEntropyBackward) {
	up := upstream[float32](o)
	d, logits, lse := data[float32](o.DLogits), data[float32](o.Logits), data[float32](o.LSE)
	for i, target := range data[int64](o.Targets) {
		out, row := d[i*o.V:(i+1)*o.V], logits[i*o.V:(i+1)*o.V]
		if target == ops.IgnoreIndex {
			clear(out)
			continue
		}
		simd.Exp(out, row, lse[i], float32(up))
		out[target] = float32((math.Exp(float64(row[target])-float64(lse[i])) - 1) * up)
	}
}

func adamWSingle(o ops.AdamW) {
	u := simd.AdamW{F: factor[float32](o.Factor), Beta1: float32(o.Beta1), Rest1: float32(1 - o.Beta1),
		Beta2: float32(o.Beta2), Rest2: float32(1 - o.Beta2), Decay: float32(1 - o.LR*o.Decay),
		Rate: float32(o.LR / (1 - math.Pow(o.Beta1, float64(o.Step)))),
		Root: float32(1 / math.Sqrt(1-math.Pow(o.Beta2, float64(o.Step)))), Eps: float32(o.Eps)}
	for i := range o.P {
		u.Update(data[float32](o.P[i]), data[float32](o.G[i]), data[float32](o.M[i]), data[float32](o.V[i]))
	}
}

func sgdSingle(o ops.SGD) {
	f, decay, rate := factor[float32](o.Factor), float32(1-o.LR*o.Decay), float32(o.LR)
	for i := range o.P {
		simd.SGD(data[float32](o.P[i]), data[float32](o.G[i]), f, decay, rate)
	}
}
