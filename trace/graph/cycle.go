package graph

import (
	"fmt"
	"slices"
	"strings"
)

// CycleError says that nodes wait for each other in a circle.
type CycleError struct {
	// Edges is the circle: each edge begins at the node that the one before it leads to, or
	// at a member of that node's group. The last leads to the first in the same way.
	Edges []int32

	g *Graph
}

func (e *CycleError) Error() string {
	var text strings.Builder
	for i, edge := range e.Edges {
		if i == 10 {
			fmt.Fprintf(&text, " ... %d more,", len(e.Edges)-i)
			break
		}
		fmt.Fprintf(&text, " node %d -%s-> node %d,", e.g.From[edge], e.g.Kind[edge], e.g.To[edge])
	}
	return "graph: a cycle:" + strings.TrimSuffix(text.String(), ",")
}

// cycle finds a circle among the nodes that never started. It walks from one that waits to
// what it waits for until it comes back to where it was.
func (p *Plan) cycle(w *walk) *CycleError {
	at := int32(slices.IndexFunc(w.left, func(left int32) bool { return left > 0 }))
	came := make(map[Node]int) // by node: how many edges led to it
	var edges []int32
	for {
		if seen, again := came[at]; again {
			edges = edges[seen:]
			slices.Reverse(edges)
			return &CycleError{edges, p.g}
		}
		came[at] = len(edges)
		edge := p.missing(w, at)
		edges = append(edges, edge)
		at = p.waiting(w, p.g.From[edge])
	}
}

// missing is the first edge of a waiting node whose source is not there.
func (p *Plan) missing(w *walk, n Node) int32 {
	for _, e := range p.in.of(n) {
		from := p.g.From[e]
		if w.left[from] > 0 || !p.g.Kind[e].FromStart() && p.waiting(w, from) != from {
			return e
		}
	}
	panic("graph: a node waits for nothing")
}

// waiting is n, or, where n has started and waits for a member of its group, that member.
func (p *Plan) waiting(w *walk, n Node) Node {
	group := p.g.Group[n]
	if w.left[n] > 0 || group == None {
		return n
	}
	for _, member := range p.mates.of(group) {
		if w.left[member] > 0 {
			return member
		}
	}
	return n
}
