package whatif

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/analyze/gradients"
	"github.com/gaprof/gaprof/trace/graph"
)

// meanOf is the mean of the values for which of is true, as whole ns.
func meanOf(list []int64, of func(i int) bool) int64 {
	sum, n := int64(0), int64(0)
	for i, v := range list {
		if of(i) {
			sum, n = sum+v, n+1
		}
	}
	return sum / max(1, n)
}

// TestRangesAgainstDefinition: what steps gain without the first or the last of their kind, and by how much peers that
// come at other times change a mean, are as defined, whichever steps ranks recorded.
func TestRangesAgainstDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 16))
	for range 300 {
		w, kinds := &World{}, 1+rng.IntN(3)
		var gain, other []int64
		for rank := range 1 + rng.IntN(3) {
			w.Ranks = append(w.Ranks, nil)
			for index := range 1 + rng.IntN(6) {
				w.steps = append(w.steps, step{rank: rank, index: index, kind: rng.IntN(kinds)})
				gain, other = append(gain, rng.Int64N(1000)-200), append(other, rng.Int64N(1000))
			}
		}
		for kind := -1; kind < kinds; kind++ {
			of := func(i int) bool { return kind < 0 || w.steps[i].kind == kind }
			first, last, n := math.MaxInt, -1, 0
			for i, s := range w.steps {
				if of(i) {
					first, last, n = min(first, s.index), max(last, s.index), n+1
				}
			}
			if n == 0 {
				continue
			}
			noFirst, noLast := meanOf(gain, of), meanOf(gain, of)
			if first < last {
				noFirst = meanOf(gain, func(i int) bool { return of(i) && w.steps[i].index != first })
				noLast = meanOf(gain, func(i int) bool { return of(i) && w.steps[i].index != last })
			}
			if a, b := w.shorter(gain, kind); a != noFirst || b != noLast {
				t.Fatalf("kind %d of %v: %d and %d, want %d and %d", kind, w.steps, a, b, noFirst, noLast)
			}
			holdsLateness(t, w, gain, other, kind, of)
			list := []outcome{{gain: gain, after: other}, {gain: other, after: gain}}
			for _, ranks := range [][]*Rank{{nil}, {nil, nil}} {
				w.Ranks = ranks
				r, mean := w.rangeOf(list, kind), meanOf(gain, of)
				second := meanOf(other, of)
				low, high := min(mean, second, noFirst, noLast), max(mean, second, noFirst, noLast)
				if len(ranks) == 1 && (low != 0 || high != 0 || mean != 0) {
					noise := w.lateness(other, gain, kind)
					low, high = min(low, mean-noise, mean+noise), max(high, mean-noise, mean+noise)
				}
				if r != (Range{low, mean, high}) {
					t.Fatalf("kind %d on %d ranks: %+v, want %d %d %d", kind, len(ranks), r, low, mean, high)
				}
			}
		}
	}
}

// holdsLateness compares lateness with the standard error of the mean.
func holdsLateness(t *testing.T, w *World, seen, inTime []int64, kind int, of func(i int) bool) {
	t.Helper()
	var waits []float64
	mean := 0.0
	for i := range seen {
		if of(i) {
			waits = append(waits, float64(seen[i]-inTime[i]))
			mean += waits[len(waits)-1]
		}
	}
	n, squares := float64(len(waits)), 0.0
	mean /= n
	want := mean
	if len(waits) > 1 {
		for _, v := range waits {
			squares += (v - mean) * (v - mean) / (n - 1)
		}
		want = math.Sqrt(squares) / math.Sqrt(n)
	}
	if got := float64(w.lateness(seen, inTime, kind)); math.Abs(got-want) > 2 {
		t.Fatalf("lateness %v of %v, want %v", got, waits, want)
	}
}

// TestTouchedGradients: reduce-scatters stay where they are if their gradients are changed before the first of them,
// in the same step, by or for their optimizer.
func TestTouchedGradients(t *testing.T) {
	pass := func(kind gradients.PassKind, step int, start int64, optimizer string) gradients.Pass {
		return gradients.Pass{Kind: kind, Step: step, HostStart: start, Optimizer: optimizer}
	}
	for name, c := range map[string]struct {
		pass gradients.Pass
		want bool
	}{
		"scaled before":             {pass(gradients.ScalePass, 2, 99, ""), true},
		"clipped before":            {pass(gradients.ClipPass, 2, 99, ""), true},
		"unscaled before":           {pass(gradients.UnscalePass, 2, 99, ""), true},
		"cleared before":            {pass(gradients.ZeroPass, 2, 99, ""), false},
		"their norm before":         {pass(gradients.NormPass, 2, 99, ""), false},
		"scaled after":              {pass(gradients.ScalePass, 2, 100, ""), false},
		"in the step before":        {pass(gradients.ScalePass, 1, 9, ""), false},
		"of the optimizer":          {pass(gradients.ScalePass, 2, 9, "A"), true},
		"those of another one":      {pass(gradients.ScalePass, 2, 9, "B"), false},
		"between the first two":     {pass(gradients.ScalePass, 2, 150, ""), false},
		"with the first, no sooner": {pass(gradients.ClipPass, 2, 101, ""), false},
	} {
		r := &Rank{Facts: &facts.Rank{}}
		r.Facts.Passes = []gradients.Pass{c.pass}
		r.Start, r.Before = []int64{0, 100, 200, 300, 400}, []graph.Node{graph.None, graph.None, graph.None, 1, 2}
		h := &Hoist{Optimizer: "A", Step: 2, Moved: []graph.Node{3, 4}}
		if got := touched(r, h); (got != "") != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}
