package whatif

import (
	"github.com/gaprof/gaprof/analyze/facts"
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
	Uses      map[graph.Node]graph.Node // by collective on a stream that computes: what uses its result
	Same      map[graph.Node]graph.Node // ops launched before the recording, and the same one period later
	Queue     Queue                     // of launches
	Messages  []Message                 // sends and receives
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
	Asking     []Asking     // by the same: when the host asked for it
	Before     []graph.Node // of an op: the call that launched it, graph.None unknown
	Loading    []int64      // ns of data loading in the gap before a call and in it
	Bucket     []uint8      // timeline.Bucket of an op; else timeline.IdleBucket
	Row        []int32      // of the trace
	Late       []int64      // ns by which an op starts later than its edges explain, negative: earlier
	Bound      []int32      // the edge of Graph for which an op waited last, graph.None for others
	Blocks     []int32      // of a kernel: blocks of its grid, 0 unknown
	Device     []int16      // index into the devices of the rank, -1 for the host
}

// Asking is when the host asks for a collective: its operator with all calls in it, and those that record and
// wait for events right before and after it. Empty where that is unknown.
type Asking struct{ From, To int64 } // ns

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

// ops calls do for the ops of a rank, in order of their nodes.
func (n *Nodes) ops(do func(op graph.Node)) {
	for op, what := range n.What {
		if what == Op {
			do(graph.Node(op))
		}
	}
}

// streamOf is the device of a stream, -1 for a thread of the host and for none.
func (r *Rank) streamOf(resource int32) int {
	if resource == graph.None {
		return -1
	}
	return r.streams[resource].device
}

// class is what kinds of edges have a usual time of their own.
type class uint8

const (
	classOrder     class = iota // an op after another on its stream
	classOrderComm              // a collective after another
	classLaunch                 // from the start of the call
	classEvent                  // what waits for a collective
	classEventComm              // a collective that waits for compute
	classTime                   // by time
	classTail                   // a collective that finds room on the device as a kernel ends
	classSync                   // the host returns from waiting
	numClasses
)

// Hoist is the reduce-scatters that an optimizer launches in one step although their gradients
// were ready in backward.
type Hoist struct {
	Optimizer string
	Step      int32                     // -1: before the recording
	Moved     []graph.Node              // those that can be launched earlier, in the order of their stream
	Ready     map[graph.Node]graph.Node // by kernel: the op after which its gradient is final
	Grads     map[graph.Node]int32      // by kernel: the row that accumulates its gradient; none before the recording
	After     graph.Node                // what is before all of Order on the stream, or graph.None
	Order     []graph.Node              // of the stream, as it would be launched
	Was       []graph.Node              // the same as it was
	Then      graph.Node                // what follows all of Order, or graph.None
}

// Pass is the ops of one pass over gradients.
type Pass struct {
	Step  int32
	Ops   []graph.Node
	Bytes []int64 // by op: read and written, 0 unknown
	Lead  int64   // ns from the start of the first operator to its call
	Calls int     // operators that launch them: one foreach call is one
	Mixed bool    // Ops holds others, too
	Hooks bool    // what it scales is scaled one by one on purpose: in backward, or right before it is reduced
}

// World is the graphs of all ranks of a run in one, in which the members of a collective end
// together.
type World struct {
	Ranks     []*Rank
	Graph     *graph.Graph
	Joined    int       // collectives of several ranks that are one in the graph
	Apart     int       // collectives of several ranks whose times contradict each other: each rank keeps its own
	Transfers Transfers // sends and receives of several ranks
	Broken    int       // inferred edges that were taken out because they closed a circle

	nodes []graph.Node // by rank: where its nodes begin
	edges []int32
	shift []int64 // ns by rank: added to its times
	Seen  *graph.Times

	Why     string // why there is no graph, "" where there is one
	Kinds   []Kind
	Numbers []int64 // of the ranks in the run
	Late    int     // the rank that causes the most wait, as an index; -1 none

	base   *graph.Plan // of Graph
	circle error       // why there is none: a circle of certain edges
	broken int         // edges taken out of any graph
	before []paces     // of the bases of predictions, without an edit

	steps  []step
	shared [][]graph.Node // collectives that all ranks have, in order: their nodes by rank
}

// paces are how long steps take, and by how much later each ends than the one before, in ns.
type paces struct{ durations, periods []int64 }

// Kind is steps with the same optimizers and accumulation, on all ranks.
type Kind struct {
	Name       string   // "A", "B", ... by first appearance
	Optimizers []string // sorted
	Steps      int      // complete ones with a device window, on all ranks and devices
	Duration   int64    // ns, mean as recorded
}

// step is one complete step of a rank on a device.
type step struct {
	rank, index int
	device      int
	kind        int // index into World.Kinds
}
