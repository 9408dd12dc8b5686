package timeline

import (
	"cmp"
	"encoding/binary"
	"errors"
	"slices"
	"sort"
)

// Set is a set of instants in ns, kept as sorted, disjoint half-open intervals that do not
// touch. Zero-length intervals vanish. The zero value is the empty set.
//
// An interval is stored as its start and the total length of those before it, rather than
// as start and end: the length of the set up to any instant is then one binary search
// away, which makes Within, and with it each window of a ledger, logarithmic.
//
// A Set is append-only while it is built and must not be written to once it is shared.
type Set struct {
	start  []int64 // ns, ascending
	before []int64 // ns: length of all earlier intervals
	total  int64   // ns: length of all intervals
}

// NewSet returns an empty set with capacity for n intervals.
func NewSet(n int) *Set {
	return &Set{start: make([]int64, 0, n), before: make([]int64, 0, n)}
}

// clip gives back unused capacity. Devices reserve for as many intervals as they have
// events, most of which merge, and facts keep these sets after the trace is gone.
func (s *Set) clip() {
	if n := len(s.start); cap(s.start)-n > n/8 {
		s.start, s.before = slices.Clone(s.start), slices.Clone(s.before)
	}
}

// Len returns the total length of the set in ns.
func (s *Set) Len() int64 { return s.total }

// Count returns the number of disjoint intervals.
func (s *Set) Count() int { return len(s.start) }

// Add appends [start, end), in ns, and merges it with the last interval where the two
// overlap or touch. It must not begin before the last interval does.
func (s *Set) Add(start, end int64) {
	if end <= start {
		return
	}
	if n := len(s.start) - 1; n >= 0 && start <= s.end(n) {
		s.total += max(0, end-s.end(n))
		return
	}
	s.start, s.before = append(s.start, start), append(s.before, s.total)
	s.total += end - start
}

// end returns the end of the i-th interval, in ns.
func (s *Set) end(i int) int64 {
	if i+1 < len(s.before) {
		return s.start[i] + s.before[i+1] - s.before[i]
	}
	return s.start[i] + s.total - s.before[i]
}

// Overlap returns the length of the intersection of s and o in ns. It takes a galloping
// search in o for each interval of s, so the smaller set should be s.
func (s *Set) Overlap(o *Set) int64 {
	n, at := int64(0), 0
	for i := range s.start {
		start, end := s.start[i], s.end(i)
		from := o.startingFrom(start, at)
		at = o.startingFrom(end, from)
		n += o.first(at, end) - o.first(from, start)
	}
	return n
}

// Minus returns the instants of s that are not in o. Where o takes nothing away it returns
// s itself, which is common (most buckets never overlap) and saves a copy.
func (s *Set) Minus(o *Set) *Set {
	var rest *Set
	j := 0
	for i := range s.start {
		from, end := s.start[i], s.end(i)
		if j = o.endingAfter(from, j); rest == nil {
			if j == len(o.start) || o.start[j] >= end {
				continue
			}
			rest = s.until(i)
		}
		for k := j; k < len(o.start) && o.start[k] < end; k++ {
			rest.Add(from, o.start[k])
			from = max(from, o.end(k))
		}
		rest.Add(from, end)
	}
	return cmp.Or(rest, s)
}

// until returns a copy of the first n intervals, with capacity for as many as s has.
func (s *Set) until(n int) *Set {
	c := NewSet(len(s.start))
	c.start = append(c.start, s.start[:n]...)
	c.before = append(c.before, s.before[:n]...)
	c.total = s.before[n]
	return c
}

// endingAfter returns the index of the first interval from j on that ends after instant t.
func (s *Set) endingAfter(t int64, j int) int {
	k := s.startingFrom(t, j)
	if k > j && s.end(k-1) > t {
		return k - 1
	}
	return k
}

// startingFrom returns the index of the first interval from j on that starts at instant t
// or later. It gallops (steps double, then a binary search), so a scan in many short steps
// stays linear and a long jump logarithmic.
func (s *Set) startingFrom(t int64, j int) int {
	low, step := j, 1
	for low+step <= len(s.start) && s.start[low+step-1] < t {
		low += step
		step *= 2
	}
	at, _ := slices.BinarySearch(s.start[low:min(low+step, len(s.start))], t)
	return low + at
}

// Within returns the length of the part of s that lies in [start, end), in ns.
func (s *Set) Within(start, end int64) int64 {
	if end <= start {
		return 0
	}
	from, _ := slices.BinarySearch(s.start, start)
	return s.first(s.startingFrom(end, from), end) - s.first(from, start)
}

// first returns the length of the part of s before instant t, given that n intervals start
// before t.
func (s *Set) first(n int, t int64) int64 {
	if n == 0 {
		return 0
	}
	return s.before[n-1] + min(t, s.end(n-1)) - s.start[n-1]
}

// EachWithin calls visit for the parts of the set's intervals that lie in [start, end), in
// order.
func (s *Set) EachWithin(start, end int64, visit func(start, end int64)) {
	from := sort.Search(len(s.start), func(i int) bool { return s.end(i) > start })
	for i := from; i < len(s.start) && s.start[i] < end; i++ {
		visit(max(s.start[i], start), min(s.end(i), end))
	}
}

// EachFrom is EachWithin for a reader that goes forward: start is never less than in the
// call before. It looks from the index that that returned, 0 at first, and returns the one
// for the next, so a scan in many short steps is linear.
func (s *Set) EachFrom(at int, start, end int64, visit func(start, end int64)) int {
	at = s.endingAfter(start, at)
	for i := at; i < len(s.start) && s.start[i] < end; i++ {
		visit(max(s.start[i], start), min(s.end(i), end))
	}
	return at
}

// Plus returns the instants that are in s or in o.
func (s *Set) Plus(o *Set) *Set {
	all := NewSet(len(s.start) + len(o.start))
	for i, j := 0, 0; i < len(s.start) || j < len(o.start); {
		if j == len(o.start) || i < len(s.start) && s.start[i] <= o.start[j] {
			all.Add(s.start[i], s.end(i))
			i++
		} else {
			all.Add(o.start[j], o.end(j))
			j++
		}
	}
	return all
}

// MarshalBinary writes the intervals as varints: their number, then the gap before each
// and its length, in ns. Gaps and lengths are small where instants are not, which is what
// makes facts that are written down compact.
func (s *Set) MarshalBinary() ([]byte, error) {
	out := binary.AppendUvarint(nil, uint64(len(s.start)))
	at := int64(0)
	for i, start := range s.start {
		out = binary.AppendVarint(out, start-at)
		out = binary.AppendVarint(out, s.end(i)-start)
		at = s.end(i)
	}
	return out, nil
}

// UnmarshalBinary reads what MarshalBinary wrote. It refuses anything else, such as
// intervals that touch or bytes left over, and leaves s as it was.
func (s *Set) UnmarshalBinary(data []byte) error {
	n, size := binary.Uvarint(data)
	if data = data[max(0, size):]; size <= 0 || n > uint64(len(data)) {
		return errSet
	}
	read := NewSet(int(n))
	at := int64(0)
	for i := range n {
		gap, gapSize := binary.Varint(data)
		length, lengthSize := binary.Varint(data[max(0, gapSize):])
		if gapSize <= 0 || lengthSize <= 0 || length <= 0 || i > 0 && gap <= 0 {
			return errSet
		}
		read.Add(at+gap, at+gap+length)
		at += gap + length
		data = data[gapSize+lengthSize:]
	}
	if len(data) > 0 || read.Count() != int(n) {
		return errSet
	}
	*s = *read
	return nil
}

var errSet = errors.New("not a set of intervals")
