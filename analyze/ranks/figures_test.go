package ranks

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestFiguresAgainstDefinition: transfer, skew, waits and who is to blame, of collectives that ranks enter and leave
// at any time, are those of the definition.
func TestFiguresAgainstDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	for range 200 {
		ranks, n := 1+rng.IntN(5), 1+rng.IntN(6)
		g := &Group{Ranks: make([]int, ranks), sequences: make([]*sequence, ranks)}
		for k := range ranks {
			g.Ranks[k], g.sequences[k] = k, &sequence{items: make([]item, n)}
			for i := range n {
				start := int64(100*i) + rng.Int64N(20)
				g.sequences[k].items[i] = item{start: start, end: int64(100*i) + 20 + rng.Int64N(20)}
			}
		}
		for i := range n {
			g.Collectives = append(g.Collectives, Collective{items: slices.Repeat([]int32{int32(i)}, ranks)})
		}
		g.Status = Matched
		g.figures(make([]Source, ranks), Options{})
		wait, caused, last := make([]int64, ranks), make([]int64, ranks), make([]int, ranks)
		for i := range n {
			c := &g.Collectives[i]
			var starts, ends []int64
			for k := range ranks {
				starts, ends = append(starts, g.sequences[k].items[i].start), append(ends, g.sequences[k].items[i].end)
			}
			latest := slices.Index(starts, slices.Max(starts))
			slices.Sort(ends)
			ascending := slices.Sorted(slices.Values(starts))
			at, next := ascending[ranks-1], ascending[max(0, ranks-2)]
			want := fmt.Sprint(latest, at, next, ends[0]-at, ends[ranks-1]-ends[0])
			if got := fmt.Sprint(c.Latest, c.LatestAt, c.NextAt, c.Transfer, c.Skew); got != want {
				t.Fatalf("entered at %v, left at %v: %s, want %s", starts, ends, got, want)
			}
			for k := range ranks {
				wait[k] += at - starts[k]
			}
			last[latest]++
			caused[latest] += (at - next) * int64(ranks-1)
		}
		got, want := fmt.Sprint(g.Wait, g.Caused, g.Last), fmt.Sprint(wait, caused, last)
		if got != want || g.NoFigures != "" {
			t.Fatalf("waits, caused and last: %s, want %s; %s", got, want, g.NoFigures)
		}
		first, end, ok := g.Window()
		for _, q := range g.sequences {
			for _, it := range q.items {
				if it.start < first || it.end > end || !ok {
					t.Fatalf("from %d to %d, %v; one from %d to %d", first, end, ok, it.start, it.end)
				}
			}
		}
	}
}

// TestTogether: two items are together if there is an instant at which both run.
func TestTogether(t *testing.T) {
	for a := range int64(6) {
		for b := range int64(6) {
			for c := range int64(6) {
				x, y, want := item{start: a, end: a + 2}, item{start: b, end: b + c}, false
				for at := range int64(12) {
					want = want || at >= x.start && at < x.end && at >= y.start && at < y.end
				}
				if c > 0 && (together(&x, &y) != want || together(&y, &x) != want) {
					t.Errorf("[%d,%d) and [%d,%d) together: %v", x.start, x.end, y.start, y.end, !want)
				}
			}
		}
	}
}

// TestGapsAgainstDefinition: what has no partner is counted on both sides, from the first pair to the last.
func TestGapsAgainstDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 18))
	for range 500 {
		at, next := make([]int32, rng.IntN(8)), int32(rng.IntN(3))
		paired := make(map[int32]bool)
		first, last := -1, -1
		for j := range at {
			if at[j] = -1; rng.IntN(3) > 0 {
				at[j], paired[next], last = next, true, j
				if next += 1 + int32(rng.IntN(2)); first < 0 {
					first = j
				}
			}
		}
		want := 0
		if first >= 0 {
			for j := first; j <= last; j++ {
				want += map[bool]int{true: 1}[at[j] < 0]
			}
			for i := at[first]; i <= at[last]; i++ {
				want += map[bool]int{true: 1}[!paired[i]]
			}
		}
		if got := new(table).gaps(at); got != want {
			t.Fatalf("%v: %d gaps, want %d", at, got, want)
		}
	}
}
