package whatif

import (
	"slices"

	"github.com/gaprof/gaprof/trace/graph"
)

// merge makes one of several operations: the last of each list stays, and the others take no time. What
// waited for one of those waits for the last. None of it may come before the last one is
// launched. works are the durations of the last ones; c.gone tells which nodes are left out.
func merge(c *Change, lists [][]graph.Node, works []int64) {
	into := make(map[graph.Node]graph.Node)
	for i, list := range lists {
		last := list[len(list)-1]
		gap := gapBefore(c, list[0])
		for k, n := range list[:len(list)-1] {
			into[n] = last
			dissolve(c, n)
			if e := c.G.Before[list[k+1]]; e != graph.None && c.G.From[e] == n {
				c.G.Lag[e] = min(0, c.G.Lag[e]) // the gap is before the first
			}
		}
		if e := c.G.Before[list[0]]; e != graph.None {
			c.G.Lag[e] = gap
		}
		c.G.Work[last] = works[i]
	}
	for e, from := range c.G.From {
		last, merged := into[from]
		if kind := c.G.Kind[e]; merged && kind != graph.Order && !kind.FromStart() && c.G.To[e] != last {
			c.G.From[e] = last
		}
	}
}

// gapBefore is the lag of the order before an op, 0 without one.
func gapBefore(c *Change, n graph.Node) int64 {
	if e := c.G.Before[n]; e != graph.None {
		return c.G.Lag[e]
	}
	return 0
}

// dissolve leaves out an op: neither it nor the call that launched it takes time, nor what else the host does to ask
// for a collective, and peers do not wait for it.
func dissolve(c *Change, n graph.Node) {
	if c.gone == nil {
		c.gone = make(map[graph.Node]bool)
	}
	c.gone[n] = true
	c.G.Work[n], c.G.Group[n] = 0, graph.None
	if e := c.G.Before[n]; e != graph.None {
		c.G.Lag[e] = min(0, c.G.Lag[e])
	}
	rank, own := c.rankOf(n)
	if call := c.Ranks[rank].Before[own]; call != graph.None {
		c.G.Work[c.nodes[rank]+call] = 0
		unask(c, rank, own)
	}
}

// orderOf is the ops of a stream of a rank in the order in which they run now.
func orderOf(c *Change, rank int, s *stream) []graph.Node {
	ops := c.all(rank, s.ops)
	if len(c.moved) == 0 {
		return ops
	}
	next := make(map[graph.Node]graph.Node, len(ops))
	var first []graph.Node
	for _, n := range ops {
		if e := c.G.Before[n]; e != graph.None {
			next[c.G.From[e]] = n
		} else {
			first = append(first, n)
		}
	}
	list := make([]graph.Node, 0, len(ops))
	for _, n := range first {
		for ok := true; ok; n, ok = next[n] {
			list = append(list, n)
		}
	}
	return list
}

// launchOf is when the call begins that launches an op as the graph is now, and false where
// that is not in the recording.
func launchOf(c *Change, p *graph.Plan, n graph.Node) (at int64, known bool) {
	for _, e := range p.In(n) {
		if c.G.Kind[e] == graph.Launch {
			if start := c.Seen.Start[c.G.From[e]]; !known || start > at {
				at, known = start, true
			}
		}
	}
	return at, known
}

// firstUse is, for the ops for which others wait, when the first of those was launched.
func firstUse(c *Change, of func(n graph.Node) bool) map[graph.Node]int64 {
	used := make(map[graph.Node]int64)
	for e, from := range c.G.From {
		if from == graph.None || c.G.Kind[e] == graph.Order || c.G.Kind[e].FromStart() || !of(from) {
			continue
		}
		at := askedFor(c, c.G.To[e])
		if old, seen := used[from]; !seen || at < old {
			used[from] = at
		}
	}
	return used
}

// askedFor is when the host asked for a node, as recorded: the start of the call.
func askedFor(c *Change, n graph.Node) int64 {
	rank, own := c.rankOf(n)
	r := c.Ranks[rank]
	switch {
	case r.What[own] == Return:
		return c.Seen.Start[n-1]
	case r.Before[own] != graph.None:
		return c.Seen.Start[c.nodes[rank]+r.Before[own]]
	}
	return c.Seen.Start[n]
}

// total is the sum and the greatest of some values.
func total(values []int64) (sum, most int64) {
	for _, v := range values {
		sum += v
	}
	return sum, slices.Max(values)
}
