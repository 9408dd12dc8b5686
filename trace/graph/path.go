package graph

import "slices"

// In lists the edges of a node, ascending. It is a piece of the plan's own list and read-only.
func (p *Plan) In(n Node) []int32 { return p.in.of(n) }

// Members lists the nodes of a group, ascending, read-only.
func (p *Plan) Members(group int32) []Node { return p.mates.of(group) }

// Binding is the edge that decides when a node starts: of those that allow it no earlier, the
// one of the lowest number. None: its Release does.
func (p *Plan) Binding(t *Times, n Node) int32 {
	for _, e := range p.in.of(n) {
		if p.g.reach(t, e) == t.Start[n] {
			return e
		}
	}
	return None
}

// Decides is the member of a node's group for whose start it waits, itself without a group
// and where it starts last; of several that start at that time the lowest.
func (p *Plan) Decides(t *Times, n Node) Node {
	group := p.g.Group[n]
	if group == None {
		return n
	}
	latest := n
	for _, m := range p.mates.of(group) {
		if t.Start[m] > t.Start[latest] {
			latest = m
		}
	}
	return latest
}

// Hop is one node of a critical path.
type Hop struct {
	Node Node
	Edge int32 // by which it was reached from the hop before, None for the first
}

// Path is the critical path to the end of a node, from what waited for nothing: shortening
// anything that is not on it cannot make the node end earlier. A node that waits for a peer
// in its group is followed by that peer in its place, whose Edge leads to it.
func (p *Plan) Path(t *Times, end Node) []Hop {
	var path []Hop
	n := p.Decides(t, end)
	for {
		e := p.Binding(t, n)
		path = append(path, Hop{n, e})
		if e == None {
			slices.Reverse(path)
			return path
		}
		if n = p.g.From[e]; !p.g.Kind[e].FromStart() { // only its start counts, which no peer decides
			n = p.Decides(t, n)
		}
	}
}
