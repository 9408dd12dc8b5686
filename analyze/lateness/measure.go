package lateness

import (
	"cmp"
	"slices"

	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/analyze/idle"
	"github.com/gaprof/gaprof/analyze/ranks"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/analyze/work"
)

// spent is what a device does in a period, in ns.
type spent struct {
	parts   [NumCauses]int64 // without SlowerKernels and MoreWork
	compute int64
	own     int64 // exposed communication of the group
	length  int64
}

// member is a rank of the group that is looked at.
type member struct {
	*facts.Rank
	source, k int
	device    int
	work      *work.Device
	stretch   []int32           // by collective of the rank: the stretch that it ends, -1 none
	own       [4]*timeline.Set  // exposed communication of the group, by bucket; all nil if there is no other
	waits     []wait            // in other groups, by start
	passed    func(int32) int32 // collective of the group to that of the rank
}

// commBuckets are the buckets of exposed communication.
var commBuckets = [4]timeline.Bucket{
	timeline.ReduceScatterBucket, timeline.AllGatherBucket, timeline.AllReduceBucket, timeline.OtherCommBucket,
}

// newMember prepares the k-th rank of a group; ok is false where nothing is known of what
// its device does.
func newMember(r *ranks.Result, g *ranks.Group, k int) (m *member, ok bool) {
	source := g.Ranks[k]
	m = &member{Rank: r.Sources[source].Rank, source: source, k: k}
	m.device = m.Collectives[g.Collectives[0].OfRank[k]].Device
	if m.device >= len(m.Work.Devices) || m.Work.Devices[m.device].Start == m.Work.Devices[m.device].End {
		return nil, false
	}
	m.work = &m.Work.Devices[m.device]
	m.stretch = make([]int32, len(m.Collectives))
	for i := range m.stretch {
		m.stretch[i] = -1
	}
	for i, s := range m.work.Stretches {
		if s.Collective >= 0 {
			m.stretch[s.Collective] = int32(i)
		}
	}
	m.passed = func(i int32) int32 { return g.Collectives[i].OfRank[k] }
	if len(g.Collectives) < len(m.Collectives) {
		m.findOwn(g)
		m.findWaits(r, g)
	}
	return m, true
}

// findOwn separates the exposed communication of the group from that of others.
func (m *member) findOwn(g *ranks.Group) {
	type span struct{ start, end int64 }
	spans := make([]span, 0, len(g.Collectives))
	for i := range g.Collectives {
		if c := &m.Collectives[g.Collectives[i].OfRank[m.k]]; c.Device == m.device {
			spans = append(spans, span{c.Start, c.End})
		}
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	all := timeline.NewSet(len(spans))
	for _, s := range spans {
		all.Add(s.start, s.end)
	}
	for i, b := range commBuckets {
		alone := m.Devices[m.device].Busy.Alone[b]
		m.own[i] = alone.Minus(alone.Minus(all))
	}
}

// spentIn is what the device does in a period, which begins after one of its stretches, -1
// for the first, and ends with another.
func (m *member) spentIn(after, last int32) spent {
	from, to := m.work.Start, m.work.Stretches[last].End
	if after >= 0 {
		from = m.work.Stretches[after].End
	}
	ledger := m.Devices[m.device].Busy.Ledger(from, to)
	s := spent{compute: ledger[timeline.ComputeBucket], length: to - from}
	s.parts[MemoryCopies] = ledger[timeline.MemoryBucket]
	communication := int64(0)
	for i, b := range commBuckets {
		communication += ledger[b]
		if m.own[i] != nil {
			s.own += m.own[i].Within(from, to)
		}
	}
	if m.own[0] == nil {
		s.own = communication
	}
	other := communication - s.own
	s.parts[OtherRank] = min(other, m.waitedIn(from, to))
	s.parts[OtherCommunication] = other - s.parts[OtherRank]
	for i := after + 1; i <= last; i++ {
		s.addIdle(&m.work.Stretches[i].Idle)
	}
	s.parts[OtherIdle] += ledger[timeline.IdleBucket]
	for c := range OtherIdle {
		s.parts[OtherIdle] -= s.parts[c]
	}
	return s
}

// addIdle adds what idle time is charged to, but for what is nobody's to change.
func (s *spent) addIdle(of *idle.Part) {
	s.parts[DataLoading] += of.Causes[idle.DataLoading]
	s.parts[Synchronization] += of.Causes[idle.Synchronization]
	s.parts[MemoryManagement] += of.Causes[idle.MemoryManagement]
	s.parts[Compilation] += of.Causes[idle.Compilation]
	s.parts[Profiler] += of.Causes[idle.Profiler]
	stalled := min(of.Garbage, of.HostStall)
	s.parts[HostStall] += of.HostStall - stalled
	s.parts[LaunchBound] += of.LaunchBound - (of.Garbage - stalled)
	s.parts[GarbageCollection] += of.Garbage
}
