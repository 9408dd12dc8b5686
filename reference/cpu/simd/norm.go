package simd

// Norm is a row of a layer norm: its mean, and 1 / its deviation.
type Norm struct{ Mean, Rstd float32 }

func (r Norm) hat(x float32) float32 { return (x - r.Mean) * r.Rstd }

// Forward sets y to (x - Mean) * Rstd * w + b.
func (r Norm) Forward(y, x, w, b []float32) {
	x, w, b = x[:len(y)], w[:len(y)], b[:len(y)]
	n := fast(len(y))
	if n > 0 {
		normLoop(&y[0], &x[0], &w[0], &b[0], n, r.Mean, r.Rstd, wide())
	}
	for i := n; i < len(y); i++ {
		y[i] = FMA(r.hat(x[i]), w[i], b[i])
	}
}

// Sums adds dy * hat to dw and dy to db, where hat is (x - Mean) * Rstd, and returns the
// sums of dy*w and of dy*w*hat.
func (r Norm) Sums(dw, db, dy, x, w []float32) (sum, dot float64) {
	var s, d [lanes]float64
	dw, db, x, w = dw[:len(dy)], db[:len(dy)], x[:len(dy)], w[:len(dy)]
	n := fast(len(dy))
	if n > 0 {
		normSumsLoop(&dw[0], &db[0], &dy[0], &x[0], &w[0], n, r.Mean, r.Rstd, &s, &d, wide())
	}
	for i := n; i < len(dy); i++ {
		hat, g := r.hat(x[i]), dy[i]*w[i]
		dw[i] = FMA(dy[i], hat, dw[i])
		db[i] += dy[i]
		s[i%lanes] += float64(g)
		d[i%lanes] += float64(g) * float64(hat)
	}
	return total(&s), total(&d)
}

// Backward sets dx to Rstd * (dy*w - a - hat*b).
func (r Norm) Backward(dx, dy, x, w []float32, a, b float32) {
	dy, x, w = dy[:len(dx)], x[:len(dx)], w[:len(dx)]
	n := fast(len(dx))
	if n > 0 {
		normBackwardLoop(&dx[0], &dy[0], &x[0], &w[0], n, r.Mean, r.Rstd, a, b, wide())
	}
	for i := n; i < len(dx); i++ {
		dx[i] = FMA(-r.hat(x[i]), b, float32(dy[i]*w[i])-a) * r.Rstd
	}
}
