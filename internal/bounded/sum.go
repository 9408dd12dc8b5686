package bounded

import (
	"math"
	"math/bits"
)

// Sum adds up any number of integers without overflow. Its zero value is an empty sum.
type Sum struct {
	hi, lo uint64 // two's complement
	n      int64
}

// Add adds a number.
func (s *Sum) Add(v int64) {
	var carry uint64
	s.lo, carry = bits.Add64(s.lo, uint64(v), 0)
	s.hi, _ = bits.Add64(s.hi, uint64(v>>63), carry)
	s.n++
}

// Count is how many numbers were added.
func (s *Sum) Count() int64 { return s.n }

// Mean is the mean of the numbers, rounded towards zero; 0 without any.
func (s *Sum) Mean() int64 { return s.Over(max(1, s.n)) }

// Over is the sum divided by a number above 0, rounded towards zero. A quotient that no int64
// holds is the greatest, or the least.
func (s *Sum) Over(n int64) int64 {
	hi, lo, negative := s.hi, s.lo, int64(s.hi) < 0
	if negative {
		var borrow uint64
		lo, borrow = bits.Sub64(0, lo, 0)
		hi, _ = bits.Sub64(0, hi, borrow)
	}
	quotient := uint64(math.MaxUint64)
	if hi < uint64(n) {
		quotient, _ = bits.Div64(hi, lo, uint64(n))
	}
	switch {
	case negative && quotient > math.MaxInt64:
		return math.MinInt64
	case negative:
		return -int64(quotient)
	}
	return int64(min(quotient, math.MaxInt64))
}
