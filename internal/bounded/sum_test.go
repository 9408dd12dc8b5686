package bounded

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// Means of any numbers are those of integers without bounds.
func TestSum(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	ends := []int64{0, 1, -1, math.MaxInt64, math.MinInt64, math.MaxInt64 - 1, math.MinInt64 + 1}
	for round := range 20_000 {
		var s Sum
		want := new(big.Int)
		n := random.IntN(9)
		for range n {
			v := int64(random.Uint64()) >> random.IntN(64)
			if random.IntN(3) == 0 {
				v = ends[random.IntN(len(ends))]
			}
			s.Add(v)
			want.Add(want, big.NewInt(v))
		}
		if n > 0 {
			want.Quo(want, big.NewInt(int64(n)))
		}
		if s.Mean() != want.Int64() || s.Count() != int64(n) {
			t.Fatalf("round %d: mean %d, want %d", round, s.Mean(), want)
		}
		if s.Over(math.MaxInt64) < -9 || s.Over(math.MaxInt64) > 9 {
			t.Fatalf("round %d: %d", round, s.Over(math.MaxInt64))
		}
	}
	for _, most := range []int64{math.MaxInt64, math.MinInt64} {
		var s Sum
		for range 5 {
			s.Add(most)
		}
		if s.Over(1) != most || s.Over(2) != most || s.Over(5) != most {
			t.Errorf("five times %d: %d, %d, %d", most, s.Over(1), s.Over(2), s.Over(5))
		}
	}
}

// Differences and middles are those of integers without bounds, as far as an int64 goes.
func TestSubMiddle(t *testing.T) {
	list := []int64{0, 1, 2, 3, -1, -2, -3, math.MaxInt64, math.MaxInt64 - 1, math.MinInt64, math.MinInt64 + 1}
	for _, a := range list {
		for _, b := range list {
			sum := new(big.Int).Add(big.NewInt(a), big.NewInt(b))
			if want := sum.Quo(sum, big.NewInt(2)).Int64(); Middle(a, b) != want {
				t.Errorf("the middle of %d and %d is %d, want %d", a, b, Middle(a, b), want)
			}
			if want := new(big.Int).Sub(big.NewInt(a), big.NewInt(b)); a >= b {
				if got := Sub(a, b); want.IsInt64() && got != want.Int64() || !want.IsInt64() && got != math.MaxInt64 {
					t.Errorf("%d less %d is %d", a, b, got)
				}
			}
		}
	}
}
