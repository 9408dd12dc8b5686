package simd

import "math"

// Add sets y to a + b; y may be one of them.
func Add(y, a, b []float32) {
	a, b = a[:len(y)], b[:len(y)]
	n := fast(len(y))
	if n > 0 {
		addLoop(&y[0], &a[0], &b[0], n, wide())
	}
	for i := n; i < len(y); i++ {
		y[i] = a[i] + b[i]
	}
}

// Scale sets y to x * f; y may be x.
func Scale(y, x []float32, f float32) {
	x = x[:len(y)]
	n := fast(len(y))
	if n > 0 {
		scaleLoop(&y[0], &x[0], n, f, wide())
	}
	for i := n; i < len(y); i++ {
		y[i] = x[i] * f
	}
}

// SoftmaxBackward sets d to p * (d - dot).
func SoftmaxBackward(d, p []float32, dot float32) {
	p = p[:len(d)]
	n := fast(len(d))
	if n > 0 {
		softmaxBackwardLoop(&d[0], &p[0], n, dot, wide())
	}
	for i := n; i < len(d); i++ {
		d[i] = p[i] * (d[i] - dot)
	}
}

// SGD sets p to p*decay - rate*(g*f).
func SGD(p, g []float32, f, decay, rate float32) {
	g = g[:len(p)]
	n := fast(len(p))
	if n > 0 {
		sgdLoop(&p[0], &g[0], n, f, decay, rate, wide())
	}
	for i := n; i < len(p); i++ {
		p[i] = FMA(p[i], decay, -(g[i] * f * rate))
	}
}

// AdamW holds the factors of an update.
type AdamW struct {
	F                      float32 // of the gradient
	Beta1, Rest1           float32 // of the mean, and of the gradient in it
	Beta2, Rest2           float32 // of the mean of squares, and of the square in it
	Decay, Rate, Root, Eps float32
}

// Update does, with d = g*F: m = Beta1*m + Rest1*d, v = Beta2*v + Rest2*d*d,
// p = p*Decay - Rate*m/(sqrt(v)*Root + Eps).
func (a AdamW) Update(p, g, m, v []float32) {
	g, m, v = g[:len(p)], m[:len(p)], v[:len(p)]
	n := fast(len(p))
	if n > 0 {
		adamWLoop(&p[0], &g[0], &m[0], &v[0], n,
			a.F, a.Beta1, a.Rest1, a.Beta2, a.Rest2, a.Decay, a.Rate, a.Root, a.Eps, wide())
	}
	for i := n; i < len(p); i++ {
		d := g[i] * a.F
		m[i] = FMA(a.Beta1, m[i], a.Rest1*d)
		v[i] = FMA(a.Beta2, v[i], a.Rest2*d*d)
		root := float32(math.Sqrt(float64(v[i])))
		p[i] = FMA(p[i], a.Decay, -(m[i] * a.Rate / FMA(root, a.Root, a.Eps)))
	}
}
