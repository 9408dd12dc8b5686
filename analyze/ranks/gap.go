package ranks

import "math"

const (
	// band is how many collectives away from the pair whose ends are nearest an alignment
	// with gaps may go.
	band = 8
	// mostGaps is the share of collectives that may be missing, of which someGaps are
	// allowed in any case. Where more seem to be, the alignment is wrong.
	mostGaps = 0.02
	someGaps = 2
	// impossible is the cost of a cell that cannot be reached. Half of the greatest number
	// leaves room to add to it.
	impossible = math.MaxInt64 / 2
)

// withGaps aligns two sequences on one clock where either lacks a collective here and
// there. Profilers drop events under load, and programs have ranks that log or checkpoint.
//
// It is an edit distance: of all ways to pair items that are active at the same time and
// can be the same collective it takes the cheapest. A pair costs the distance of its ends
// less tolerance, leaving an item out costs tolerance, and at both ends of the recordings
// it costs nothing. As the clock says about where partners are, only a band of the table
// around that is filled in, so time and memory are linear in the length.
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
	begin   move = iota // nothing is paired yet
	pair                // the last item of both is paired
	skip                // the last item of q has no partner
	skipRef             // the last item of the reference has none
)

// table holds the cost of pairing the first i items of q with the first j of the
// reference, for the j that are near to where the clock says.
type table struct {
	ref, q *sequence
	gap    int64      // ns: the cost of leaving out an item
	rows   []tableRow // by i
}

// tableRow is the cells of one i: from is the first j, cell k that of from+k.
type tableRow struct {
	from int
	cost [2*band + 1]int64
	how  [2*band + 1]move
}

// newTable lays out a table whose cells are yet to be filled.
func newTable(ref, q *sequence, gap int64) *table {
	t := &table{ref: ref, q: q, gap: max(gap, 1), rows: make([]tableRow, len(q.items)+1)}
	for i := range t.rows {
		at := nearest(ref, q.items[max(i-1, 0)].end)
		if i > 0 {
			at++ // rows count items, and the nearest one is used up with its partner
		}
		t.rows[i].from = at - band
	}
	return t
}

// cost returns the cost of a cell, impossible outside the band.
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

// fill computes the cells of a row from the row before and, within it, from left to right.
func (t *table) fill(i int) {
	row := &t.rows[i]
	for k := range row.cost {
		if j := row.from + k; j < 0 || j > len(t.ref.items) {
			row.cost[k] = impossible
		} else {
			row.cost[k], row.how[k] = t.cheapest(i, j)
		}
	}
}

// cheapest returns the least cost of a cell and the move to it. Before the first pair all
// items are free.
func (t *table) cheapest(i, j int) (cost int64, how move) {
	cost = impossible
	if i == 0 || j == 0 {
		cost = 0
	}
	if c := t.paired(i, j); c < cost {
		cost, how = c, pair
	}
	if c := t.without(t.cost(i-1, j), j == len(t.ref.items)); c < cost {
		cost, how = c, skip
	}
	if c := t.without(t.cost(i, j-1), i == len(t.q.items)); c < cost {
		cost, how = c, skipRef
	}
	return cost, how
}

// paired returns the cost of a cell whose last two items are paired, impossible if they
// cannot be.
func (t *table) paired(i, j int) int64 {
	before := t.cost(i-1, j-1)
	if before >= impossible {
		return impossible
	}
	a, b := &t.q.items[i-1], &t.ref.items[j-1]
	if !together(a, b) || !a.compatible(b) {
		return impossible
	}
	return before + abs(a.end-b.end) - t.gap
}

// without returns the cost of leaving an item out after cells of cost before. Behind the
// end of the other sequence it is free.
func (t *table) without(before int64, atEnd bool) int64 {
	if atEnd || before >= impossible {
		return before
	}
	return before + t.gap
}

// trace follows the cheapest way back from the end of q, and returns the partners of the
// reference's items, -1 for none, and how many there are.
func (t *table) trace() (at []int32, pairs int) {
	at = make([]int32, len(t.ref.items))
	for j := range at {
		at[j] = -1
	}
	i, j := 0, 0
	best := int64(impossible)
	end := &t.rows[len(t.q.items)]
	for k, c := range end.cost {
		if c < best {
			i, j = len(t.q.items), end.from+k
			best = c
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

// gaps counts the items of both sequences that have no partner, between the first pair and
// the last.
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
