package ranks

import "fmt"

// numbered finds items by their sequence number. Collectives that are coalesced into one
// launch share a number; their order under it distinguishes them.
type numbered struct {
	index map[numberedKey]int32
	count map[int64]int32 // by sequence number: how many items carry it
}

// numberedKey is the nth item with a sequence number.
type numberedKey struct {
	seq int64
	nth int32
}

// number indexes the items of a sequence that have a number.
func number(q *sequence) numbered {
	n := numbered{make(map[numberedKey]int32), make(map[int64]int32)}
	for i := range q.items {
		if seq := q.items[i].seq; seq >= 0 {
			n.index[numberedKey{seq, n.count[seq]}] = int32(i)
			n.count[seq]++
		}
	}
	return n
}

// bySeq pairs by sequence numbers; ok is false if one side has none. It needs neither times
// nor an alignment, so it is exact even where clocks are hours apart.
//
// Collectives without a number are those launched before the recording began, or after it
// ended; they are paired by order, outwards from the numbered ones, while they agree.
func bySeq(ref, q *sequence) (p pairing, ok bool) {
	a, b := number(ref), number(q)
	if len(a.index) == 0 || len(b.index) == 0 {
		return p, false
	}
	p.at = make([]int32, len(ref.items))
	for j := range p.at {
		p.at[j] = -1
	}
	pairs := 0
	for key, i := range b.index {
		j, both := a.index[key]
		if !both || a.count[key.seq] != b.count[key.seq] {
			continue // one recording was cut off between collectives that share the number
		}
		if !q.items[i].compatible(&ref.items[j]) {
			p.mismatches++
			continue
		}
		p.at[j] = i
		pairs++
	}
	switch {
	case p.mismatches > 0:
		p.failed = fmt.Sprintf("%d collectives of one sequence number differ in what they are: "+
			"the ranks are not of one run", p.mismatches)
	case pairs == 0:
		p.failed = "no sequence number is on both: the recordings do not overlap, or are of different runs"
	default:
		extend(ref, q, p.at)
		p.gapped = hasGaps(p.at)
	}
	return p, true
}

// extend pairs what has no number, outwards from both ends of what is paired.
func extend(ref, q *sequence, at []int32) {
	first, last := bounds(at)
	for j, i := first-1, at[first]-1; unnumbered(ref, q, j, i); j, i = j-1, i-1 {
		at[j] = i
	}
	for j, i := last+1, at[last]+1; unnumbered(ref, q, j, i); j, i = j+1, i+1 {
		at[j] = i
	}
}

// unnumbered reports whether item j of the reference and item i of q both exist, and can be
// the same collective although a number is missing.
func unnumbered(ref, q *sequence, j int, i int32) bool {
	if j < 0 || i < 0 || j >= len(ref.items) || int(i) >= len(q.items) {
		return false
	}
	a, b := &ref.items[j], &q.items[i]
	return (a.seq < 0 || b.seq < 0) && a.compatible(b)
}

// bounds returns the first and the last item of the reference that has a partner, -1 and -1
// without any.
func bounds(at []int32) (first, last int) {
	first, last = -1, -1
	for j, i := range at {
		if i < 0 {
			continue
		}
		if first < 0 {
			first = j
		}
		last = j
	}
	return first, last
}

// hasGaps reports whether a pairing leaves out anything, on either side, between its first
// and its last pair.
func hasGaps(at []int32) bool {
	first, last := bounds(at)
	if first < 0 {
		return false
	}
	before := at[first] - 1
	for _, i := range at[first : last+1] {
		if i != before+1 {
			return true
		}
		before = i
	}
	return false
}
