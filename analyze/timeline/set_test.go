package timeline

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// spans makes a set of pairs, in order of start.
func spans(pairs ...int64) *Set {
	s := &Set{}
	for i := 0; i < len(pairs); i += 2 {
		s.Add(pairs[i], pairs[i+1])
	}
	return s
}

func TestSetArithmetic(t *testing.T) {
	for _, test := range []struct {
		name          string
		a, b          *Set
		overlap, rest int64
	}{
		{"both empty", spans(), spans(), 0, 0},
		{"one empty", spans(1, 5), spans(), 0, 4},
		{"zero length", spans(3, 3), spans(1, 5), 0, 0},
		{"equal", spans(1, 5), spans(1, 5), 4, 0},
		{"touching", spans(1, 5), spans(5, 9), 0, 4},
		{"touching inside one set", spans(1, 5, 5, 9), spans(4, 6), 2, 6},
		{"nested", spans(1, 9), spans(3, 5), 2, 6},
		{"nested in one set", spans(1, 9, 3, 5), spans(8, 12), 1, 7},
		{"across several", spans(1, 3, 5, 7, 9, 11), spans(2, 10), 4, 2},
		{"negative times", spans(-9, -5), spans(-6, 2), 1, 3},
		{"hole by hole", spans(0, 100), spans(10, 20, 30, 40, 95, 200), 25, 75},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := test.a.Overlap(test.b); got != test.overlap || test.b.Overlap(test.a) != test.overlap {
				t.Errorf("overlap %d, want %d", got, test.overlap)
			}
			if got := test.a.Minus(test.b).Len(); got != test.rest {
				t.Errorf("rest %d, want %d", got, test.rest)
			}
		})
	}
}

func TestWithin(t *testing.T) {
	s := spans(10, 20, 30, 40)
	for _, test := range []struct{ from, to, want int64 }{
		{0, 10, 0}, {0, 11, 1}, {10, 20, 10}, {15, 35, 10}, {20, 30, 0},
		{39, 100, 1}, {40, 100, 0}, {0, 100, 20}, {50, 5, 0}, {12, 12, 0},
	} {
		if got := s.Within(test.from, test.to); got != test.want {
			t.Errorf("Within(%d, %d) = %d, want %d", test.from, test.to, got, test.want)
		}
	}
}

// TestSetAgainstBits compares random sets with one bit an instant.
func TestSetAgainstBits(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const size = 200
	for range 500 {
		var bits [2][size]bool
		sets := [2]*Set{{}, {}}
		for k := range sets {
			at := int64(0)
			for at < size-20 {
				at += rng.Int64N(15)
				end := min(at+rng.Int64N(20), size)
				sets[k].Add(at, end)
				for i := at; i < end; i++ {
					bits[k][i] = true
				}
			}
		}
		var overlap, rest int64
		for i := range size {
			a, b := bits[0][i], bits[1][i]
			overlap += count(a && b)
			rest += count(a && !b)
		}
		a, b := sets[0], sets[1]
		if a.Overlap(b) != overlap || a.Minus(b).Len() != rest {
			t.Fatalf("%v %v: overlap %d/%d rest %d/%d", a, b, a.Overlap(b), overlap, a.Minus(b).Len(), rest)
		}
		if sum := a.Plus(b).Len(); sum != rest+b.Len() || sum != b.Plus(a).Len() {
			t.Fatalf("%v plus %v: %d, want %d", a, b, sum, rest+b.Len())
		}
		if a.Overlap(b)+a.Minus(b).Len() != a.Len() {
			t.Fatal("overlap and rest do not add up")
		}
	}
}

func count(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func TestSetWrittenAndRead(t *testing.T) {
	for _, s := range []*Set{{}, spans(0, 1), spans(-5, 3, 10, 12, 13, 1<<62)} {
		data, err := s.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		var read Set
		if err := read.UnmarshalBinary(data); err != nil {
			t.Fatal(err)
		}
		if read.total != s.total || !slices.Equal(read.start, s.start) || !slices.Equal(read.before, s.before) {
			t.Errorf("%v became %v", s, read)
		}
		for cut := range data {
			if err := new(Set).UnmarshalBinary(data[:cut]); err == nil {
				t.Errorf("%v cut to %d of %d bytes is read", s, cut, len(data))
			}
		}
	}
	for _, bad := range [][]byte{{0, 0}, {1, 0, 0}, {1, 0, 1}, {2, 0, 2, 0, 2}, {255, 255, 255, 255, 15}} {
		if err := new(Set).UnmarshalBinary(bad); err == nil {
			t.Errorf("%v is read", bad)
		}
	}
}
