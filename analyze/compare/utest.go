package compare

import (
	"cmp"
	"math"
	"slices"
)

// uTest is the outcome of a Mann-Whitney U test: U counts the pairs in which the value of
// the first sample is the greater one, ties by half. The probabilities are those of all
// ways to deal the pooled values to two samples of these sizes, ties included, so each
// is from 0 to 1.
type uTest struct {
	u       float64
	less    float64 // of a U of at most this: the first sample tends to the smaller values
	greater float64 // of a U of at least this
	differs float64 // two-sided: twice the smaller of the two, and never more than 1
}

// P is the probability that two samples of one distribution differ as much as these, by
// the two-sided Mann-Whitney U test, from 0 to 1; it is exact for small samples, ties
// included. It is the same for P(new, base).
func P(base, new []float64) float64 { return mannWhitney(base, new).differs }

// mostExact bounds the work of the exact distribution, in additions: 30 values against 30
// need less. Beyond it the normal approximation is used, with the corrections for ties and
// for continuity; there it agrees with the exact p to a few percent of it.
const mostExact = 1 << 22

// mannWhitney tests whether one of two samples tends to have greater values. Without
// values on both sides, or where all are equal, nothing can be told: every p is 1.
//
// Where values tie and the samples are of different sizes the distribution of U is not
// symmetric. Doubling P(U <= min(U, nm-U)), as libraries do that take it for symmetric,
// then counts the wrong tail, and gives p above 1.
func mannWhitney(x, y []float64) uTest {
	groups, u2 := tieGroups(x, y)
	n, m := len(x), len(y)
	if len(groups) < 2 || n == 0 || m == 0 {
		return uTest{float64(n*m) / 2, 1, 1, 1}
	}
	t := uTest{u: float64(u2) / 2}
	least := min(n, m)
	if least*least*max(n, m)*(n+m) <= mostExact {
		t.less, t.greater = exactTails(groups, n, m, u2)
	} else {
		t.less, t.greater = normalTails(groups, n, m, t.u)
	}
	t.differs = min(1, 2*min(t.less, t.greater))
	return t
}

// tieGroups returns how many of the pooled values share each rank, ascending, and twice U.
func tieGroups(x, y []float64) (groups []int, u2 int) {
	type value struct {
		v     float64
		first bool // of x
	}
	var pool []value
	for _, v := range x {
		pool = append(pool, value{v, true})
	}
	for _, v := range y {
		pool = append(pool, value{v, false})
	}
	slices.SortFunc(pool, func(a, b value) int { return cmp.Compare(a.v, b.v) })
	below := 0 // values of y below the group
	for i := 0; i < len(pool); {
		j, own := i, 0
		for ; j < len(pool) && cmp.Compare(pool[i].v, pool[j].v) == 0; j++ {
			if pool[j].first {
				own++
			}
		}
		ties := j - i - own
		u2 += own * (2*below + ties)
		below, i = below+ties, j
		groups = append(groups, own+ties)
	}
	return groups, u2
}

// exactTails counts the ways to deal the values: of those that a group of ties has, r go to
// the first sample. Each of them exceeds the values of the second sample in lower groups,
// and ties with those of its own. The counts are integers that a float holds exactly up to
// 2^53, to 16 digits beyond.
func exactTails(groups []int, n, m, u2 int) (less, greater float64) {
	if n > m { // fewer states, and the same tails for either order of the samples
		greater, less = exactTails(groups, m, n, 2*n*m-u2)
		return less, greater
	}
	ways := make([][]float64, n+1) // by values dealt to the first sample, and twice U
	for i := range ways {
		ways[i] = make([]float64, 2*n*m+1)
	}
	ways[0][0] = 1
	dealt := 0
	for _, size := range groups {
		deal(ways, dealt, size, m)
		dealt += size
	}
	total := 0.0
	for u, w := range ways[n] {
		total += w
		if u <= u2 {
			less += w
		}
		if u >= u2 {
			greater += w
		}
	}
	return less / total, greater / total
}

// deal adds a group of ties to the ways of the values below it, dealt of them; m is the size
// of the second sample. It goes from many values to few, so that what it reads is not yet
// changed; where nothing of the group goes to the first sample, U stays as it is.
func deal(ways [][]float64, dealt, size, m int) {
	for to := min(len(ways)-1, dealt+size); to >= 0; to-- {
		if dealt+size-to > m {
			clear(ways[to])
		}
		choose := 1.0 // of the group, r to the first sample
		for r := 1; r <= min(size, to); r++ {
			choose = choose * float64(size-r+1) / float64(r)
			from := to - r
			second := dealt - from
			if second >= 0 && second+size-r <= m {
				addShifted(ways[to], ways[from][:2*from*second+1], r*(2*second+size-r), choose)
			}
		}
	}
}

// addShifted adds the ways to those whose U is greater by a shift, each times.
func addShifted(sum, ways []float64, shift int, times float64) {
	for u, w := range ways {
		sum[u+shift] += times * w
	}
}

// normalTails approximates both tails by the normal distribution.
func normalTails(groups []int, n, m int, u float64) (less, greater float64) {
	all, ties := float64(n+m), 0.0
	for _, g := range groups {
		t := float64(g)
		ties += t*t*t - t
	}
	product := float64(n) * float64(m)
	sigma := math.Sqrt(product / 12 * (all + 1 - ties/(all*(all-1))))
	phi := func(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }
	return phi((u - product/2 + 0.5) / sigma), phi((product/2 - u + 0.5) / sigma)
}
