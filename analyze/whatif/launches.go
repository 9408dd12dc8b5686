package whatif

import (
	"cmp"
	"slices"

	"github.com/gaprof/gaprof/trace/graph"
)

// orderLaunches makes the parts of a CUDA graph wait for what was launched before on their stream, and what was
// launched after it wait for them: only the parts of one launch are in no order. Graphs whose parts
// never ran beside each other are taken for launched into one stream, where each waits for all of the one before.
func orderLaunches(b *builder) {
	prior := priorGraphs(b)
	for i := range b.r.streams {
		if s := &b.r.streams[i]; s.device >= 0 {
			orderStream(b, s.ops, prior)
		}
	}
}

// launchOfGraph is the parts of one launch of a CUDA graph: when the first starts, and what ends last.
type launchOfGraph struct {
	call  graph.Node
	start int64
	last  graph.Node
}

// priorGraphs finds, by call that launches a CUDA graph, what ends last of the graph launched before, where that was
// over before this one began.
func priorGraphs(b *builder) map[graph.Node]graph.Node {
	r := b.r
	at := make(map[graph.Node]int)
	var list []launchOfGraph
	r.ops(func(op graph.Node) {
		call := r.Before[op]
		if r.Graph.Resource[op] != graph.None || call == graph.None {
			return
		}
		i, seen := at[call]
		if !seen {
			i = len(list)
			at[call], list = i, append(list, launchOfGraph{call, r.Start[op], op})
		}
		list[i].start = min(list[i].start, r.Start[op])
		if r.End[op] > r.End[list[i].last] {
			list[i].last = op
		}
	})
	slices.SortFunc(list, func(a, b launchOfGraph) int { return cmp.Compare(a.start, b.start) })
	prior := make(map[graph.Node]graph.Node)
	for i := 1; i < len(list); i++ {
		if last := list[i-1].last; r.End[last] <= list[i].start && r.Device[last] == r.Device[list[i].last] {
			prior[list[i].call] = last
		}
	}
	return prior
}

// orderStream is orderLaunches for one stream.
func orderStream(b *builder, ops []graph.Node, prior map[graph.Node]graph.Node) {
	before, last, launch := graph.Node(graph.None), graph.Node(graph.None), graph.Node(graph.None)
	r := b.r
	for k, op := range ops {
		if call := r.Before[op]; k == 0 || call == graph.None || call != launch {
			launch, before = call, laterOf(r, before, last) // what ends last of all launches before this one
			last = op
		}
		last = laterOf(r, last, op)
		of, part := before, r.Graph.Resource[op] == graph.None
		if graphBefore, ok := prior[launch]; ok && part {
			of = graphBefore
		}
		if of == graph.None || !part && r.Graph.Resource[of] != graph.None || r.End[of] > r.Start[op] {
			continue
		}
		r.Graph.Connect(of, op, graph.Event, r.Start[op]-r.End[of])
	}
}

// laterOf is the one of two operations that ends later, the first where both end together.
func laterOf(r *Rank, a, b graph.Node) graph.Node {
	if a == graph.None || b != graph.None && r.End[b] > r.End[a] {
		return b
	}
	return a
}
