package timeline

import (
	"cmp"
	"encoding/binary"
	"errors"
	"slices"
	"sort"
)

// Set is a set of instants: sorted, disjoint, non-touching half-open intervals
// in ns, each by its start and the length of all before it. Zero-length intervals
// vanish.
type Set struct {
	start  []int64
	before []int64 // length of all earlier intervals
	total  int64
}

// NewSet returns an empty set with room for n intervals.
func NewSet(n int) *Set {
	return &Set{start: make([]int64, 0, n), before: make([]int64, 0, n)}
}

// clip lets go of room that the set does not use.
func (s *Set) clip() {
	if n := len(s.start); cap(s.start)-n > n/8 {
		s.start, s.before = slices.Clone(s.start), slices.Clone(s.before)
	}
}

// Len is the length of the set in ns.
func (s *Set) Len() int64 { return s.total }

// Count is the number of disjoint intervals.
func (s *Set) Count() int { return len(s.start) }

// Add appends [start, end), which must not begin before the last interval does.
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

// end is where the i-th interval ends.
func (s *Set) end(i int) int64 {
	if i+1 < len(s.before) {
		return s.start[i] + s.before[i+1] - s.before[i]
	}
	return s.start[i] + s.total - s.before[i]
}

// Overlap is the length of the intersection of s and o in ns.
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

// Minus returns the instants of s that are not in o: s itself where all are left.
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

// until is a copy of the first n intervals, with room for as many as s has.
func (s *Set) until(n int) *Set {
	c := NewSet(len(s.start))
	c.start, c.before, c.total = append(c.start, s.start[:n]...), append(c.before, s.before[:n]...), s.before[n]
	return c
}

// endingAfter is the index of the first interval from j on that ends after instant t.
func (s *Set) endingAfter(t int64, j int) int {
	k := s.startingFrom(t, j)
	if k > j && s.end(k-1) > t {
		return k - 1
	}
	return k
}

// startingFrom is the index of the first interval from j on that starts at instant t or
// later. It looks in steps that double, so many small moves and few large ones are both
// quick.
func (s *Set) startingFrom(t int64, j int) int {
	low, step := j, 1
	for low+step <= len(s.start) && s.start[low+step-1] < t {
		low += step
		step *= 2
	}
	at, _ := slices.BinarySearch(s.start[low:min(low+step, len(s.start))], t)
	return low + at
}

// Within is the length of the part of s that lies in [start, end), in ns.
func (s *Set) Within(start, end int64) int64 {
	if end <= start {
		return 0
	}
	from, _ := slices.BinarySearch(s.start, start)
	return s.first(s.startingFrom(end, from), end) - s.first(from, start)
}

// first is the length of the part of s before instant t, where n intervals start.
func (s *Set) first(n int, t int64) int64 {
	if n == 0 {
		return 0
	}
	return s.before[n-1] + min(t, s.end(n-1)) - s.start[n-1]
}

// EachWithin calls visit for the parts of the set's intervals that lie in [start, end).
func (s *Set) EachWithin(start, end int64, visit func(start, end int64)) {
	for i := sort.Search(len(s.start), func(i int) bool { return s.end(i) > start }); i < len(s.start) && s.start[i] < end; i++ {
		visit(max(s.start[i], start), min(s.end(i), end))
	}
}

// MarshalBinary writes the intervals as varints: their number, then the gap before each
// and its length, in ns.
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

// UnmarshalBinary reads what MarshalBinary wrote.
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
