package ranks

import "fmt"

// numbered finds items by their sequence number. Messages that are sent together may
// share one; then their order under that number tells.
type numbered struct {
	index map[numberedKey]int32
	count map[int64]int32
}

type numberedKey struct {
	seq int64
	nth int32
}

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

// bySeq pairs by sequence numbers; ok is false where one side has none. Collectives
// without one stand before the first or behind the last that has: they follow in
// order, as far as their kernels agree.
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
			continue // cut in the middle of what shares a number
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
		p.failed = fmt.Sprintf("%d collectives of one sequence number differ in what they are: the ranks are not of one run", p.mismatches)
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
	for j, i := first-1, at[first]-1; j >= 0 && i >= 0 && unnumbered(ref, q, j, i); j, i = j-1, i-1 {
		at[j] = i
	}
	for j, i := last+1, at[last]+1; j < len(at) && int(i) < len(q.items) && unnumbered(ref, q, j, i); j, i = j+1, i+1 {
		at[j] = i
	}
}

// unnumbered reports whether two items can be one although a number is missing.
func unnumbered(ref, q *sequence, j int, i int32) bool {
	a, b := &ref.items[j], &q.items[i]
	return (a.seq < 0 || b.seq < 0) && a.compatible(b)
}

// bounds is the first and the last item of the reference that has a partner.
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

// hasGaps reports whether a pairing leaves out anything between its first and last pair.
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
