package ranks

import "fmt"

// numbered finds items by their sequence number. Collectives that are coalesced into one
// launch share a number; their order under it distinguishes them.
type numbered struct {
	items []int32       // indexes of the items that have a number, in order
	keys  []numberedKey // of items
	index map[numberedKey]int32
	count map[number]int32 // how many items carry it
}

// numberedKey is the nth item with a number.
type numberedKey struct {
	number number
	nth    int32
}

// number is what says that items of several ranks are the same: the sequence number in the
// process group and, if it can be compared, the Comms Id, which differs where one group has
// several communicators that count for themselves.
type number struct {
	seq   int64
	comms uint64 // 0 where it does not count
}

// numberItems indexes the items of a sequence that have a number.
func numberItems(q *sequence, comms bool) numbered {
	n := numbered{index: make(map[numberedKey]int32), count: make(map[number]int32)}
	for i := range q.items {
		it := &q.items[i]
		if it.seq < 0 {
			continue
		}
		of := number{seq: it.seq}
		if comms {
			of.comms = it.comms
		}
		key := numberedKey{of, n.count[of]}
		n.items, n.keys = append(n.items, int32(i)), append(n.keys, key)
		n.index[key] = int32(i)
		n.count[of]++
	}
	return n
}

// sharesComms reports whether the Comms Ids of two sequences can be compared: all numbered
// items of both have one, and some id is on both. It is a hash, which another build of
// PyTorch may compute in another way; then sequence numbers have to do.
func sharesComms(a, b *sequence) bool {
	seen := make(map[uint64]bool)
	for i := range a.items {
		if it := &a.items[i]; it.seq >= 0 {
			seen[it.comms] = true
		}
	}
	shared := false
	for i := range b.items {
		if it := &b.items[i]; it.seq >= 0 {
			shared = shared || seen[it.comms]
			if it.comms == 0 {
				return false
			}
		}
	}
	return shared && !seen[0]
}

// bySeq pairs by sequence numbers; ok is false if one side has none. It needs neither times
// nor an alignment, so it is exact even where clocks are hours apart.
//
// Collectives without a number are those launched before the recording began, or after it
// ended, and those of replayed graphs; they are paired by order, between the numbered ones
// where as many agree, and outwards from them, while they agree.
func bySeq(ref, q *sequence) (p pairing, ok bool) {
	comms := sharesComms(ref, q)
	a, b := numberItems(ref, comms), numberItems(q, comms)
	if len(a.items) == 0 || len(b.items) == 0 {
		return p, false
	}
	if p.basis = ByNumber; comms {
		p.basis = ByComms
	}
	p.at = make([]int32, len(ref.items))
	for j := range p.at {
		p.at[j] = -1
	}
	pairs := 0
	for k, key := range b.keys {
		j, both := a.index[key]
		if !both || a.count[key.number] != b.count[key.number] {
			continue // one recording was cut off between collectives that share the number
		}
		i := b.items[k]
		if !q.items[i].same(&ref.items[j]) {
			p.mismatches++
			p.conflict(j, i)
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
		p.failed = "the two have no sequence number in common: the recordings do not overlap, or are of different runs"
	default:
		fill(ref, q, p.at)
		extend(ref, q, p.at)
		p.gapped = hasGaps(p.at)
	}
	return p, true
}

// mostConflicts is how many pairs of a rank are kept that have one number and differ.
const mostConflicts = 3

// conflict notes that item j of the reference and item i of the sequence have one number
// and cannot be the same collective.
func (p *pairing) conflict(j, i int32) {
	if len(p.conflicts) < mostConflicts {
		p.conflicts = append(p.conflicts, [2]int32{j, i})
	}
}

// fill pairs what has no number between two that are paired, where both sides have as many
// and each can be the same.
func fill(ref, q *sequence, at []int32) {
	last, _ := bounds(at)
	for j := last + 1; j < len(at); j++ {
		if at[j] < 0 {
			continue
		}
		fits := int(at[j]-at[last]) == j-last
		for k := 1; fits && last+k < j; k++ {
			fits = unnumbered(ref, q, last+k, at[last]+int32(k))
		}
		for k := 1; fits && last+k < j; k++ {
			at[last+k] = at[last] + int32(k)
		}
		last = j
	}
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
