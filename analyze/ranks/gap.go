package ranks

import "math"

// band is how far, in collectives, an alignment with gaps may leave the place where
// the ends lie nearest; mostGaps is the share of collectives that may be missing, and
// some are always allowed.
const (
	band       = 8
	mostGaps   = 0.02
	someGaps   = 2
	impossible = math.MaxInt64 / 2
)

// withGaps aligns two sequences on one clock of which one lacks a collective here and
// there. Of all ways to pair what is active at the same time and can be one collective
// it takes the cheapest: a pair costs the distance of its ends less tolerance, leaving
// one out costs tolerance, and nothing at both ends of the recordings. It takes time
// and memory linear in the length: a band around the clock's diagonal.
func withGaps(ref, q *sequence, tolerance int64) (pairing, bool) {
	t := newTable(ref, q, tolerance)
	for i := range t.rows {
		t.fill(i)
	}
	at, pairs := t.trace()
	p := pairing{at: at, gapped: true}
	if pairs < leastPairs || pairs < min(len(ref.items), len(q.items))/2 {
		return p, false
	}
	return p, t.gaps(at) <= max(someGaps, int(mostGaps*float64(pairs)))
}

// move is how a cell of the table is reached.
type move uint8

const (
	begin move = iota
	pair
	skip    // an item of q has no partner
	skipRef // an item of the reference has none
)

// table holds the cost of pairing the first i items of q with the first j of the
// reference, for j near the place that the clock says.
type table struct {
	ref, q *sequence
	gap    int64
	rows   []tableRow
}

type tableRow struct {
	from int // the first j
	cost [2*band + 1]int64
	how  [2*band + 1]move
}

func newTable(ref, q *sequence, gap int64) *table {
	t := &table{ref: ref, q: q, gap: max(gap, 1), rows: make([]tableRow, len(q.items)+1)}
	for i := range t.rows {
		at := nearest(ref, q.items[max(i-1, 0)].end)
		if i > 0 {
			at++ // as many are used up when its partner is
		}
		t.rows[i].from = at - band
	}
	return t
}

// cost is that of a cell; outside of the band it cannot be reached.
func (t *table) cost(i, j int) int64 {
	if i < 0 || j < 0 || j > len(t.ref.items) {
		return impossible
	}
	k := j - t.rows[i].from
	if k < 0 || k > 2*band {
		return impossible
	}
	return t.rows[i].cost[k]
}

// fill computes a row. Items before the first pair and behind the last are free.
func (t *table) fill(i int) {
	row := &t.rows[i]
	for k := range row.cost {
		j := row.from + k
		if j < 0 || j > len(t.ref.items) {
			row.cost[k] = impossible
			continue
		}
		cost, how := int64(impossible), begin
		if i == 0 || j == 0 {
			cost = 0
		}
		if c := t.paired(i, j); c < cost {
			cost, how = c, pair
		}
		if c := t.cost(i-1, j); c < impossible && i > 0 && c+t.price(j == len(t.ref.items)) < cost {
			cost, how = c+t.price(j == len(t.ref.items)), skip
		}
		if k > 0 && row.cost[k-1] < impossible && row.cost[k-1]+t.price(i == len(t.q.items)) < cost {
			cost, how = row.cost[k-1]+t.price(i == len(t.q.items)), skipRef
		}
		row.cost[k], row.how[k] = cost, how
	}
}

// paired is the cost if the last of the first i items and the last of the first j of the
// reference are one collective.
func (t *table) paired(i, j int) int64 {
	if i == 0 || j == 0 {
		return impossible
	}
	a, b := &t.q.items[i-1], &t.ref.items[j-1]
	c := t.cost(i-1, j-1)
	if c >= impossible || !together(a, b) || !a.compatible(b) {
		return impossible
	}
	return c + abs(a.end-b.end) - t.gap
}

// price is what leaving an item out costs; behind the end of the other it is free.
func (t *table) price(atEnd bool) int64 {
	if atEnd {
		return 0
	}
	return t.gap
}

// trace reads the cheapest way back from the end of q, or from the end of the
// reference in the row where that is cheapest.
func (t *table) trace() (at []int32, pairs int) {
	at = make([]int32, len(t.ref.items))
	for j := range at {
		at[j] = -1
	}
	i, j, best := 0, 0, int64(impossible)
	for k := range t.rows[len(t.q.items)].cost {
		if c := t.rows[len(t.q.items)].cost[k]; c < best {
			i, j, best = len(t.q.items), t.rows[len(t.q.items)].from+k, c
		}
	}
	for i > 0 && j > 0 {
		switch t.rows[i].how[j-t.rows[i].from] {
		case pair:
			i, j = i-1, j-1
			at[j] = int32(i)
			pairs++
		case skip:
			i--
		case skipRef:
			j--
		default:
			return at, pairs
		}
	}
	return at, pairs
}

// gaps counts what has no partner between the first and the last pair, on both sides.
func (t *table) gaps(at []int32) int {
	first, last := bounds(at)
	if first < 0 {
		return 0
	}
	n, before := 0, at[first]-1
	for _, i := range at[first : last+1] {
		if i < 0 {
			n++
			continue
		}
		n += int(i - before - 1)
		before = i
	}
	return n
}
