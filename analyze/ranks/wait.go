package ranks

import (
	"fmt"

	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/internal/bounded"
)

// tooMany is the share of collectives with impossible times, in percent, above which
// the matching or the clocks are wrong as a whole.
const tooMany = 1

// figures computes transfer, wait and skew of every collective, and sums them by rank.
// The rank that enters last causes only the wait that it alone is to blame for: had it been
// in time, the others would have waited for the next to last all the same.
//
//   - transfer: from the latest start to the earliest end;
//   - wait of a rank: from its own start to the latest start;
//   - caused by the rank that starts last: from the start of the next to last to its
//     own, for each of the others;
//   - skew: from the earliest to the latest end.
func (g *Group) figures(sources []Source, o Options) {
	g.Wait = make([]int64, len(g.Ranks))
	g.Caused = make([]int64, len(g.Ranks))
	g.Last = make([]int, len(g.Ranks))
	if g.Status != Matched || g.NoFigures != "" {
		return
	}
	link := g.link(sources, o)
	for i := range g.Collectives {
		c := &g.Collectives[i]
		g.measure(c)
		if c.Impossible = c.Transfer < 0 || g.beyond(sources, c, link); c.Impossible {
			g.Impossible++
			continue
		}
		for k, at := range c.items {
			g.Wait[k] = bounded.Add(g.Wait[k], bounded.Sub(c.LatestAt, g.sequences[k].items[at].start))
		}
		g.Last[c.Latest]++
		caused := bounded.Mul(bounded.Sub(c.LatestAt, c.NextAt), int64(len(g.Ranks)-1))
		g.Caused[c.Latest] = bounded.Add(g.Caused[c.Latest], caused)
	}
	if g.Impossible*100 > tooMany*len(g.Collectives) {
		g.NoFigures = fmt.Sprintf("%d of %d collectives would end before the last rank begins, "+
			"or move more than the link can: the matching or the clocks are wrong",
			g.Impossible, len(g.Collectives))
	}
}

// measure fills in the times of one collective. Of two ranks that enter last together the
// first in the order of ranks counts; it causes no wait.
func (g *Group) measure(c *Collective) {
	var earliestEnd, latestEnd int64
	for k, at := range c.items {
		it := &g.sequences[k].items[at]
		if k == 0 {
			c.Latest = 0
			c.LatestAt, c.NextAt = it.start, it.start
			earliestEnd, latestEnd = it.end, it.end
			continue
		}
		switch {
		case it.start > c.LatestAt:
			c.Latest = k
			c.NextAt, c.LatestAt = c.LatestAt, it.start
		case k == 1 || it.start > c.NextAt:
			c.NextAt = it.start
		}
		earliestEnd, latestEnd = min(earliestEnd, it.end), max(latestEnd, it.end)
	}
	c.Transfer, c.Skew = earliestEnd-c.LatestAt, latestEnd-earliestEnd
}

// link returns what the slowest rank of the group can send or receive, in bytes/s; 0 if any
// is unknown.
func (g *Group) link(sources []Source, o Options) int64 {
	slowest := int64(0)
	for k, r := range g.Ranks {
		if o.Link == nil {
			return 0
		}
		l := o.Link(sources[r])
		if l == 0 {
			return 0
		}
		if k == 0 || l < slowest {
			slowest = l
		}
	}
	return slowest
}

// beyond reports whether the transfer of a collective is shorter than its message takes on
// the link. Whatever the algorithm, a rank sends or receives at least (n-1)/n of the
// message: in a reduce-scatter it sends all parts but its own, in an all-gather it receives
// them, and in an all-reduce a switch that reduces saves it one of the two. For the other
// kinds there is no such bound.
func (g *Group) beyond(sources []Source, c *Collective, link int64) bool {
	n := max(g.Size, int64(len(g.Ranks)))
	if link == 0 || n < 2 {
		return false
	}
	last := &sources[g.Ranks[c.Latest]].Rank.Collectives[c.OfRank[c.Latest]]
	switch last.Kind {
	case timeline.ReduceScatter, timeline.AllGather, timeline.AllReduce:
	default:
		return false
	}
	if last.Bytes <= 0 {
		return false
	}
	least := float64(last.Bytes) * float64(n-1) / float64(n) / float64(link) * 1e9
	return float64(c.Transfer) < least
}

// Late returns the stretch in which the k-th rank of the group waits for the rank that
// enters a collective last and for no other: from the entry of the next to last to that of
// the last, in ns on the k-th rank's own clock, so that it can be looked up in its trace.
func (g *Group) Late(sources []Source, c *Collective, k int) (from, to int64) {
	return g.own(k, sources, c.NextAt), g.own(k, sources, c.LatestAt)
}

// Window returns the first start and the last end of all matched collectives, in ns since
// 1970 or since whatever the recordings count from; ok is false without any.
func (g *Group) Window() (start, end int64, ok bool) {
	for i := range g.Collectives {
		for k, at := range g.Collectives[i].items {
			it := &g.sequences[k].items[at]
			if !ok || it.start < start {
				start = it.start
			}
			if !ok || it.end > end {
				end = it.end
			}
			ok = true
		}
	}
	return start, end, ok
}
