package cpu

import (
	"math"

	"github.com/gaprof/gaprof/reference/cpu/gemm"
	"github.com/gaprof/gaprof/reference/ops"
)

func embedding[T gemm.Float](o ops.Embedding) {
	y, w := data[T](o.Y), data[T](o.W)
	for i, row := range data[int64](o.Index) {
		copy(y[i*o.D:(i+1)*o.D], w[int(row)*o.D:])
	}
}

func embeddingBackward[T gemm.Float](o ops.EmbeddingBackward) {
	dw, dy := data[T](o.DW), data[T](o.DY)
	clear(dw)
	for i, row := range data[int64](o.Index) {
		to := dw[int(row)*o.D:][:o.D]
		plus(to, to, dy[i*o.D:(i+1)*o.D])
	}
}

func addPositions[T gemm.Float](o ops.AddPositions) {
	y, x, w := data[T](o.Y), data[T](o.X), data[T](o.W)
	for from := 0; from < len(y); from += len(w) {
		plus(y[from:from+len(w)], x[from:], w)
	}
}

func positionsBackward[T gemm.Float](o ops.PositionsBackward) {
	dw, dy := data[T](o.DW), data[T](o.DY)
	clear(dw)
	for from := 0; from < len(dy); from += len(dw) {
		plus(dw, dw, dy[from:from+len(dw)])
	}
}

func layerNorm[T gemm.Float](o ops.LayerNorm) {
	y, x := data[T](o.Y), data[T](o.X)
	w, b := data[T](o.W), data[T](o.B)
	means, rstds := data[T](o.Mean), data[T](o.Rstd)
	for i := range means {
		row, out := x[i*o.D:(i+1)*o.D], y[i*o.D:(i+1)*o.D]
		mean, variance := moments(row)
		rstd := 1 / math.Sqrt(variance+o.Eps)
		means[i], rstds[i] = T(mean), T(rstd)
		for j, v := range row {
			out[j] = T((float64(v)-mean)*rstd)*w[j] + b[j]
		}
	}
}

// moments returns the mean and the variance of the population.
func moments[T gemm.Float](x []T) (mean, variance float64) {
	for _, v := range x {
		mean += float64(v)
	}
	mean /= float64(len(x))
	for _, v := range x {
		d := float64(v) - mean
		variance += d * d
	}
	return mean, variance / float64(len(x))
}

func layerNormBackward[T gemm.Float](o ops.LayerNormBackward) {
	dx, dw, db := data[T](o.DX), data[T](o.DW), data[T](o.DB)
	dy, x, w := data[T](o.DY), data[T](o.X), data[T](o.W)
	means, rstds := data[T](o.Mean), data[T](o.Rstd)
	clear(dw)
	clear(db)
	for i := range means {
		row := func(of []T) []T { return of[i*o.D : (i+1)*o.D] }
		layerNormRow(row(dx), dw, db, row(dy), row(x), w, float64(means[i]), float64(rstds[i]))
	}
}

// layerNormRow: with xhat = (x-mean)*rstd and g = dy*w, dx = rstd * (g - mean(g) - xhat*mean(g*xhat)).
func layerNormRow[T gemm.Float](dx, dw, db, dy, x, w []T, mean, rstd float64) {
	sum, dot := 0.0, 0.0
	for j, v := range x {
		hat, g := (float64(v)-mean)*rstd, float64(dy[j])*float64(w[j])
		sum += g
		dot += g * hat
		dw[j] += T(float64(dy[j]) * hat)
		db[j] += dy[j]
	}
	n := float64(len(x))
	for j, v := range x {
		hat, g := (float64(v)-mean)*rstd, float64(dy[j])*float64(w[j])
		dx[j] = T(rstd * (g - sum/n - hat*dot/n))
	}
}

// The constants of the tanh approximation of gelu.
const (
	geluRoot  = 0.79788456080286535588 // sqrt(2/pi)
	geluCubic = 0.044715
)

func gelu[T gemm.Float](o ops.Gelu) {
	y := data[T](o.Y)
	for i, v := range data[T](o.X) {
		x := float64(v)
		y[i] = T(0.5 * x * (1 + math.Tanh(geluRoot*(x+geluCubic*x*x*x))))
	}
}

func geluBackward[T gemm.Float](o ops.GeluBackward) {
	dx, dy := data[T](o.DX), data[T](o.DY)
	for i, v := range data[T](o.X) {
		x := float64(v)
		t := math.Tanh(geluRoot * (x + geluCubic*x*x*x))
		slope := 0.5*(1+t) + 0.5*x*(1-t*t)*geluRoot*(1+3*geluCubic*x*x)
		dx[i] = T(float64(dy[i]) * slope)
	}
}

func add[T gemm.Float](o ops.Add) {
	plus(data[T](o.Y), data[T](o.A), data[T](o.B))
}

func countTokens(o ops.CountTokens) {
	n := int64(0)
	for _, label := range data[int64](o.Labels) {
		if label != ops.IgnoreIndex {
			n++
		}
	}
	data[int64](o.Count)[0] = n
}

func crossEntropy[T gemm.Float](o ops.CrossEntropy) { crossEntropyBy(o, logSumExp[T]) }

func crossEntropyBy[T gemm.Float](o ops.CrossEntropy, logSumExp func(row []T) float64) {
	logits, lse := data[T](o.Logits), data[T](o.LSE)
	sum, n := 0.0, 0
	for i, target := range data[int64](o.Targets) {
		lse[i] = 0
		if target == ops.IgnoreIndex {
			continue
		}
		row := logits[i*o.V : (i+1)*o.V]
		l := logSumExp(row)
		lse[i] = T(l)
		sum += l - float64(row[target])
		n++
	}
	if o.Mean && n > 0 {
		sum /= float64(n)
	}
	data[T](o.Loss)[0] = T(sum)
	data[int64](o.Count)[0] = int64(n)
}

func logSumExp[T gemm.Float](row []T) float64 {
	most := row[0]
	for _, v := range row {
		most = max(most, v)
	}
	sum := 0.0
	for _, v := range row {
		sum += math.Exp(float64(v - most))
	}
	return float64(most) + math.Log(sum)
}

// upstream is what every row's gradient is multiplied by.
func upstream[T gemm.Float](o ops.CrossEntropyBackward) float64 {
	up := float64(first[T](o.Up))
	if n := data[int64](o.Count)[0]; o.Mean && n > 0 {
		up /= float64(n)
	}
	return up
}

func crossEntropyBackward[T gemm.Float](o ops.CrossEntropyBackward) {
	d, logits, lse := data[T](o.DLogits), data[T](o.Logits), data[T](o.LSE)
	up := upstream[T](o)
	for i, target := range data[int64](o.Targets) {
		out := d[i*o.V : (i+1)*o.V]
		if target == ops.IgnoreIndex {
			clear(out)
			continue
		}
		for j, v := range logits[i*o.V : (i+1)*o.V] {
			p := math.Exp(float64(v) - float64(lse[i]))
			if j == int(target) {
				p--
			}
			out[j] = T(p * up)
		}
	}
}
