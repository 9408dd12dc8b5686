package ranks

import (
	"fmt"
	"slices"
	"sort"

	"github.com/gaprof/gaprof/internal/units"
)

// pairing says which item of a sequence is which item of the reference.
type pairing struct {
	at         []int32 // by item of the reference: the item of the sequence, -1 for none
	basis      Basis
	ambiguous  bool       // a second alignment fits nearly as well
	gapped     bool       // an item in the middle of either has no partner
	mismatches int        // pairs that would have to be the same collective and cannot be
	conflicts  [][2]int32 // the first few of them that have one number, the reference's item first
	failed     string     // why there is no pairing, "" if there is one
}

const (
	// ambiguity is how many times further apart the ends of the second best alignment must
	// be. Steps repeat, so an alignment that is off by a whole step has no mismatch either;
	// its ends are off by a step, which is far more than ten times the noise of clocks.
	ambiguity = 10
	// mostShifts bounds how many alignments are tried where clocks are not trusted.
	mostShifts = 64
	// leastPairs is how many collectives an alignment needs that does not rest on clocks
	// or has gaps: with fewer, chance would find one.
	leastPairs = 4
)

// align pairs a sequence with the reference, by the strongest evidence that both have.
//
//  1. By sequence numbers, where both have them.
//  2. By the shift without a mismatch whose ends are nearest to each other, if the second
//     nearest is ten times further away and the ends are no further apart than
//     collectives last.
//  3. Else the clocks may differ: by the shift whose ends are all equally far apart.
//  4. Else, and where collectives that should be the same do not even overlap in time, one
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

// shifted pairs item i of q with item i+shift of the reference.
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

// overlap returns the items of q that a shift pairs: [from, to).
func overlap(ref, q *sequence, shift int) (from, to int) {
	return max(0, -shift), min(len(q.items), len(ref.items)-shift)
}

// fits reports whether a shift is without a mismatch. The hash rejects nearly all wrong
// shifts at once; what passes is compared item by item, as messages differ, too.
func fits(ref, q *sequence, power []uint64, shift int) bool {
	from, to := overlap(ref, q, shift)
	if from >= to || q.stretch(power, from, to) != ref.stretch(power, from+shift, to+shift) {
		return false
	}
	return mismatches(ref, q, shift, 1) == 0
}

// mismatches counts, up to limit, the pairs of a shift that cannot be the same collective.
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

// closest is the best of several shifts, and how good the second best was.
type closest struct {
	shift        int
	best, second int64 // ns, the less the better; -1 for none
}

// offer takes a shift into account.
func (c *closest) offer(shift int, distance int64) {
	switch {
	case c.best < 0 || distance < c.best:
		c.second = c.best
		c.shift, c.best = shift, distance
	case c.second < 0 || distance < c.second:
		c.second = distance
	}
}

// ambiguous reports whether the second best is too good for the best to be trusted.
func (c *closest) ambiguous() bool { return c.second >= 0 && c.second < ambiguity*max(c.best, 1) }

// byEnds finds the shift without a mismatch whose ends are nearest. The ends of both
// sequences ascend, so the distance grows with the shift's distance from the best one, and
// the two candidates on either side of that are all that can be best or second best.
func byEnds(ref, q *sequence, power []uint64, tolerance int64) pairing {
	center := nearestShift(ref, q)
	shifts := around(ref, q, power, center, 2)
	if len(shifts) == 0 {
		n := mismatches(ref, q, center, len(q.items))
		return pairing{mismatches: n, failed: "every alignment has a mismatch"}
	}
	c := closest{best: -1, second: -1}
	for _, s := range shifts {
		c.offer(s, endDistance(ref, q, s))
	}
	p := pairing{at: shifted(ref, q, c.shift), ambiguous: c.best <= tolerance && c.ambiguous()}
	switch {
	case c.best > tolerance:
		p.failed = fmt.Sprintf("in the best alignment the ends of one collective are %s apart, "+
			"which is longer than the collectives take", units.Duration(c.best))
	case p.ambiguous:
		p.failed = fmt.Sprintf("two alignments fit: their ends are %s and %s apart",
			units.Duration(c.best), units.Duration(c.second))
	}
	return p
}

// around lists the shifts without a mismatch next to center: up to n from center upwards
// and n below it.
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

// nearestShift returns the shift that the clock suggests: the median, over a sample of
// items, of the distance to the item of the reference that ends nearest. Recordings that do
// not overlap are aligned at their ends.
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

// nearest returns the item that ends nearest to an instant, the earlier of two.
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

// endDistance returns the median distance between the ends that a shift pairs, in ns. A
// mean would let one collective that a rank left late decide.
func endDistance(ref, q *sequence, shift int) int64 {
	return median(apply(endDifferences(ref, q, shift), abs))
}

// endDifferences returns how much later each collective ends in q than in the reference, in
// ns.
func endDifferences(ref, q *sequence, shift int) []int64 {
	from, to := overlap(ref, q, shift)
	list := make([]int64, 0, to-from)
	for i := from; i < to; i++ {
		list = append(list, q.items[i].end-ref.items[i+shift].end)
	}
	return list
}

// disjoint counts the pairs that are never active at the same time. No collective is like
// that, because its transfer takes all ranks.
func disjoint(ref, q *sequence, at []int32) int {
	n := 0
	for j, i := range at {
		if i >= 0 && !together(&ref.items[j], &q.items[i]) {
			n++
		}
	}
	return n
}

// together reports whether two items are active at the same time at some instant.
func together(a, b *item) bool { return a.start < b.end && b.start < a.end }

// byDifferences aligns sequences whose clocks differ by a constant: at the right shift the
// differences of ends are nearly equal. As it gives up the evidence of the clocks it asks
// for more of the rest: the second best alignment must be ten times worse, half of the
// shorter sequence must be paired, and the clocks may not be further apart than half of
// the time compared.
func byDifferences(ref, q *sequence, power []uint64, tolerance int64) (pairing, bool) {
	need := max(leastPairs, min(len(ref.items), len(q.items))/2)
	c := closest{best: -1, second: -1}
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
		c.offer(s, median(apply(differences, func(d int64) int64 { return abs(d - offset) })))
	}
	if c.best < 0 || c.best > tolerance || c.ambiguous() {
		return pairing{}, false
	}
	return pairing{at: shifted(ref, q, c.shift)}, true
}

// medianDuration returns the median length of a sequence's collectives in ns.
func medianDuration(q *sequence) int64 {
	list := make([]int64, len(q.items))
	for i := range q.items {
		list[i] = q.items[i].end - q.items[i].start
	}
	return median(list)
}

// median sorts a list, in place, and returns the value in the middle: for an even number
// the mean of the two in the middle, 0 for an empty list.
func median(list []int64) int64 {
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	n := len(list)
	low, high := list[(n-1)/2], list[n/2]
	return low + (high-low)/2
}

// apply replaces every value of a list by f of it and returns the list.
func apply(list []int64, f func(int64) int64) []int64 {
	for i, v := range list {
		list[i] = f(v)
	}
	return list
}

func abs(n int64) int64 { return max(n, -n) }
