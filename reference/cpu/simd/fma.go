//go:build !arm64 && !ppc64 && !ppc64le && !riscv64 && !loong64 && !s390x

package simd

import "math"

// FMA returns a*b + c, rounded once.
//
// The product is exact in float64. Rounding the sum to float64 first and to float32 then
// may go wrong only if the first result lies in the middle between two float32, so there
// the error of the first rounding decides.
func FMA(a, b, c float32) float32 {
	product, addend := float64(a)*float64(b), float64(c)
	sum := product + addend
	const half = 1 << 28 // the bits of a float64 that a float32 has not: 29
	if bits := math.Float64bits(sum); bits&(2*half-1) == half || math.Abs(sum) < 0x1p-126 {
		sum = odd(product, addend, sum)
	}
	return float32(sum)
}

// odd returns a + b rounded to odd: sum, if it is exact or its last bit is set, else its
// neighbour on the side of the exact result.
func odd(a, b, sum float64) float64 {
	part := sum - a
	rest := (a - (sum - part)) + (b - part) // what sum lacks
	bits := math.Float64bits(sum)
	if rest == 0 || math.IsNaN(rest) || bits&1 != 0 {
		return sum
	}
	if (rest > 0) == (sum > 0) {
		return math.Float64frombits(bits + 1)
	}
	return math.Float64frombits(bits - 1)
}
