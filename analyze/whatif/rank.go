package whatif

import (
	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace/graph"
)

// What is what a node of a rank's graph stands for.
type What uint8

// What nodes stand for. A call of the host that waits for the device is two nodes: Call until it
// begins to wait, and Return.
const (
	Call   What = iota // a call of the host
	Return             // the end of a call that waits
	Op                 // activity of a device: a kernel, a copy, a memset
)

// Rank is the execution graph of one rank, calibrated so that its replay is what was
// recorded. It is a value without references into the trace.
type Rank struct {
	Facts *facts.Rank
	Graph graph.Graph
	Nodes
	Inferred [graph.NumKinds]int // edges that were inferred, by kind
	Waits    Waits
	Usual    [numClasses]int64 // ns: what an edge of a class usually takes

	Transfer  []int64                   // ns by index of a collective: without waiting for peers, see transfers
	Hoists    []Hoist                   // reduce-scatters that could be launched when their gradient is ready
	Same      map[graph.Node]graph.Node // ops launched before the recording, and the same one period later
	Scales    []Pass                    // passes that scale gradients
	OnCompute bool                      // reduce-scatters stand between compute on one stream
	Why       string                    // why there is no graph, "" where there is one
	streams   []stream                  // by resource of the graph: those of the host have no ops
}

// Nodes are columns by node of a rank's graph.
type Nodes struct {
	What       []What
	Start, End []int64 // ns, as recorded
	Name       []int32 // index into Names
	Names      []string
	Step       []int32      // index of the step in which the host called or launched it, -1 none
	Collective []int32      // index into Rank.Collectives of the facts, -1 none
	Kernel     []graph.Node // by index of a collective: its node
	Before     []graph.Node // of an op: the call that launched it, graph.None unknown
	Loading    []int64      // ns of data loading in the gap before a call and in it
	Bucket     []uint8      // timeline.Bucket of an op; else timeline.IdleBucket
	Row        []int32      // of the trace
	Late       []int64      // ns by which an op starts later than its edges explain, negative: earlier
	Bound      []int32      // the edge of Graph for which an op waited last, graph.None for others
	Blocks     []int32      // of a kernel: blocks of its grid, 0 unknown
	Device     []int16      // index into the devices of the rank, -1 for the host
}

// Waits counts the calls with which the host makes a stream wait for another, and what is known
// of them.
type Waits struct {
	Recorded int // pairs that the profiler recorded (cuda_sync)
	Inferred int // pairs that follow from how ProcessGroupNCCL launches collectives
	Unknown  int // calls whose pair is unknown
}

// stream is the ops of one track of a device, in order.
type stream struct {
	device int // index into the devices of the rank
	number int64
	ops    []graph.Node
}

// Of builds the graph of a rank. A rank of which no device activity was recorded, or no launch
// call of it, has none, and says why.
func Of(x *timeline.Rank, f *facts.Rank) *Rank {
	r := &Rank{Facts: f}
	if r.Why = missing(x); r.Why != "" {
		return r
	}
	b := newBuilder(x, f, r)
	b.host()
	b.devices()
	b.events()
	b.imaged()
	b.waits()
	r.Same = b.image
	b.byTime()
	b.calibrate()
	r.Transfer = r.transfers()
	b.hoists()
	b.scales()
	return r
}

// missing says what the trace of a rank lacks for a graph.
func missing(x *timeline.Rank) string {
	switch {
	case x.Links.Events == 0:
		return "no device activity was recorded: record with ProfilerActivity.CUDA"
	case x.Links.Unlinked == x.Links.Events:
		return "no device event is joined to its launch call: the trace has no correlation ids, or no host calls"
	}
	return ""
}

// ops calls do for the ops of a rank, in order of their nodes.
func (n *Nodes) ops(do func(op graph.Node)) {
	for op, what := range n.What {
		if what == Op {
			do(graph.Node(op))
		}
	}
}
