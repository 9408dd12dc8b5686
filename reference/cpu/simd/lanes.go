package simd

import "math"

// lanes is how many sums a sum has until it ends.
const lanes = 16

// total adds the lanes up, in pairs.
func total(s *[lanes]float64) float64 {
	for half := lanes / 2; half > 0; half /= 2 {
		for i := range half {
			s[i] += s[i+half]
		}
	}
	return s[0]
}

// Sum returns the sum of x.
func Sum(x []float32) float64 {
	var s [lanes]float64
	n := fast(len(x))
	if n > 0 {
		sumLoop(&x[0], n, &s, wide())
	}
	for i, v := range x[n:] {
		s[i%lanes] += float64(v)
	}
	return total(&s)
}

// Squares returns the sum of (x - mean)^2.
func Squares(x []float32, mean float64) float64 {
	var s [lanes]float64
	n := fast(len(x))
	if n > 0 {
		squaresLoop(&x[0], n, mean, &s, wide())
	}
	for i, v := range x[n:] {
		d := float64(v) - mean
		s[i%lanes] = math.FMA(d, d, s[i%lanes])
	}
	return total(&s)
}

// Dot returns the sum of a*b.
func Dot(a, b []float32) float64 {
	var s [lanes]float64
	b = b[:len(a)]
	n := fast(len(a))
	if n > 0 {
		dotLoop(&a[0], &b[0], n, &s, wide())
	}
	for i, v := range a[n:] {
		s[i%lanes] += float64(v) * float64(b[n+i])
	}
	return total(&s)
}

// Max returns the largest of x, which must not be empty. It may overlook NaN.
func Max(x []float32) float32 {
	var m [lanes]float32
	for i := range m {
		m[i] = x[0]
	}
	n := fast(len(x))
	if n > 0 {
		maxLoop(&x[0], n, &m, wide())
	}
	for i, v := range x[n:] {
		if !(m[i%lanes] > v) {
			m[i%lanes] = v
		}
	}
	for _, v := range m[1:] {
		m[0] = max(m[0], v)
	}
	return m[0]
}
