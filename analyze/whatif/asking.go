package whatif

import (
	"strings"

	"github.com/gaprof/gaprof/trace/graph"
)

// rightBeside is how far calls may be from the operator of a collective, in ns, to be a part of asking for it.
const rightBeside = 1000

// findAsking finds when the host asked for each collective.
func findAsking(b *builder) {
	r := b.r
	r.Asking = make([]Asking, len(r.Kernel))
	for i, n := range r.Kernel {
		if n == graph.None || r.Before[n] == graph.None {
			continue
		}
		call := r.Before[n]
		if row := asksFor(b, r.Row[call]); row >= 0 {
			r.Asking[i] = Asking{beginsAsking(r, call, b.x.Col.Start[row]), endsAsking(r, call, b.x.End(row))}
		}
	}
}

// beginsAsking is from when on the calls for events right before the operator of a collective are a part of it.
func beginsAsking(r *Rank, call graph.Node, from int64) int64 {
	for k := call - 1; k >= 0 && together(r, k, call); k-- {
		switch {
		case r.Start[k] >= from: // within the operator
		case ofEvent(r, k) && r.End[k] >= from-rightBeside:
			from = r.Start[k]
		default:
			return from
		}
	}
	return from
}

// endsAsking is the same after it.
func endsAsking(r *Rank, call graph.Node, to int64) int64 {
	for k := call + 1; int(k) < len(r.What) && together(r, k, call); k++ {
		switch {
		case r.Start[k] < to:
		case ofEvent(r, k) && r.Start[k] <= to+rightBeside:
			to = r.End[k]
		default:
			return to
		}
	}
	return to
}

// asksFor is the outermost span around a call that asks for a collective, -1 for none.
func asksFor(b *builder, row int32) int32 {
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
func together(r *Rank, a, b graph.Node) bool {
	return r.What[a] == Call && r.Graph.Resource[a] == r.Graph.Resource[b]
}

// ofEvent reports whether a call records an event or makes a stream wait for one.
func ofEvent(r *Rank, call graph.Node) bool {
	role := roleOf(r.Names[r.Name[call]])
	return role == recordEvent || role == waitEvent
}

// unask takes out what the host does to ask for a collective, as far as that is known.
func unask(c *Change, rank int, own graph.Node) {
	r := c.Ranks[rank]
	i := r.Collective[own]
	if i < 0 || r.Asking[i] == (Asking{}) {
		return
	}
	of, call := r.Asking[i], r.Before[own]
	first := call
	for first > 0 && together(r, first-1, call) && r.Start[first-1] >= of.From {
		first--
	}
	for k := first; int(k) < len(r.What) && r.Graph.Resource[k] == r.Graph.Resource[call]; k++ {
		if r.What[k] != Call {
			continue
		}
		if e := r.Graph.Before[k]; e != graph.None {
			within := min(r.Start[k], of.To) - max(r.End[r.Graph.From[e]], of.From)
			c.think(c.nodes[rank]+k, -max(0, within))
		}
		if r.Start[k] >= of.To {
			break
		}
		if k == call || ofEvent(r, k) {
			c.G.Work[c.nodes[rank]+k] = 0
		}
	}
}
