package timeline

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSortLaunched: calls in order, those of one call by event, whatever the number of
// rows says of the digits.
func TestSortLaunched(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, rows := range []int{1, 2, 100, 1 << 11, 1<<11 + 1, 1 << 23, 1<<31 - 1} {
		for _, n := range []int{0, 1, 3, 1000, 2048, 5000} {
			list := make([]Launched, n)
			for i := range list {
				list[i] = Launched(rng.IntN(rows)&^7)<<32 | Launched(rng.IntN(rows))
			}
			want := slices.Sorted(slices.Values(list))
			if got := sortLaunched(list, rows); !slices.Equal(got, want) {
				t.Errorf("%d of %d rows: got %x, want %x", n, rows, got, want)
			}
		}
	}
}
