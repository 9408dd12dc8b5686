package ranks

import (
	"cmp"
	"slices"

	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/analyze/timeline"
)

// leftOut counts the communication that is in no sequence: messages between two ranks, and
// kernels of libraries that do not record who takes part.
type leftOut struct{ pointToPoint, ungrouped int }

// collect appends the collectives of a source to the sequences of their groups and counts
// what it leaves out. SendRecv kernels without a message may belong to an all-to-all, so they
// count as point-to-point only where none is known.
func (s *sorter) collect(source int, groups map[groupKey][]*sequence) (out leftOut) {
	r := s.sources[source].Rank
	base := r.BaseTime
	own := make(map[groupKey]*sequence)
	kernels, grouped := s.kernels(r.Kernels), grouped(r.Kernels)
	var q *sequence
	var last groupKey // that of q: the next collective is mostly of the same group
	for i := range r.Collectives {
		c := &r.Collectives[i]
		if c.Kind == timeline.SendRecv && (isDescribed(c) || !s.toAll) {
			out.pointToPoint++
			continue
		}
		if !grouped[c.Kernel] && !isDescribed(c) {
			out.ungrouped++
			continue
		}
		if key := s.placed[source][i]; q == nil || key != last {
			if q, last = own[key], key; q == nil {
				q = &sequence{source: source}
				own[key] = q
				groups[key] = append(groups[key], q)
			}
		}
		q.items = append(q.items, s.item(int32(i), c, kernels[c.Kernel], base))
	}
	for _, q := range own {
		q.sort()
		q.hash()
	}
	return out
}

// sort puts items into the order in which they were asked for. That of their starts is the
// same if they are on one stream; on several, as with FSDP, each rank has its own.
func (q *sequence) sort() {
	numbered := q.numbered()
	slices.SortStableFunc(q.items, func(a, b item) int {
		if numbered && a.seq != b.seq {
			return cmp.Compare(a.seq, b.seq)
		}
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end))
	})
}

// numbered reports whether all items have numbers of one communicator.
func (q *sequence) numbered() bool {
	comms := make(map[int64]uint64, len(q.items))
	for i := range q.items {
		it := &q.items[i]
		if of, ok := comms[it.seq]; it.seq < 0 || ok && of != it.comms {
			return false
		}
		comms[it.seq] = it.comms
	}
	return true
}

// grouped reports of each kernel whether process groups launch it.
func grouped(kernels []string) []bool {
	list := make([]bool, len(kernels))
	for i, name := range kernels {
		list[i] = timeline.OfProcessGroup(name)
	}
	return list
}

// item is the i-th collective of a rank, whose recording counts from base.
func (s *sorter) item(i int32, c *facts.Collective, kernel int32, base int64) item {
	return item{
		collective: i,
		kernel:     kernel,
		dtype:      s.number(c.Dtype),
		kind:       c.Kind,
		described:  isDescribed(c),
		in:         c.InElems,
		out:        c.OutElems,
		seq:        c.Number(),
		comms:      c.Comms,
		captured:   c.Captured(),
		start:      base + c.Start,
		end:        base + c.End,
	}
}

// kernels returns the numbers of kernels' names.
func (s *sorter) kernels(names []string) []int32 {
	numbers := make([]int32, len(names))
	for i, name := range names {
		numbers[i] = s.number(name)
	}
	return numbers
}

// number returns the number of a text, a new one for a new text.
func (s *sorter) number(text string) int32 {
	n, ok := s.numbers[text]
	if !ok {
		n = int32(len(s.numbers))
		s.numbers[text] = n
	}
	return n
}

// hash computes a polynomial rolling hash over the kernels, so that stretches of any length
// can be compared in constant time. Of the many alignments that are tried, nearly all fail
// there, and only the rest are compared item by item.
func (q *sequence) hash() {
	q.names = make([]uint64, len(q.items)+1)
	for i := range q.items {
		q.names[i+1] = q.names[i]*hashBase + uint64(q.items[i].kernel) + 1
	}
}

// hashBase is the base of the hash. It is odd, so no power of it vanishes modulo 2^64.
const hashBase = 0x9e3779b97f4a7c15

// stretch returns the hash of items[from:to]; power[n] is hashBase to the n-th.
func (q *sequence) stretch(power []uint64, from, to int) uint64 {
	return q.names[to] - q.names[from]*power[to-from]
}

// powers returns hashBase to the 0th, 1st, ... n-th.
func powers(n int) []uint64 {
	p := make([]uint64, n+1)
	p[0] = 1
	for i := range n {
		p[i+1] = p[i] * hashBase
	}
	return p
}
