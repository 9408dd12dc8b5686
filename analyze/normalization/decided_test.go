package normalization

import (
	"math"
	"testing"
)

// TestMeanBeforeFactor: a loss that is an average as it stands is that one, though another average times a
// factor is as near.
func TestMeanBeforeFactor(t *testing.T) {
	c := &Counts{Tokens: [][]int64{{1, 7}}}
	// 12/8 of all tokens; the mean of the means is (5/1 + 7/7)/2 = 3, half of which is as much.
	d := Decide(&Observation{Counts: c, Ranks: 1, Sums: [][]float64{{5, 7}}, Optimised: 1.5, Logged: math.NaN()})
	if d.Mode != Global || d.Factor != One || d.Basis != ByLoss {
		t.Errorf("%s times %s by %s", d.Mode, d.Factor.Name, d.Basis)
	}
}

// TestSums: what the trace of a loop tells whose losses are sums, which something divides by a count.
func TestSums(t *testing.T) {
	for _, c := range []struct {
		inverted, reduced, divided Answer
		ranks                      int
		mode                       Mode
		factor                     string
	}{
		{Yes, No, No, 1, Global, ""}, {Yes, NotKnown, Yes, 1, Global, ""}, {No, No, No, 1, Unknown, ""},
		{NotKnown, No, No, 1, Unknown, ""}, {Yes, Yes, No, 2, Global, ""}, {Yes, Yes, Yes, 2, Global, ""},
		{Yes, Yes, No, 0, Global, ""}, {Yes, No, No, 2, PerRank, "1"}, {Yes, No, Yes, 2, Unknown, ""},
		{Yes, No, NotKnown, 2, Unknown, ""}, {Yes, NotKnown, No, 2, Unknown, ""}, {Yes, No, No, 0, Unknown, ""},
	} {
		d := Decide(&Observation{Inverted: c.inverted, Reduced: c.reduced, Divided: c.divided, Ranks: c.ranks, Mean: No,
			Optimised: math.NaN(), Logged: math.NaN(), Divisor: math.NaN()})
		if d.Mode != c.mode || d.Factor.Name != c.factor {
			t.Errorf("%+v: %s times %q", c, d.Mode, d.Factor.Name)
		}
	}
}
