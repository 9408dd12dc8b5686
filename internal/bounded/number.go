package bounded

import "math"

// Add is a+b of numbers that are not negative, and math.MaxInt64 where that is more.
func Add(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// Sub is a-b of which a is not less, and math.MaxInt64 where that is more.
func Sub(a, b int64) int64 {
	if d := a - b; d >= 0 || a < b {
		return d
	}
	return math.MaxInt64
}

// Middle is the mean of two numbers, rounded towards zero.
func Middle(a, b int64) int64 {
	if (a < 0) != (b < 0) {
		return (a + b) / 2
	}
	return a/2 + b/2 + (a%2+b%2)/2
}

// Mul is a*b of numbers that are not negative, and math.MaxInt64 where that is more.
func Mul(a, b int64) int64 {
	if a > 0 && b > math.MaxInt64/a {
		return math.MaxInt64
	}
	return a * b
}
