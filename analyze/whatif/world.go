package whatif

import (
	"errors"
	"math"
	"slices"
	"sort"

	"github.com/gaprof/gaprof/analyze/ranks"
	"github.com/gaprof/gaprof/trace/graph"
)

// Together joins the graphs of ranks. matched is nil for a single one.
func Together(list []*Rank, matched *ranks.Result) *World {
	w := &World{Ranks: list, Graph: &graph.Graph{}, Seen: &graph.Times{}, Late: -1}
	first := list[0].Facts.BaseTime + list[0].Facts.First
	for _, r := range list {
		first = min(first, r.Facts.BaseTime+r.Facts.First)
		if r.Why != "" {
			w.Why = r.Why
		}
	}
	if w.Why != "" {
		return w
	}
	for _, r := range list {
		w.add(r, r.Facts.BaseTime-first)
	}
	if matched != nil && len(list) > 1 {
		w.Late = matched.Straggler
		for _, s := range matched.Sources {
			w.Numbers = append(w.Numbers, s.ID)
		}
		for _, g := range matched.Groups {
			w.join(g)
		}
		joinMessages(w)
	}
	w.release()
	w.findSteps()
	w.base, w.circle = w.Plan(w.Graph)
	w.Broken = w.broken
	return w
}

// add adds a rank whose times are shifted by so many ns.
func (w *World) add(r *Rank, shift int64) {
	node, edge, _ := w.Graph.Append(&r.Graph)
	w.nodes, w.edges, w.shift = append(w.nodes, node), append(w.edges, edge), append(w.shift, shift)
	for n := range r.Start {
		w.Seen.Start, w.Seen.End = append(w.Seen.Start, r.Start[n]+shift), append(w.Seen.End, r.End[n]+shift)
	}
}

// release lets what waits for nothing start when it did, and nothing before the recording.
func (w *World) release() {
	waits, first := make([]bool, w.Graph.Len()), int64(math.MaxInt64)
	for _, start := range w.Seen.Start {
		first = min(first, start)
	}
	for _, to := range w.Graph.To {
		if to != graph.None {
			waits[to] = true
		}
	}
	for n := range waits {
		if w.Graph.Release[n] = first; !waits[n] {
			w.Graph.Release[n] = w.Seen.Start[n]
		}
	}
}

// join makes one of each collective that all ranks of a group recorded. Its transfer is what
// a rank takes after the last one has entered.
func (w *World) join(g *ranks.Group) {
	if g.Status != ranks.Matched || g.NoFigures != "" {
		return
	}
	w.align(g)
	members := make([]graph.Node, len(g.Ranks))
	for i := range g.Collectives {
		c := &g.Collectives[i]
		latest := int64(0)
		for k, rank := range g.Ranks {
			members[k] = w.nodes[rank] + w.Ranks[rank].Kernel[c.OfRank[k]]
			if at := w.Seen.Start[members[k]]; k == 0 || at > latest {
				latest = at
			}
		}
		if c.Impossible || w.inGroup(members) || !w.after(members, latest) {
			w.Apart++
			continue
		}
		w.Joined++
		if len(members) == len(w.Ranks) && slices.IsSorted(g.Ranks) {
			w.shared = append(w.shared, slices.Clone(members))
		}
		w.Graph.Join(slices.Clone(members)...)
		for _, n := range members {
			w.Graph.Work[n] = w.Seen.End[n] - latest
		}
	}
}

// inGroup reports whether any of some nodes is in a group already.
func (w *World) inGroup(nodes []graph.Node) bool {
	return slices.ContainsFunc(nodes, func(n graph.Node) bool { return w.Graph.Group[n] != graph.None })
}

// after reports whether all members end after the last of them has entered.
func (w *World) after(nodes []graph.Node, latest int64) bool {
	return !slices.ContainsFunc(nodes, func(n graph.Node) bool { return w.Seen.End[n] < latest })
}

// Plan finds the order of a replay. An inferred edge that closes a circle is taken out, the weakest
// first: what was inferred by time, then what follows from a pattern of launches, then any.
func (w *World) Plan(g *graph.Graph) (*graph.Plan, error) {
	for {
		p, err := g.Plan()
		var cycle *graph.CycleError
		if !errors.As(err, &cycle) {
			return p, err
		}
		weakest := cycle.Edges[0]
		for _, e := range cycle.Edges {
			if strength(g.Kind[e]) < strength(g.Kind[weakest]) {
				weakest = e
			}
		}
		if strength(g.Kind[weakest]) >= strength(graph.Launch) {
			return nil, err
		}
		w.broken++
		to := g.To[weakest]
		if g.Cut(weakest); !slices.Contains(g.To, to) && int(to) < len(w.Seen.Start) {
			g.Release[to] = w.Seen.Start[to]
		}
	}
}

// strength orders kinds of edges by how sure they are.
func strength(k graph.Kind) int {
	switch k {
	case graph.Time, graph.Queue:
		return 0
	case graph.Event:
		return 1
	case graph.Sync:
		return 2
	case graph.Launch:
		return 3
	}
	return 4
}

// align shifts the times of ranks whose clocks the matching found to be off.
func (w *World) align(g *ranks.Group) {
	if !g.Aligned {
		return
	}
	for k, rank := range g.Ranks {
		w.move(rank, -g.Residual[k])
	}
}

// move shifts all times of a rank.
func (w *World) move(rank int, by int64) {
	from := w.nodes[rank]
	for n := range w.Ranks[rank].Start {
		at := from + graph.Node(n)
		w.Seen.Start[at] += by
		w.Seen.End[at] += by
	}
}

// rank of a node and its number there.
func (w *World) rankOf(n graph.Node) (rank int, own graph.Node) {
	rank = sort.Search(len(w.nodes), func(i int) bool { return w.nodes[i] > n }) - 1
	return rank, n - w.nodes[rank]
}

// at is the number of a rank's node in the graph of all.
func (w *World) at(rank int, n graph.Node) graph.Node {
	if n == graph.None {
		return n
	}
	return w.nodes[rank] + n
}

func (w *World) all(rank int, list []graph.Node) []graph.Node {
	moved := slices.Clone(list)
	for i, n := range moved {
		moved[i] = w.at(rank, n)
	}
	return moved
}
