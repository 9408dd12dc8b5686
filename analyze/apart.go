package analyze

import (
	"slices"
	"time"

	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/analyze/timeline"
)

// begin is a rank, -1 for a file of none or several, and when its recording begins, in ns.
type begin struct{ rank, at int64 }

func (p *piece) begin() begin {
	if len(p.ranks) == 1 {
		return begin{p.ranks[0], p.from}
	}
	return begin{-1, p.from}
}

// markCopies notes which files repeat an earlier one.
func markCopies(list []*piece) {
	first := make(map[begin]*piece)
	for _, p := range list {
		if q := first[p.begin()]; q == nil {
			first[p.begin()] = p
		} else if p.repeats(q) {
			p.copyOf = q
		}
	}
}

// repeats reports whether a file holds the same recording as another: of the same ranks, from
// the same instant to the same instant, with as many events and the same steps, in which its
// devices do the same at the same time. Files of which nothing says the rank nor the date may
// as well be of two ranks.
func (p *piece) repeats(q *piece) bool {
	if len(p.ranks) == 0 && p.clock != unixClock && p.world != 1 {
		return false
	}
	if p.from != q.from || p.to != q.to || p.events != q.events || p.world != q.world || len(p.facts) != len(q.facts) ||
		!slices.Equal(p.ranks, q.ranks) {
		return false
	}
	for i, r := range p.facts {
		other := q.facts[i]
		if r.DeviceEvents != other.DeviceEvents || !slices.EqualFunc(r.Collectives, other.Collectives, sameTimes) ||
			!slices.EqualFunc(r.Steps, other.Steps, sameStep) {
			return false
		}
	}
	return true
}

func sameTimes(a, b facts.Collective) bool { return a.Start == b.Start && a.End == b.End }

func sameStep(a, b facts.Step) bool {
	return a.HostStart == b.HostStart && a.HostEnd == b.HostEnd && slices.Equal(a.Windows, b.Windows)
}

// Collectives of all ranks end at the same instant on all of them, so between two ranks of a run
// their ends differ by what the clocks do. Between ranks of two runs of one program they drift.
const (
	driftLeast  = int64(5 * time.Millisecond) // by more than any clock drifts in a recording
	driftSteps  = 20                          // and by more than this part of a step, for ranks of slow collectives
	driftCounts = 8                           // collectives that tell
)

// drifts reports whether two files that were not recorded at the same time, each of one rank,
// hold the same collectives of all ranks at distances that differ too much for one run. What has
// other collectives says nothing.
func (p *piece) drifts(q *piece) bool {
	disjoint := p.clock == q.clock && p.clock != otherClock && (p.from > q.to || q.from > p.to)
	if !disjoint || len(p.facts) != 1 || len(q.facts) != 1 || p.world < 2 {
		return false
	}
	a, b := ofAll(p.facts[0], p.world), ofAll(q.facts[0], p.world)
	if len(a) != len(b) || len(a) < driftCounts {
		return false
	}
	apart := make([]int64, len(a))
	for i := range a {
		if a[i].Kind != b[i].Kind || a[i].Bytes != b[i].Bytes {
			return false
		}
		apart[i] = a[i].End - b[i].End
	}
	slices.Sort(apart)
	n := len(apart)
	spread := apart[n-1-n/10] - apart[n/10]
	step := (a[n-1].End - a[0].End) / int64(max(1, len(p.facts[0].Steps)))
	return spread > max(driftLeast, step/driftSteps)
}

// ofAll are the collectives in which all ranks take part, by start.
func ofAll(r *facts.Rank, world int64) []*facts.Collective {
	var list []*facts.Collective
	for i := range r.Collectives {
		if c := &r.Collectives[i]; c.GroupSize == world && c.Kind != timeline.SendRecv && c.Device == 0 {
			list = append(list, c)
		}
	}
	return list
}
