package ranks

import (
	"fmt"
	"slices"
	"sort"

	"github.com/gaprof/gaprof/internal/units"
)

// pairing says which item of a sequence is which of the reference.
type pairing struct {
	at         []int32 // by item of the reference: the item of the sequence, -1 none
	ambiguous  bool    // two fit
	gapped     bool    // it has collectives missing in the middle, on either side
	mismatches int     // pairs that would have to be one collective and cannot be
	failed     string  // why there is none; empty if there is one
}

// ambiguity is how many times further away the second best alignment must be.
const ambiguity = 10

// mostShifts bounds how many alignments are looked at where clocks are not trusted,
// and leastPairs is how many collectives such an alignment needs.
const (
	mostShifts = 64
	leastPairs = 4
)

// align pairs a sequence with the reference.
//
//  1. By sequence numbers, where both have them.
//  2. By the shift without a mismatch whose ends lie nearest to each other, if the
//     second nearest is ten times further and the ends are no further apart than
//     collectives last.
//  3. Else the clocks may differ: by the shift whose ends are all equally far apart.
//  4. Else, and where collectives that should be one do not even overlap in time, one
//     may be missing: with gaps, if the clocks are the same.
func align(ref, q *sequence, power []uint64) pairing {
	if p, ok := bySeq(ref, q); ok {
		return p
	}
	tolerance := (medianDuration(ref) + medianDuration(q)) / 2
	p := byEnds(ref, q, power, tolerance)
	if p.failed == "" && disjoint(ref, q, p.at) == 0 {
		return p
	}
	if p.failed != "" {
		if loose, ok := byDifferences(ref, q, power, tolerance); ok {
			return loose
		}
	}
	if g, ok := withGaps(ref, q, tolerance); ok && !p.ambiguous {
		return g
	}
	return p // where pairs do not overlap, they give no figure later
}

// shifted pairs item i with item i+shift of the reference.
func shifted(ref, q *sequence, shift int) []int32 {
	at := make([]int32, len(ref.items))
	for j := range at {
		at[j] = -1
		if i := j - shift; i >= 0 && i < len(q.items) {
			at[j] = int32(i)
		}
	}
	return at
}

// overlap is the items of q that a shift pairs: [from, to).
func overlap(ref, q *sequence, shift int) (from, to int) {
	return max(0, -shift), min(len(q.items), len(ref.items)-shift)
}

// fits reports whether a shift is without a mismatch.
func fits(ref, q *sequence, power []uint64, shift int) bool {
	from, to := overlap(ref, q, shift)
	if from >= to || q.stretch(power, from, to) != ref.stretch(power, from+shift, to+shift) {
		return false
	}
	return mismatches(ref, q, shift, 1) == 0
}

// mismatches counts, up to limit, the pairs of a shift that cannot be one collective.
func mismatches(ref, q *sequence, shift, limit int) int {
	from, to := overlap(ref, q, shift)
	n := 0
	for i := from; i < to && n < limit; i++ {
		if !q.items[i].compatible(&ref.items[i+shift]) {
			n++
		}
	}
	return n
}

// byEnds finds the shift without a mismatch whose ends lie nearest. As the ends of
// both sequences ascend, the distance grows to both sides of one place: it is enough
// to look there for the nearest two.
func byEnds(ref, q *sequence, power []uint64, tolerance int64) pairing {
	center := nearestShift(ref, q)
	shifts := around(ref, q, power, center, 2)
	if len(shifts) == 0 {
		n := mismatches(ref, q, center, len(q.items))
		return pairing{mismatches: n, failed: "no alignment is without a mismatch"}
	}
	best, second, at := int64(-1), int64(-1), 0
	for _, s := range shifts {
		switch d := endDistance(ref, q, s); {
		case best < 0 || d < best:
			best, second, at = d, best, s
		case second < 0 || d < second:
			second = d
		}
	}
	p := pairing{at: shifted(ref, q, at), ambiguous: best <= tolerance && second >= 0 && second < ambiguity*max(best, 1)}
	switch {
	case best > tolerance:
		p.failed = fmt.Sprintf("in the best alignment the ends of one collective are %s apart, which is longer than collectives last", units.Duration(best))
	case p.ambiguous:
		p.failed = fmt.Sprintf("two alignments fit: their ends are %s and %s apart", units.Duration(best), units.Duration(second))
	}
	return p
}

// around lists the shifts without a mismatch next to center: up to n on each side,
// center itself counting as one of the right.
func around(ref, q *sequence, power []uint64, center, n int) []int {
	var list []int
	for s, found := center, 0; s < len(ref.items) && found < n; s++ {
		if fits(ref, q, power, s) {
			list = append(list, s)
			found++
		}
	}
	for s, found := center-1, 0; s > -len(q.items) && found < n; s-- {
		if fits(ref, q, power, s) {
			list = append(list, s)
			found++
		}
	}
	return list
}

// nearestShift is the shift that the ends ask for: the median, over some items, of
// the distance to the item of the reference that ends nearest. Recordings that do not
// overlap are laid end to end.
func nearestShift(ref, q *sequence) int {
	const samples = 63
	var shifts []int
	last := len(ref.items) - 1
	for k := range samples {
		i := k * len(q.items) / samples
		if j := nearest(ref, q.items[i].end); j > 0 && j < last || ref.items[j].end == q.items[i].end {
			shifts = append(shifts, j-i)
		}
	}
	if len(shifts) == 0 {
		return len(ref.items) - len(q.items)
	}
	slices.Sort(shifts)
	return shifts[len(shifts)/2]
}

// nearest is the item that ends nearest to a moment.
func nearest(ref *sequence, end int64) int {
	n := len(ref.items)
	j := sort.Search(n, func(j int) bool { return ref.items[j].end >= end })
	switch {
	case j == n:
		return n - 1
	case j > 0 && end-ref.items[j-1].end <= ref.items[j].end-end:
		return j - 1
	}
	return j
}

// endDistance is the median distance of ends, in ns.
func endDistance(ref, q *sequence, shift int) int64 {
	return median(apply(endDifferences(ref, q, shift), abs))
}

// endDifferences is how much later q has each collective end, in ns.
func endDifferences(ref, q *sequence, shift int) []int64 {
	from, to := overlap(ref, q, shift)
	list := make([]int64, 0, to-from)
	for i := from; i < to; i++ {
		list = append(list, q.items[i].end-ref.items[i+shift].end)
	}
	return list
}

// disjoint counts the pairs that are never active at the same time: no collective is
// like that, for its transfer takes all ranks.
func disjoint(ref, q *sequence, at []int32) int {
	n := 0
	for j, i := range at {
		if i >= 0 && !together(&ref.items[j], &q.items[i]) {
			n++
		}
	}
	return n
}

func together(a, b *item) bool { return a.start < b.end && b.start < a.end }

// byDifferences aligns where the clocks differ by a constant: at the right shift the
// differences of ends are nearly equal. It asks for more: a second alignment must be
// ten times worse, half of the shorter sequence must take part, and the clocks may
// not be further apart than half of what is compared lasts.
func byDifferences(ref, q *sequence, power []uint64, tolerance int64) (pairing, bool) {
	need := max(leastPairs, min(len(ref.items), len(q.items))/2)
	best, second, at := int64(-1), int64(-1), 0
	for _, s := range around(ref, q, power, nearestShift(ref, q), mostShifts) {
		from, to := overlap(ref, q, s)
		if to-from < need {
			continue
		}
		differences := endDifferences(ref, q, s)
		offset := median(slices.Clone(differences))
		if abs(offset) > (q.items[to-1].end-q.items[from].start)/2 {
			continue
		}
		spread := median(apply(differences, func(d int64) int64 { return abs(d - offset) }))
		switch {
		case best < 0 || spread < best:
			best, second, at = spread, best, s
		case second < 0 || spread < second:
			second = spread
		}
	}
	if best < 0 || best > tolerance || second >= 0 && second < ambiguity*max(best, 1) {
		return pairing{}, false
	}
	return pairing{at: shifted(ref, q, at)}, true
}

// medianDuration is the median length of a sequence's collectives in ns.
func medianDuration(q *sequence) int64 {
	list := make([]int64, len(q.items))
	for i := range q.items {
		list[i] = q.items[i].end - q.items[i].start
	}
	return median(list)
}

// median sorts a list and returns its middle, of an even number the mean of the two
// in the middle rounded towards zero; 0 of none.
func median(list []int64) int64 {
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	n := len(list)
	low, high := list[(n-1)/2], list[n/2]
	return low + (high-low)/2
}

// apply replaces every value by f of it.
func apply(list []int64, f func(int64) int64) []int64 {
	for i, v := range list {
		list[i] = f(v)
	}
	return list
}

func abs(n int64) int64 { return max(n, -n) }
