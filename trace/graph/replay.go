package graph

import "math"

// Times is when the nodes of a graph start and end, in ns, by node.
type Times struct {
	Start, End []int64
}

// Replay computes when everything starts and ends.
func (p *Plan) Replay() *Times {
	t := &Times{Start: make([]int64, p.g.Len()), End: make([]int64, p.g.Len())}
	p.ReplayInto(t)
	return t
}

// ReplayInto is Replay into columns of the right length that are there already.
func (p *Plan) ReplayInto(t *Times) {
	g := p.g
	for _, n := range p.order {
		if n < 0 {
			p.endGroup(t, ^n)
			continue
		}
		start := g.Release[n]
		for _, e := range p.in.of(n) {
			start = max(start, g.reach(t, e))
		}
		t.Start[n], t.End[n] = start, start+g.Work[n]
	}
}

// reach is when an edge allows its target to start.
func (g *Graph) reach(t *Times, edge int32) int64 {
	from := g.From[edge]
	if g.Kind[edge].FromStart() {
		return t.Start[from] + g.Lag[edge]
	}
	return t.End[from] + g.Lag[edge]
}

// endGroup sets the ends of the members of a group, all of which have started.
func (p *Plan) endGroup(t *Times, group int32) {
	latest := int64(math.MinInt64)
	for _, n := range p.mates.of(group) {
		latest = max(latest, t.Start[n])
	}
	for _, n := range p.mates.of(group) {
		t.End[n] = latest + p.g.Work[n]
	}
}

// Span is from the first start to the last end of all nodes, 0 without any.
func (t *Times) Span() int64 {
	if len(t.Start) == 0 {
		return 0
	}
	first, last := int64(math.MaxInt64), int64(math.MinInt64)
	for n := range t.Start {
		first, last = min(first, t.Start[n]), max(last, t.End[n])
	}
	return last - first
}
