package lateness

import (
	"cmp"
	"slices"

	"github.com/gaprof/gaprof/analyze/ranks"
)

// wait is a stretch in which a rank waits in a collective of another group for the rank
// that enters it last, on its own clock.
type wait struct {
	from, to int64 // ns
	of       int   // the source that enters last
	in       int32 // the collective
}

// findWaits lists when the rank waits in the collectives of other groups.
func (m *member) findWaits(r *ranks.Result, g *ranks.Group) {
	for _, other := range r.Groups {
		if other == g || other.Status != ranks.Matched || other.NoFigures != "" {
			continue
		}
		k := slices.Index(other.Ranks, m.source)
		if k < 0 {
			continue
		}
		for i := range other.Collectives {
			c := &other.Collectives[i]
			if c.Impossible || c.Latest == k {
				continue
			}
			own := &m.Collectives[c.OfRank[k]]
			if _, last := other.Late(r.Sources, c, k); own.Device == m.device && last > own.Start {
				m.waits = append(m.waits, wait{own.Start, min(last, own.End), other.Ranks[c.Latest], c.OfRank[k]})
			}
		}
	}
	slices.SortFunc(m.waits, func(a, b wait) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to), cmp.Compare(a.in, b.in))
	})
}

// waitedIn is how long the rank waits for ranks of other groups beside nothing.
func (m *member) waitedIn(from, to int64) int64 {
	total := int64(0)
	m.eachWait(from, to, func(_ *wait, ns int64) { total += ns })
	return total
}

// eachWait calls do with the exposed ns of every wait that begins in a period. What two
// waits share counts for the first.
func (m *member) eachWait(from, to int64, do func(w *wait, ns int64)) {
	first, _ := slices.BinarySearchFunc(m.waits, from, func(w wait, t int64) int { return cmp.Compare(w.from, t) })
	reach := from
	for i := first; i < len(m.waits) && m.waits[i].from < to; i++ {
		w := &m.waits[i]
		start, end := max(reach, w.from), min(w.to, to)
		if end <= start {
			continue
		}
		ns := int64(0)
		for b, bucket := range commBuckets {
			alone := m.Devices[m.device].Busy.Alone[bucket].Within(start, end)
			ns += alone - m.own[b].Within(start, end)
		}
		do(w, ns)
		reach = end
	}
}
