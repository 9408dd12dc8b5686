package bounded

import "math"

// Add is a+b of numbers that are not negative, and math.MaxInt64 where that is more.
func Add(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// Mul is a*b of numbers that are not negative, and math.MaxInt64 where that is more.
func Mul(a, b int64) int64 {
	if a > 0 && b > math.MaxInt64/a {
		return math.MaxInt64
	}
	return a * b
}
