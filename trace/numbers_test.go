package trace

import (
	"math"
	"testing"
)

// TestIDs: every number comes back, equal numbers have equal ids, also when they came
// by way of a part.
func TestIDs(t *testing.T) {
	nums := []int64{
		0, 1, firstLarge - 1, firstLarge, math.MaxUint32, math.MaxUint32 + 1, math.MaxInt64,
		-1, math.MinInt64, -1, firstLarge,
	}
	whole, part := NewBuilder(), NewPartBuilder()
	fill := func(b *Builder, nums []int64) {
		pid := b.Intern([]byte("1"))
		for i, n := range nums {
			b.Add(&Row{Start: int64(i), Track: b.Track(pid, pid), Corr: n, External: -n, Phase: Complete, Offset: -1})
		}
	}
	fill(whole, []int64{math.MinInt64, 7})
	fill(part, nums)
	var p Part
	part.Cut(&p)
	whole.Append(&p)
	fill(part, nums[3:5])
	part.Cut(&p)
	whole.Append(&p)
	got := whole.Build()
	ids := make(map[int64]ID)
	want := append(append([]int64{math.MinInt64, 7}, nums...), nums[3:5]...)
	seen := make(map[int64]int)
	for _, n := range want {
		seen[n]++
	}
	for i := range got.Len() {
		e := got.Event(i)
		seen[e.Corr()]--
		if e.External() != -e.Corr() {
			t.Errorf("row %d: External %d, Corr %d", i, e.External(), e.Corr())
		}
		if id, ok := ids[e.Corr()]; ok && id != got.Columns().Corr[i] {
			t.Errorf("%d has ids %d and %d", e.Corr(), id, got.Columns().Corr[i])
		}
		ids[e.Corr()] = got.Columns().Corr[i]
	}
	for n, left := range seen {
		if left != 0 {
			t.Errorf("%d: %d times missing", n, left)
		}
	}
}
