package whatif

import (
	"strings"

	"github.com/gaprof/gaprof/trace/graph"
)

// asking is when the host asks for a collective: its operator with all calls in it, and those that record and
// wait for events right before and after it. Empty where that is unknown.
type asking struct{ from, to int64 }

// rightBeside is how far calls may be from the operator of a collective, in ns, to be a part of asking for it.
const rightBeside = 1000

// findAsking finds when the host asked for each collective.
func findAsking(b *builder) {
	r := b.r
	r.Asking = make([]asking, len(r.Kernel))
	for i, n := range r.Kernel {
		if n == graph.None || r.Before[n] == graph.None {
			continue
		}
		call := r.Before[n]
		row := b.asksFor(r.Row[call])
		if row < 0 {
			continue
		}
		of := asking{b.x.Col.Start[row], b.x.End(row)}
		for k := call - 1; k >= 0 && r.together(k, call) && r.Start[k] > of.from-rightBeside*8; k-- {
			if r.Start[k] < of.from && r.ofEvent(k) && r.End[k] >= of.from-rightBeside {
				of.from = r.Start[k]
			}
		}
		for k := call + 1; int(k) < len(r.What) && r.together(k, call) && r.Start[k] <= of.to+rightBeside; k++ {
			if r.Start[k] >= of.to && !r.ofEvent(k) {
				break
			}
			of.to = max(of.to, r.End[k])
		}
		r.Asking[i] = of
	}
}

// asksFor is the outermost span around a call that asks for a collective, -1 for none.
func (b *builder) asksFor(row int32) int32 {
	found := int32(-1)
	for row = b.x.Col.Parent[row]; row >= 0; row = b.x.Col.Parent[row] {
		if name := b.x.Name(row); name == "record_param_comms" || strings.HasPrefix(name, "c10d::") ||
			strings.HasPrefix(name, "nccl:") || strings.HasPrefix(name, "_c10d_functional::") {
			found = row
		}
	}
	return found
}

// together reports whether two nodes are calls of one logical thread.
func (r *Rank) together(a, b graph.Node) bool {
	return r.What[a] == Call && r.Graph.Resource[a] == r.Graph.Resource[b]
}

// ofEvent reports whether a call records an event or makes a stream wait for one.
func (r *Rank) ofEvent(call graph.Node) bool {
	role := roleOf(r.Names[r.Name[call]])
	return role == recordEvent || role == waitEvent
}

// unask takes out what the host does to ask for a collective, as far as that is known.
func (c *Change) unask(rank int, own graph.Node) {
	r := c.Ranks[rank]
	i := r.Collective[own]
	if i < 0 || r.Asking[i] == (asking{}) {
		return
	}
	of, call := r.Asking[i], r.Before[own]
	first := call
	for first > 0 && r.together(first-1, call) && r.Start[first-1] >= of.from {
		first--
	}
	for k := first; int(k) < len(r.What) && r.Graph.Resource[k] == r.Graph.Resource[call]; k++ {
		if r.What[k] != Call {
			continue
		}
		if e := r.Graph.Before[k]; e != graph.None {
			within := min(r.Start[k], of.to) - max(r.End[r.Graph.From[e]], of.from)
			c.think(c.nodes[rank]+k, -max(0, within))
		}
		if r.Start[k] >= of.to {
			break
		}
		if k == call || r.ofEvent(k) {
			c.G.Work[c.nodes[rank]+k] = 0
		}
	}
}
