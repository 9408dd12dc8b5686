package compare

import (
	"math"
	"slices"
	"testing"
)

// bruteForce tries every way to deal the pooled values.
func bruteForce(x, y []float64) uTest {
	pool := append(slices.Clone(x), y...)
	u := pairs(x, y)
	var less, greater, total float64
	for set := range 1 << len(pool) {
		var first, second []float64
		for i, v := range pool {
			if set>>i&1 == 1 {
				first = append(first, v)
			} else {
				second = append(second, v)
			}
		}
		if len(first) != len(x) {
			continue
		}
		total++
		if one := pairs(first, second); one <= u {
			less++
			if one == u {
				greater++
			}
		} else {
			greater++
		}
	}
	less, greater = less/total, greater/total
	return uTest{u, less, greater, min(1, 2*min(less, greater))}
}

// pairs is U by its definition.
func pairs(x, y []float64) float64 {
	u := 0.0
	for _, a := range x {
		for _, b := range y {
			switch {
			case a > b:
				u++
			case a == b:
				u += 0.5
			}
		}
	}
	return u
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

func sameTest(a, b uTest) bool {
	return near(a.u, b.u) && near(a.less, b.less) && near(a.greater, b.greater) && near(a.differs, b.differs)
}

// Values from tables of the test, and by hand.
func TestMannWhitney(t *testing.T) {
	count := func(from, to int) (list []float64) {
		for i := from; i <= to; i++ {
			list = append(list, float64(i))
		}
		return list
	}
	for _, c := range []struct {
		name string
		x, y []float64
		want uTest
	}{
		{"nothing", nil, nil, uTest{0, 1, 1, 1}},
		{"nothing on a side", count(1, 5), nil, uTest{0, 1, 1, 1}},
		{"one against one", count(1, 1), count(2, 2), uTest{0, 0.5, 1, 1}},
		{"one against one, the same", count(1, 1), count(1, 1), uTest{0.5, 1, 1, 1}},
		{"one against nineteen", count(0, 0), count(1, 19), uTest{0, 0.05, 1, 0.1}},
		{"2 against 2", count(1, 2), count(3, 4), uTest{0, 1. / 6, 1, 1. / 3}},
		{"3 against 3", count(1, 3), count(4, 6), uTest{0, 0.05, 1, 0.1}},
		{"4 against 4", count(1, 4), count(5, 8), uTest{0, 1. / 70, 1, 2. / 70}},
		{"4 against 4, the other way", count(5, 8), count(1, 4), uTest{16, 1, 1. / 70, 2. / 70}},
		{"5 against 5", count(1, 5), count(6, 10), uTest{0, 1. / 252, 1, 2. / 252}},
		{"alternating", []float64{1, 3, 5}, []float64{2, 4, 6}, uTest{3, 0.35, 0.8, 0.7}},
		{"all the same", []float64{7, 7, 7}, []float64{7, 7}, uTest{3, 1, 1, 1}},
		// Of the 10 ways to deal 1 1 1 1 2, 4 put the 2 into the pair.
		{"only one differs", []float64{1, 2}, []float64{1, 1, 1}, uTest{4.5, 1, 0.4, 0.8}},
		// Taken for symmetric, the distribution of U gives p 1.2 here.
		{"the smaller U is in the other tail", []float64{1, 1}, []float64{1, 1, 2}, uTest{2, 0.6, 1, 1}},
		{"ties in the middle", []float64{1, 2, 2}, []float64{2, 2, 3}, uTest{2, 0.3, 1, 0.6}},
	} {
		if got := mannWhitney(c.x, c.y); !sameTest(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

// Every pair of samples of up to five values from a few agrees with the definition.
func TestMannWhitneyExact(t *testing.T) {
	seed := uint32(1)
	random := func(n int) int {
		seed = seed*1664525 + 1013904223
		return int(seed>>16) % n
	}
	for n := 1; n <= 6; n++ {
		for m := 1; m <= 6; m++ {
			for range 20 {
				x, y := make([]float64, n), make([]float64, m)
				different := 1 + random(8)
				for i := range x {
					x[i] = float64(random(different))
				}
				for i := range y {
					y[i] = float64(random(different))
				}
				got, want := mannWhitney(x, y), bruteForce(x, y)
				if len(slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(x), y...))))) == 1 {
					want = uTest{want.u, 1, 1, 1}
				}
				if !sameTest(got, want) {
					t.Fatalf("%v against %v: got %v, want %v", x, y, got, want)
				}
			}
		}
	}
}

// Where the exact distribution becomes too much work the approximation takes over without
// a jump, also with ties.
func TestMannWhitneyApproximation(t *testing.T) {
	for _, different := range []int{4, 17, 1000} {
		for _, further := range []int{0, 3, 6, 9} {
			x, y := make([]float64, 28), make([]float64, 30)
			for i := range x {
				x[i] = float64(i * 7919 % different)
			}
			for i := range y {
				y[i] = float64(i*6007%different + further*different/20)
			}
			groups, u2 := tieGroups(x, y)
			less, greater := exactTails(groups, len(x), len(y), u2)
			roughLess, roughGreater := normalTails(groups, len(x), len(y), float64(u2)/2)
			if math.Abs(less-roughLess) > 0.02 || math.Abs(greater-roughGreater) > 0.02 {
				t.Errorf("%d values, %d further: exact %v %v, approximately %v %v",
					different, further, less, greater, roughLess, roughGreater)
			}
		}
	}
	many := make([]float64, 5000)
	for i := range many {
		many[i] = float64(i * 7919 % 5000)
	}
	if p := P(many, many); p != 1 {
		t.Errorf("five thousand values against themselves: p %v", p)
	}
	if p := P(many[:2000], many[2000:]); p < 0.01 {
		t.Errorf("two halves of one sequence: p %v", p)
	}
}

// FuzzMannWhitney: p is a probability, the same whichever sample is first, and neither the
// order of values nor a change of unit or sign matters.
func FuzzMannWhitney(f *testing.F) {
	f.Add([]byte{1, 2, 3}, []byte{4, 5, 6})
	f.Add([]byte{0, 0}, []byte{0, 0, 1})
	f.Add([]byte{1}, []byte{})
	f.Add([]byte{9, 9, 9, 9, 9, 9, 1}, []byte{9, 9, 9, 9, 8, 8, 8, 8, 8, 9, 9, 9, 9})
	f.Fuzz(func(t *testing.T, a, b []byte) {
		x, y := floats(a[:min(len(a), 24)]), floats(b[:min(len(b), 24)])
		got := mannWhitney(x, y)
		for _, p := range []float64{got.less, got.greater, got.differs} {
			if !(p >= 0 && p <= 1) {
				t.Fatalf("%v against %v: %v is no probability", x, y, got)
			}
		}
		if got.less+got.greater < 1-1e-9 {
			t.Errorf("%v against %v: the tails %v do not cover everything", x, y, got)
		}
		if len(x)*len(y) > 0 && !near(got.u, pairs(x, y)) {
			t.Errorf("%v against %v: U %v, not %v", x, y, got.u, pairs(x, y))
		}
		back := uTest{float64(len(x)*len(y)) - got.u, got.greater, got.less, got.differs}
		if other := mannWhitney(y, x); !sameTest(other, back) {
			t.Errorf("%v against %v: %v, the other way %v", x, y, got, other)
		}
		for i := range x {
			x[i] = -3*x[i] + 1
		}
		for i := range y {
			y[i] = -3*y[i] + 1
		}
		slices.Reverse(x)
		if other := mannWhitney(x, y); !sameTest(other, back) {
			t.Errorf("%v against %v: %v, of the negative values %v", x, y, got, other)
		}
		if len(x)+len(y) <= 11 && len(x)*len(y) > 0 {
			if want := bruteForce(x, y); !near(mannWhitney(x, y).differs, want.differs) {
				t.Errorf("%v against %v: want %v", x, y, want)
			}
		}
	})
}

func floats(b []byte) []float64 {
	list := make([]float64, len(b))
	for i, v := range b {
		list[i] = float64(v)
	}
	return list
}
