package whatif

import (
	"cmp"
	"slices"
	"sort"

	"github.com/gaprof/gaprof/trace/graph"
)

// nearEnd is how soon after the end of a collective what waited for it starts, in ns.
const nearEnd = 12_000

// pending is collectives that were launched and that nothing waited for yet. Hosts run ahead, so there may be as many
// as the trace has: looking for one takes no time that grows with them.
type pending struct {
	end   []int64            // ns, by node
	byEnd []graph.Node       // all collectives, by end
	order []graph.Node       // those launched, in that order
	first int                // of order that may be pending
	at    map[graph.Node]int // by collective that is pending: its place in order
}

func newPending(b *builder) *pending {
	p := &pending{end: b.r.End, at: make(map[graph.Node]int)}
	p.byEnd = slices.Clone(b.r.Kernel)
	slices.SortStableFunc(p.byEnd, func(i, j graph.Node) int { return cmp.Compare(p.end[i], p.end[j]) })
	return p
}

// launch adds a collective.
func (p *pending) launch(c graph.Node) {
	p.at[c] = len(p.order)
	p.order = append(p.order, c)
}

// take finds and takes out the collective for which an op waits that starts at an instant: the one that ends last of
// those that end shortly before, else the oldest; graph.None where none is pending.
func (p *pending) take(start int64) graph.Node {
	for p.first < len(p.order) && !p.holds(p.order[p.first]) {
		p.first++
	}
	if p.first == len(p.order) {
		return graph.None
	}
	best := p.order[p.first]
	i := sort.Search(len(p.byEnd), func(i int) bool { return p.end[p.byEnd[i]] > start })
	for i--; i >= 0 && p.end[p.byEnd[i]] > max(start-nearEnd, p.end[best]); i-- {
		if c := p.byEnd[i]; p.holds(c) {
			best = p.earliest(i)
			break
		}
	}
	delete(p.at, best)
	return best
}

// holds reports whether a collective is pending.
func (p *pending) holds(c graph.Node) bool {
	_, ok := p.at[c]
	return ok
}

// earliest is the one launched first of the pending collectives that end with the i-th by end.
func (p *pending) earliest(i int) graph.Node {
	best := p.byEnd[i]
	for k := i; k >= 0 && p.end[p.byEnd[k]] == p.end[best]; k-- {
		if c := p.byEnd[k]; p.holds(c) && p.at[c] < p.at[best] {
			best = c
		}
	}
	return best
}
