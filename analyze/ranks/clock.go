package ranks

import (
	"fmt"
	"strings"

	"github.com/gaprof/gaprof/internal/units"
)

// clocks measures how far the clock of each rank is from those of the others. All ranks
// leave a collective at nearly the same time, so the median distance of a rank's ends from
// the middle of all ends is the difference of its clock. Starts would not do: a rank that
// is late in every collective would look like one whose clock is ahead.
//
// Where clocks cannot be compared, the group has no figures. A difference is significant if
// it exceeds the time that collectives last and stands out from the scatter of ends.
func (g *Group) clocks(sources []Source, o Options) {
	g.Residual, g.Drift = make([]int64, len(g.Ranks)), make([]int64, len(g.Ranks))
	if g.Status != Matched {
		return
	}
	distance, scatter := g.endDistances(), make([]int64, len(g.Ranks))
	for k := range g.Ranks {
		half := len(distance[k]) / 2
		if half > 0 {
			g.Drift[k] = median(clone(distance[k][half:])) - median(clone(distance[k][:half]))
		}
		g.Residual[k] = median(clone(distance[k]))
		scatter[k] = max(scatterOf(distance[k][:half]), scatterOf(distance[k][half:]))
	}
	g.OnHosts = severalHosts(g.Ranks, sources)
	g.Aligned = o.AlignClocks || g.OnHosts
	limit := g.shortest()
	var off []string
	for k := range g.Ranks {
		least := max(limit, standsOut*scatter[k])
		switch drift := abs(g.Drift[k]) > least; {
		case drift:
			off = append(off, fmt.Sprintf("rank %d drifts by %s", g.number(sources, k), units.Duration(g.Drift[k])))
		case !g.Aligned && abs(g.Residual[k]) > least:
			off = append(off, fmt.Sprintf("rank %d by %s", g.number(sources, k), units.Duration(g.Residual[k])))
		default:
			continue
		}
		g.OffClock = append(g.OffClock, k)
	}
	if len(off) > 0 {
		g.NoFigures = fmt.Sprintf("the clocks differ by more than the collectives take (%s): %s",
			units.Duration(limit), someOf(off))
	}
	if g.Aligned {
		g.subtract()
	}
}

// standsOut is by how many times the scatter of its ends a clock must be off to be
// significant. A steady drift over the whole recording is off by 4 times the scatter of
// its halves, so it is found whatever its size.
const standsOut = 3

// scatterOf returns the median distance from the median: how far apart ends are when the
// clocks are right, since a busy machine lets its ranks leave a collective one by one.
func scatterOf(list []int64) int64 {
	if len(list) == 0 {
		return 0
	}
	list = clone(list)
	middle := median(list)
	for i := range list {
		list[i] = abs(list[i] - middle)
	}
	return median(list)
}

func clone(list []int64) []int64 { return append([]int64(nil), list...) }

// someOf lists the first few texts and counts the others.
func someOf(list []string) string {
	const most = 4
	if len(list) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(list[:most], ", "), len(list)-most)
	}
	return strings.Join(list, ", ")
}

// endDistances returns, by rank and collective, how much later than the median of all ranks
// the rank ends it, in ns.
func (g *Group) endDistances() [][]int64 {
	distance := make([][]int64, len(g.Ranks))
	ends := make([]int64, len(g.Ranks))
	for i := range g.Collectives {
		c := &g.Collectives[i]
		for k := range ends {
			ends[k] = g.sequences[k].items[c.items[k]].end
		}
		middle := median(ends)
		for k := range distance {
			distance[k] = append(distance[k], g.sequences[k].items[c.items[k]].end-middle)
		}
	}
	return distance
}

// shortest returns the median, over collectives, of the shortest kernel of any rank, in ns.
// That is about the transfer, since the rank that enters last does not wait.
func (g *Group) shortest() int64 {
	list := make([]int64, len(g.Collectives))
	for i := range g.Collectives {
		c := &g.Collectives[i]
		for k, at := range c.items {
			it := &g.sequences[k].items[at]
			if d := it.end - it.start; k == 0 || d < list[i] {
				list[i] = d
			}
		}
	}
	return median(list)
}

// severalHosts reports whether ranks are known to run on different machines.
func severalHosts(ranks []int, sources []Source) bool {
	host := ""
	for _, r := range ranks {
		switch h := sources[r].Host; {
		case h == "" || h == host:
		case host == "":
			host = h
		default:
			return true
		}
	}
	return false
}

// subtract moves the times of all ranks to the clock that they have in common, in place:
// sequences belong to the group.
func (g *Group) subtract() {
	for k, q := range g.sequences {
		for i := range q.items {
			q.items[i].start -= g.Residual[k]
			q.items[i].end -= g.Residual[k]
		}
	}
}

// own converts an instant on the clock of the group to the k-th rank's own trace, in ns,
// without the recording's base time.
func (g *Group) own(k int, sources []Source, at int64) int64 {
	at -= sources[g.Ranks[k]].Rank.BaseTime
	if g.Aligned {
		at += g.Residual[k]
	}
	return at
}
