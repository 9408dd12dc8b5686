package whatif

import (
	"sort"

	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/graph"
)

// settles is how long before the device has drained by its clock a call that waits for it may
// return, in ns: a copy from memory that may be swapped out is staged by the host, which is
// done before the device is (82 us in IDLE.md's example).
const settles = 200_000

// addWaits adds what calls of the host wait for on the device.
func addWaits(b *builder) {
	if len(b.sync) == 0 {
		return
	}
	records := make(map[trace.ID]timeline.SyncWait)
	for _, w := range b.x.SyncWaits() {
		if id := b.x.Col.Corr[w.Row]; id != 0 && w.Kind != timeline.StreamWait {
			records[id] = w
		}
	}
	ops, ends := b.opsByCall(), allEnds(b)
	for _, back := range b.sync {
		row, call := b.r.Row[back], back-1
		if own := ops[call]; len(own) > 0 {
			waitFor(b, back, own[len(own)-1])
			continue
		}
		if w, ok := records[b.x.Col.Corr[row]]; ok && w.Kind == timeline.EventSync && recordedEvent(b, back, w) {
			continue
		}
		switch b.role(row) {
		case syncDevice:
			drain(b, back)
		case syncStream, blockCopy:
			drainOne(b, back, records[b.x.Col.Corr[row]])
		case syncEvent:
			eventBefore(b, back, ends)
		}
	}
}

// recordedEvent joins a call to the event that the profiler recorded it to wait for.
func recordedEvent(b *builder, back graph.Node, w timeline.SyncWait) bool {
	if w.RecordCall < 0 {
		return false
	}
	stream := b.streamAt(w.Device, w.OnStream)
	if stream < 0 {
		return false
	}
	op := b.lastAsked(stream, b.x.Col.Start[w.RecordCall])
	if op != graph.None {
		waitFor(b, back, op)
	}
	return true
}

// drain joins a call to the last op of each stream launched before it.
func drain(b *builder, back graph.Node) {
	for i := range b.r.streams {
		if b.r.streams[i].device < 0 {
			continue
		}
		if op := b.lastAsked(i, b.r.Start[back-1]); op != graph.None {
			waitFor(b, back, op)
		}
	}
}

// drainOne joins a call to the last op launched before it on its stream; where that is not
// recorded, on the stream whose last op is over last of those that are over when the call returns.
func drainOne(b *builder, back graph.Node, w timeline.SyncWait) {
	best := graph.Node(graph.None)
	for i := range b.r.streams {
		s := &b.r.streams[i]
		if s.device < 0 || w.Kind == timeline.StreamSync && w.Stream != timeline.Unknown && s.number != w.Stream {
			continue
		}
		op := b.lastAsked(i, b.r.Start[back-1])
		if op == graph.None || b.r.End[op] > b.r.End[back]+nearby {
			continue
		}
		if best == graph.None || b.r.End[op] > b.r.End[best] {
			best = op
		}
	}
	if best != graph.None {
		waitFor(b, back, best)
	}
}

// allEnds lists the ops of all devices by end.
func allEnds(b *builder) []graph.Node {
	var ops []graph.Node
	b.r.ops(func(op graph.Node) { ops = append(ops, op) })
	sort.SliceStable(ops, func(i, j int) bool { return b.r.End[ops[i]] < b.r.End[ops[j]] })
	return ops
}

// eventBefore joins a call to the op that ends last while it is open, if it was launched before.
func eventBefore(b *builder, back graph.Node, ends []graph.Node) {
	call := back - 1
	i := sort.Search(len(ends), func(i int) bool { return b.r.End[ends[i]] > b.r.End[back]+nearby/4 })
	for i--; i >= 0 && b.r.End[ends[i]] >= b.r.Start[call]; i-- {
		if of := b.r.Before[ends[i]]; of == graph.None || b.r.Start[of] < b.r.Start[call] {
			waitFor(b, back, ends[i])
			return
		}
	}
}

// waitFor adds an edge from an op to the end of a call, but for one that the times contradict.
func waitFor(b *builder, back, op graph.Node) {
	if lag := b.r.End[back] - b.r.End[op]; lag > -settles {
		b.r.Graph.Connect(op, back, graph.Sync, lag)
	}
}
