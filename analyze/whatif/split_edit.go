package whatif

import (
	"slices"
	"sort"

	"github.com/gaprof/gaprof/trace/graph"
)

// splitStream runs each communicator on a stream of its own.
var splitStream = Edit{
	Name:  "split-stream",
	turn:  turnSplit,
	Title: "each communicator has a stream of its own",
	How: "async_op=True, and wait for the work where its result is used; a process group for each kind of " +
		"traffic (dist.new_group)",
	Limit: "gradients that are reduced in backward are used after it, all else by what follows; collectives do not " +
		"slow each other down",
	refuse: func(w *World, _ string) string {
		if list, why := splits(w.change(AsRecorded)); len(list) == 0 {
			return why
		}
		return ""
	},
	apply: func(c *Change, _ string) {
		list, _ := splits(c)
		for i := range list {
			list[i].apply(c)
		}
	},
}

// split is one stream that several share.
type split struct {
	rank  int
	stays []graph.Node // what the stream keeps, in order
	moves []leaves     // what leaves it, in order
	many  int          // communicators on it
}

// leaves is a collective that leaves its stream.
type leaves struct {
	n    graph.Node
	to   int        // which of the new streams
	from graph.Node // what its data come from, graph.None where events say so
	use  graph.Node // what uses its result, graph.None where events say so
}

// splits finds the streams that communicators share with compute or with each other, or says why
// there is nothing to split.
func splits(c *Change) ([]split, string) {
	var list []split
	why := "there is no collective on a device"
	for rank, r := range c.Ranks {
		if len(r.Kernel) == 0 {
			continue
		}
		main := mainStreams(r)
		for i := range r.streams {
			s := &r.streams[i]
			if s.device < 0 || !slices.ContainsFunc(s.ops, func(op graph.Node) bool { return r.Collective[op] >= 0 }) {
				continue
			}
			one, reason := splitOf(c, rank, orderOf(c, rank, s), main, main[s.device] == i)
			if reason != "" {
				why = reason
				continue
			}
			list = append(list, one)
		}
	}
	return list, why
}

// splitOf divides the ops of one stream.
func splitOf(c *Change, rank int, order []graph.Node, main []int, compute bool) (split, string) {
	s := split{rank: rank}
	r := c.Ranks[rank]
	groups := make(map[string]int)
	last, later := graph.Node(graph.None), false
	for _, n := range order {
		i := r.Collective[n-c.nodes[rank]]
		if i < 0 && !compute {
			return s, "a stream of communication runs copies or kernels, too, and their order may matter"
		}
		if i < 0 || c.G.Resource[n] == graph.None {
			s.stays, last = append(s.stays, n), n
			continue
		}
		name := r.Facts.Collectives[r.messageOf(int(i))].Group
		to, seen := groups[name]
		if !seen && name != "" { // an unknown one is not told apart from the first
			to = len(groups)
			groups[name] = to
		}
		switch one := (leaves{n, to, last, graph.None}); {
		case compute:
			one.use = c.at(rank, r.Uses[n-c.nodes[rank]])
			later = later || !follows(c, one.use, n)
			s.moves = append(s.moves, one)
		case to == 0:
			s.stays = append(s.stays, n)
		default:
			one.from = producer(c, rank, n, main)
			s.moves = append(s.moves, one)
		}
	}
	s.many = max(1, len(groups))
	switch {
	case !compute && s.many < 2:
		return s, "each communicator has a stream of its own"
	case compute && !later:
		return s, "what follows each collective on its stream uses the result"
	}
	return s, ""
}

// follows reports whether an op runs right after another one, but for collectives.
func follows(c *Change, n, after graph.Node) bool {
	for n != graph.None && n != after {
		e := c.G.Before[n]
		if e == graph.None {
			return false
		}
		n = c.G.From[e]
		rank, own := c.rankOf(n)
		if n != after && c.Ranks[rank].Collective[own] < 0 {
			return false
		}
	}
	return n == after
}

// producer is what a collective without a recorded event waits for: the last op of the stream that computes
// which was launched before it. graph.None: its events say.
func producer(c *Change, rank int, n graph.Node, mains []int) graph.Node {
	for _, e := range c.base.In(n) {
		if k := c.G.Kind[e]; k == graph.Event || k == graph.Time {
			return graph.None
		}
	}
	r := c.Ranks[rank]
	own := n - c.nodes[rank]
	main := mains[r.deviceOf(own)]
	if main < 0 || r.Before[own] == graph.None {
		return graph.None
	}
	ops, at := r.streams[main].ops, r.Start[r.Before[own]]
	i := sort.Search(len(ops), func(i int) bool {
		call := r.Before[ops[i]]
		return call != graph.None && r.Start[call] >= at
	})
	if i == 0 {
		return graph.None
	}
	return c.at(rank, ops[i-1])
}

// apply moves the collectives.
func (s *split) apply(c *Change) {
	usual := &c.Ranks[s.rank].Usual
	c.G.Reorder(graph.None, s.stays, graph.None, func(graph.Node) int64 { return usual[classOrder] })
	lists := make([][]graph.Node, s.many)
	for i := range s.moves {
		one := &s.moves[i]
		lists[one.to] = append(lists[one.to], one.n)
		if one.from != graph.None {
			c.G.Connect(one.from, one.n, graph.Event, usual[classEventComm])
		}
		if one.use != graph.None {
			c.G.Connect(one.n, one.use, graph.Event, usual[classEvent])
		}
		c.moved = append(c.moved, one.n)
	}
	for _, list := range lists {
		if len(list) == 0 {
			continue
		}
		resource := c.G.AddResource()
		for _, n := range list {
			c.G.Resource[n] = resource
		}
		c.G.Reorder(graph.None, list, graph.None, func(graph.Node) int64 { return usual[classOrderComm] })
	}
}
