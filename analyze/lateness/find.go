package lateness

import (
	"slices"

	"github.com/gaprof/gaprof/analyze/ranks"
)

// mostOthers bounds how many ranks a late one is compared with. The median of so many is as
// good as that of thousands.
const mostOthers = 63

// hidden is the share of what a rank is late by below which compute hides it on the others.
const hidden = 0.1

// Find says why a rank keeps the others waiting; nil where it keeps nobody waiting in
// collectives whose times are known, where compute hides that, or where nothing can be
// compared.
func Find(r *ranks.Result, late int) *Lateness {
	var group *ranks.Group
	most := int64(0)
	for _, g := range r.Groups {
		if k := place(g, late); k >= 0 && g.Caused[k] > most {
			group, most = g, g.Caused[k]
		}
	}
	return find(r, group, late, []int{late})
}

// place is the position of a source in a group with figures, -1 for none.
func place(g *ranks.Group, source int) int {
	if g.Status != ranks.Matched || g.NoFigures != "" {
		return -1
	}
	return slices.Index(g.Ranks, source)
}

// find is Find for one group. chain are the ranks whose lateness leads to this one.
func find(r *ranks.Result, g *ranks.Group, late int, chain []int) *Lateness {
	if g == nil {
		return nil
	}
	members := membersOf(r, g, place(g, late))
	if len(members) < 2 {
		return nil
	}
	l := &Lateness{Rank: late, Group: g, Cause: Unknown, WaitsFor: -1}
	of, s := compared{g, members}, newSums()
	d := newDifferences(members)
	judged := false
	for _, p := range of.periods() {
		if s.add(members, &p) {
			judged = true
			d.add(&p)
		}
	}
	n := members[0].compareSteps(g)
	if !judged || n == 0 || float64(s.late) < hidden*float64(s.later) {
		return nil
	}
	l.Steps = n
	s.judge(l, d, int64(n))
	l.Kernels.perStep(int64(n))
	if l.Cause == OtherRank {
		l.follow(r, s, chain)
	}
	return l
}

// membersOf are the late rank and those that it is compared with: all others, or a
// selection in equal distances.
func membersOf(r *ranks.Result, g *ranks.Group, late int) []*member {
	first, ok := newMember(r, g, late)
	if !ok {
		return nil
	}
	list := []*member{first}
	step := (len(g.Ranks) + mostOthers - 1) / mostOthers
	for k := 0; k < len(g.Ranks); k += step {
		at := k
		if at == late && step > 1 {
			at++ // the next one takes its place
		}
		if at == late || at >= len(g.Ranks) {
			continue
		}
		if m, ok := newMember(r, g, at); ok {
			list = append(list, m)
		}
	}
	return list
}

// compareSteps is how many steps of the late rank lie where the group was matched: complete
// ones if there are any.
func (m *member) compareSteps(g *ranks.Group) int {
	first, last := m.passed(0), m.passed(int32(len(g.Collectives)-1))
	from, to := m.Collectives[first].Start, m.Collectives[last].End
	complete, all := 0, 0
	for i := range m.Steps {
		for _, w := range m.Steps[i].Windows {
			if w.Device == m.device && w.End > from && w.Start < to {
				all++
				complete += oneIf(m.Steps[i].Complete)
			}
		}
	}
	if complete > 0 {
		return complete
	}
	return all
}

// follow looks for the rank that a late rank waits for most, and for why that is late.
func (l *Lateness) follow(r *ranks.Result, s *sums, chain []int) {
	total, most := int64(0), int64(0)
	for source, of := range s.waitsFor {
		total += of.ns
		if of.ns > most || of.ns == most && source < l.WaitsFor {
			l.WaitsFor, l.WaitsIn, most = source, of.in, of.ns
		}
	}
	if 2*most < total {
		l.WaitsFor = -1
		return
	}
	if slices.Contains(chain, l.WaitsFor) {
		return
	}
	var group *ranks.Group
	caused := int64(0)
	for _, g := range r.Groups {
		if k := place(g, l.WaitsFor); k >= 0 && g != l.Group && g.Caused[k] > caused && place(g, l.Rank) >= 0 {
			group, caused = g, g.Caused[k]
		}
	}
	l.Because = find(r, group, l.WaitsFor, append(chain, l.WaitsFor))
}
