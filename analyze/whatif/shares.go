package whatif

import (
	"sort"

	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace/graph"
)

// mainStreams are, by device, the stream that computes most, as an index into Rank.streams; -1 for none.
func mainStreams(r *Rank) []int {
	var main []int
	var most []int64
	for i := range r.streams {
		s := &r.streams[i]
		if s.device < 0 {
			continue
		}
		for len(main) <= s.device {
			main, most = append(main, -1), append(most, 0)
		}
		sum := int64(0)
		for _, op := range s.ops {
			if r.Bucket[op] == uint8(timeline.ComputeBucket) {
				sum += r.End[op] - r.Start[op]
			}
		}
		if sum > most[s.device] {
			main[s.device], most[s.device] = i, sum
		}
	}
	return main
}

// findUses finds for each collective that runs on the stream that computes what uses its result: one
// that reduces gradients in backward what follows it in the same hook, else what is launched
// after that backward pass; any other what follows it.
func findUses(b *builder) {
	b.r.Uses = make(map[graph.Node]graph.Node)
	for _, i := range mainStreams(b.r) {
		if i < 0 {
			continue
		}
		ops := b.r.streams[i].ops
		next := graph.Node(graph.None) // that is no collective
		for k := len(ops) - 1; k >= 0; k-- {
			op := ops[k]
			if b.r.Collective[op] < 0 {
				next = op
				continue
			}
			if b.r.Graph.Resource[op] == graph.None {
				continue
			}
			b.r.Uses[op] = next
			if end, hooked := backwardAround(b, op); hooked && next != graph.None && !sameHook(b, op, next) {
				b.r.Uses[op] = b.firstAsked(i, end)
			}
		}
	}
}

// backwardAround is the end of the backward pass in which a collective that reduces is launched.
func backwardAround(b *builder, op graph.Node) (end int64, ok bool) {
	f := &b.f.Collectives[b.r.Collective[op]]
	if !reduces(f.Kind) || f.Step < 0 || b.r.Before[op] == graph.None {
		return 0, false
	}
	at := b.calledAt(op)
	for _, p := range b.f.Steps[f.Step].Backwards {
		if p.Start <= at && at < p.End {
			return p.End, true
		}
	}
	return 0, false
}

// sameHook reports whether two ops are launched while the same node of autograd runs.
func sameHook(b *builder, op, next graph.Node) bool {
	if b.r.Before[next] == graph.None {
		return true
	}
	at, end := b.calledAt(op), int64(0)
	i := sort.Search(len(b.x.Nodes), func(i int) bool { return b.x.Nodes[i].Start > at })
	for _, n := range b.x.Nodes[max(0, i-deepestHook):i] {
		if at < n.End {
			end = max(end, n.End)
		}
	}
	return b.calledAt(next) < end
}

// deepestHook is how many nodes of autograd may lie in each other around a hook of a gradient: two,
// and a few for checkpoints.
const deepestHook = 8
