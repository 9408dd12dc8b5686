package rules

import (
	"math"
	"testing"
)

func TestSteady(t *testing.T) {
	for _, c := range []struct {
		led, steps, ranks int
		want              bool
	}{
		{0, 0, 2, false},
		{1, 1, 2, true}, // nothing speaks against it
		{1, 2, 2, false},
		{2, 2, 8, true},
		{3, 4, 8, true},
		{2, 4, 8, false},
		{4, 5, 2, false},
		{5, 5, 2, true}, // 2/32
		{5, 6, 2, false},
		{6, 6, 2, true},
		{9, 12, 2, false}, // 0.146
		{10, 12, 2, true}, // 0.039
		{4, 12, 8, false}, // 0.40
		{6, 12, 8, true},  // 0.014
		{1000, 1000, 2, true},
	} {
		if got := steady(c.led, c.steps, c.ranks); got != c.want {
			t.Errorf("%d of %d steps, %d ranks: %v", c.led, c.steps, c.ranks, got)
		}
	}
}

func TestBinomialTail(t *testing.T) {
	for _, c := range []struct {
		k, n int
		p    float64
		want float64
	}{{0, 5, 0.5, 1}, {5, 5, 0.5, 1.0 / 32}, {2, 3, 0.5, 0.5}, {1, 2, 0.25, 7.0 / 16}, {0, 0, 0.5, 1}} {
		if got := binomialTail(c.k, c.n, c.p); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("at least %d of %d at %v: %v, want %v", c.k, c.n, c.p, got, c.want)
		}
	}
}
