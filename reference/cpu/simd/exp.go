package simd

import "math"

// exponentials are the coefficients of (e^r - 1 - r)/r^2 for |r| < ln(2)/2, the highest
// power first: those of Cephes' expf.
var exponentials = [...]float32{
	1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1,
}

// exp returns e^x, 0 below -87 and never more than e^88, within 1e-7 of the right one.
func exp(x float32) float32 {
	if x < -87 {
		return 0
	}
	t := min(x, 88)
	n := float32(math.RoundToEven(float64(t * math.Log2E)))
	t = FMA(-n, 0.693359375, t)
	t = FMA(-n, -2.12194440e-4, t)
	p := exponentials[0]
	for _, c := range exponentials[1:] {
		p = FMA(p, t, c)
	}
	p = FMA(p, t*t, t) + 1
	return p * math.Float32frombits(uint32(int32(n)+127)<<23)
}

// Exp sets y to e^(x-shift) * f and returns the sum of e^(x-shift). There, e^x is 0 below
// x = -87 and e^88 above 88.
func Exp(y, x []float32, shift, f float32) float64 {
	var s [lanes]float64
	x = x[:len(y)]
	n := fast(len(y))
	if n > 0 {
		expLoop(&y[0], &x[0], n, shift, f, &s, wide())
	}
	for i, v := range x[n:] {
		e := exp(v - shift)
		s[i%lanes] += float64(e)
		y[n+i] = e * f
	}
	return total(&s)
}

// The constants of gelu(x) = x * sigmoid(z), z = linear*x + cubic*x^3: 2 sqrt(2/pi), and
// that times 0.044715. Beyond the limit the sigmoid is as good as 0 or 1.
const linear, cubic, limit float32 = 1.5957691216, 0.0713548162726, 9.9

// sigmoid returns for x, within limits, the sigmoid s of gelu, e with s = 1/(1+e), and
// x^2.
func sigmoid(x float32) (within, s, e, square float32) {
	within = min(max(x, -limit), limit)
	square = within * within
	e = exp(-(FMA(cubic, square, linear) * within))
	return within, 1 / (1 + e), e, square
}

// Gelu sets y to gelu(x), by the approximation with tanh.
func Gelu(y, x []float32) {
	x = x[:len(y)]
	n := fast(len(y))
	if n > 0 {
		geluLoop(&y[0], &x[0], n, wide())
	}
	for i, v := range x[n:] {
		_, s, _, _ := sigmoid(v)
		y[n+i] = v * s
	}
}

// GeluBackward sets dx to dy * gelu'(x): with z' = linear + 3 cubic x^2, gelu' is
// s + x s (1-s) z', and 1-s is e s.
func GeluBackward(dx, dy, x []float32) {
	dy, x = dy[:len(dx)], x[:len(dx)]
	n := fast(len(dx))
	if n > 0 {
		geluBackwardLoop(&dx[0], &dy[0], &x[0], n, wide())
	}
	for i, v := range x[n:] {
		v, s, e, square := sigmoid(v)
		dx[n+i] = dy[n+i] * FMA(FMA(3*cubic, square, linear), v*s*(e*s), s)
	}
}
