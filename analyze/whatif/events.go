package whatif

import (
	"slices"
	"sort"

	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/graph"
)

// events adds what streams wait for: pairs of a record and a wait that the profiler recorded,
// else those that follow from how ProcessGroupNCCL launches collectives.
func (b *builder) events() {
	waits := b.x.SyncWaits()
	b.indexStreams()
	paired := func(w timeline.SyncWait) bool { return w.Kind == timeline.StreamWait && w.RecordCall >= 0 }
	if slices.ContainsFunc(waits, paired) {
		b.recorded(waits)
		return
	}
	b.inferred()
}

// indexStreams notes when the ops of each stream were launched, in the order of the stream.
// Ops without a known call count as launched before the recording.
func (b *builder) indexStreams() {
	b.asked = make([][]int64, len(b.r.streams))
	for i := range b.r.streams {
		at := b.first - 1
		for _, op := range b.r.streams[i].ops {
			if call := b.r.Before[op]; call != graph.None {
				at = max(at, b.r.Start[call])
			}
			b.asked[i] = append(b.asked[i], at)
		}
	}
}

// lastAsked is the last op of a stream that was launched before t, graph.None without one.
func (b *builder) lastAsked(stream int, t int64) graph.Node {
	asked := b.asked[stream]
	i := sort.Search(len(asked), func(i int) bool { return asked[i] > t })
	if i == 0 {
		return graph.None
	}
	return b.r.streams[stream].ops[i-1]
}

// firstAsked is the first op of a stream that was launched after t, graph.None without one.
func (b *builder) firstAsked(stream int, t int64) graph.Node {
	asked := b.asked[stream]
	i := sort.Search(len(asked), func(i int) bool { return asked[i] > t })
	if i == len(asked) {
		return graph.None
	}
	return b.r.streams[stream].ops[i]
}

// streamAt finds a stream of a device by its number, -1 without one.
func (b *builder) streamAt(pid string, number int64) int {
	for i := range b.r.streams {
		s := &b.r.streams[i]
		if s.device >= 0 && s.number == number && b.x.Devices[s.device].PID == pid {
			return i
		}
	}
	return -1
}

// recorded adds the pairs that the profiler recorded.
func (b *builder) recorded(waits []timeline.SyncWait) {
	calls := b.callsByID()
	for i := range waits {
		w := &waits[i]
		call, ok := calls[b.x.Col.Corr[w.Row]]
		if w.Kind != timeline.StreamWait || !ok {
			continue
		}
		from, to := b.streamAt(w.Device, w.OnStream), b.streamAt(w.Device, w.Stream)
		if w.RecordCall < 0 || from < 0 || to < 0 {
			b.r.Waits.Unknown++
			continue
		}
		b.r.Waits.Recorded++
		source := b.lastAsked(from, b.x.Col.Start[w.RecordCall])
		target := b.firstAsked(to, b.r.Start[call])
		if source != graph.None && target != graph.None && source != target {
			b.r.Graph.Connect(source, target, graph.Event, b.r.Start[target]-b.r.End[source])
		}
	}
}

// callsByID finds calls by their correlation id.
func (b *builder) callsByID() map[trace.ID]graph.Node {
	ids := make(map[trace.ID]graph.Node)
	for _, call := range b.calls {
		if id := b.x.Col.Corr[b.r.Row[call]]; id != 0 {
			ids[id] = call
		}
	}
	return ids
}

// inferred adds the pairs of ProcessGroupNCCL. Inside record_param_comms it first records an
// event on the stream of the caller, for which the collective waits: that is the last compute
// op launched before. Waiting for the work later is a cudaStreamWaitEvent outside of it: the
// next compute op waits for a collective.
func (b *builder) inferred() {
	in := inference{builder: b, source: make(map[int32]graph.Node), compute: graph.None}
	in.ops, in.pending = b.opsByCall(), newPending(b)
	for _, call := range b.calls {
		in.call(call)
	}
	b.r.Waits.Unknown += in.waits
}

// opsByCall lists the ops that each call launched.
func (b *builder) opsByCall() map[graph.Node][]graph.Node {
	ops := make(map[graph.Node][]graph.Node)
	b.r.ops(func(op graph.Node) {
		if call := b.r.Before[op]; call != graph.None {
			ops[call] = append(ops[call], op)
		}
	})
	return ops
}

// inference goes over the calls of the host in order.
type inference struct {
	*builder
	ops     map[graph.Node][]graph.Node
	source  map[int32]graph.Node // by record_param_comms: what its collectives wait for
	compute graph.Node           // the last compute op launched
	pending *pending             // collectives launched and not waited for
	waits   int                  // waits since the last compute op was launched
	marked  bool                 // the last call recorded an event outside a collective
}

func (in *inference) call(call graph.Node) {
	row := in.r.Row[call]
	switch in.role(row) {
	case recordEvent:
		around := in.x.RecordAround(row)
		in.marked = around < 0
		if _, seen := in.source[around]; around >= 0 && !seen {
			in.source[around] = in.compute
		}
		return
	case waitEvent:
		if !in.marked && in.x.RecordAround(row) < 0 {
			in.waits++
		}
	}
	in.marked = false
	for _, op := range in.ops[call] {
		in.launch(op, row)
	}
}

// launch joins an op to what it waits for.
func (in *inference) launch(op graph.Node, call int32) {
	if in.r.Graph.Resource[op] == graph.None {
		return
	}
	if in.r.Collective[op] < 0 {
		for ; in.waits > 0; in.waits-- {
			in.waitsFor(op)
		}
		in.compute = op
		return
	}
	in.pending.launch(op)
	if around := in.x.RecordAround(call); around >= 0 {
		if source, ok := in.source[around]; ok && source != graph.None {
			in.connect(source, op)
		}
	}
}

// waitsFor joins a compute op to a collective that it waits for: the one that ends shortly
// before it starts, else the oldest that nobody waited for.
func (in *inference) waitsFor(op graph.Node) {
	if c := in.pending.take(in.r.Start[op]); c != graph.None {
		in.connect(c, op)
		return
	}
	in.r.Waits.Unknown++
}

// connect adds an inferred edge, but for one that the times contradict.
func (in *inference) connect(from, to graph.Node) {
	if in.r.End[from] > in.r.Start[to]+nearEnd {
		in.r.Waits.Unknown++
		return
	}
	in.r.Waits.Inferred++
	in.r.Inferred[graph.Event]++
	in.r.Graph.Connect(from, to, graph.Event, in.r.Start[to]-in.r.End[from])
}
