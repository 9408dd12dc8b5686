package whatif

import (
	"cmp"
	"slices"

	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace/graph"
)

// Part is what a stretch of a critical path is spent on.
type Part uint8

// The parts of a critical path.
const (
	PartHost    Part = iota // calls of the host and the time between them
	PartLaunch              // from the start of a launch to the start of the operation
	PartCompute             // kernels
	PartMemory              // copies and memsets
	PartComm                // collectives
	PartGap                 // from one operation to the next on its stream
	PartEvent               // from the end of an operation to what waits for it on another stream
	PartUnknown             // what the graph does not explain
	NumParts
)

// String is a part as reports call it.
func (p Part) String() string {
	return [...]string{
		"host", "launch_latency", "compute", "memory", "communication", "kernel_gap", "event_latency", "unknown",
	}[p]
}

// Critical is the critical path of the steps of one kind: what decided how long they took.
type Critical struct {
	Kind     int             // index into World.Kinds
	Steps    int             // complete ones, on all ranks and devices
	Parts    [NumParts]int64 // ns, mean per step; they sum to the mean duration
	Names    []Named         // the operations with most of it
	Inferred int             // hops over inferred edges, all steps together
	Edges    []Joint         // the most frequent of those
	Hops     int             // all hops
}

// Named is how much of a critical path the operations of a name take.
type Named struct {
	Name  string
	Time  int64 // ns, mean per step
	Count int   // all steps together
}

// Joint is inferred edges of a kind between operations of two names, on critical paths.
type Joint struct {
	Kind     graph.Kind // Event: by how process groups launch collectives; Time: by what ends just before
	From, To string
	Count    int // all steps together
}

// joint is a Joint without its count.
type joint struct {
	kind     graph.Kind
	from, to string
}

// mostNames bounds the operations that are listed.
const mostNames = 5

// critical walks critical paths.
type critical struct {
	*World
	plan  *graph.Plan
	rows  []Critical
	names []map[string]*Named
	row   *Critical

	inferredOf []map[joint]int // by kind of step
	inferred   map[joint]int   // of the row
	named      map[string]*Named
	from       int64 // ns: the window's start
	at         int64 // ns: down to here the path is charged
}

// lastOps are, by step, the op at which its window ends: the first of the next step, else its last.
func lastOps(w *World) []graph.Node {
	list := make([]graph.Node, len(w.steps))
	rank := -1
	var first, last [][]graph.Node // by device and step, of the rank at hand
	for i, s := range w.steps {
		if s.rank != rank {
			rank = s.rank
			first, last = firstAndLast(w, rank)
		}
		list[i] = w.at(rank, last[s.device][s.index])
		for _, next := range first[s.device][s.index+1:] {
			if next != graph.None {
				list[i] = w.at(rank, next)
				break
			}
		}
	}
	return list
}

// firstAndLast are, by device and step of a rank, the op that starts first and that which ends last.
func firstAndLast(w *World, rank int) (first, last [][]graph.Node) {
	r := w.Ranks[rank]
	for range r.Facts.Devices {
		none := make([]graph.Node, len(r.Facts.Steps))
		for i := range none {
			none[i] = graph.None
		}
		first, last = append(first, none), append(last, slices.Clone(none))
	}
	r.ops(func(op graph.Node) {
		step := r.Step[op]
		if step < 0 {
			return
		}
		f, l := &first[r.Device[op]][step], &last[r.Device[op]][step]
		if *f == graph.None || r.Start[op] < r.Start[*f] {
			*f = op
		}
		if *l == graph.None || r.End[op] > r.End[*l] {
			*l = op
		}
	})
	return first, last
}

// walk charges the window of a step to what is on the path to its end.
func (c *critical) walk(s *step, end graph.Node) {
	win := c.window(s)
	c.row, c.named, c.from = &c.rows[s.kind], c.names[s.kind], win.start
	c.inferred = c.inferredOf[s.kind]
	c.row.Steps++
	c.at = win.end
	n := end
	if c.Seen.Start[n] < win.end { // the last step ends with its own op
		n = c.plan.Decides(c.Seen, n)
		c.charge(c.partOf(n), c.Seen.Start[n], n)
	}
	for c.at > c.from {
		e := c.edge(n)
		if e == graph.None {
			c.charge(PartUnknown, c.from, graph.None)
			return
		}
		n = c.hop(n, e)
	}
}

// hop charges an edge and, where that counts from its end, the node that it comes from.
func (c *critical) hop(n graph.Node, e int32) graph.Node {
	g := c.Graph
	from := g.From[e]
	c.row.Hops++
	if c.isInferred(e) {
		c.row.Inferred++
		c.inferred[joint{g.Kind[e], c.nameOf(from), c.nameOf(n)}]++
	}
	if g.Kind[e] == graph.Launch {
		c.charge(PartLaunch, c.Seen.Start[from], graph.None)
		return from
	}
	if g.Kind[e] == graph.Queue {
		c.charge(PartHost, c.Seen.Start[from], graph.None)
		return from
	}
	c.charge(c.partOfEdge(n, e), c.Seen.End[from], graph.None)
	from = c.plan.Decides(c.Seen, from)
	c.charge(c.partOf(from), c.Seen.Start[from], from)
	return from
}

// window is the device window of a step, on the clock of the world.
func (c *critical) window(s *step) extent {
	rank := c.Ranks[s.rank]
	shift := c.Seen.Start[c.nodes[s.rank]] - rank.Start[0]
	for _, win := range rank.Facts.Steps[s.index].Windows {
		if win.Device == s.device {
			return extent{win.Start + shift, win.End + shift}
		}
	}
	return extent{}
}

// edge is the edge for which a node waited last, of those that have not been cut.
func (c *critical) edge(n graph.Node) int32 {
	rank, own := c.rankOf(n)
	if e := c.Ranks[rank].Bound[own]; e != graph.None && c.Graph.To[c.edges[rank]+e] != graph.None {
		return c.edges[rank] + e
	}
	return c.plan.Binding(c.Seen, n)
}

// charge gives the time down to an instant to a part, and to the operation n.
func (c *critical) charge(p Part, until int64, n graph.Node) {
	until = max(until, c.from)
	if until >= c.at {
		return
	}
	took := c.at - until
	c.at = until
	c.row.Parts[p] += took
	if n == graph.None {
		return
	}
	rank, own := c.rankOf(n)
	r := c.Ranks[rank]
	if r.What[own] != Op {
		return
	}
	name := r.Names[r.Name[own]]
	if c.named[name] == nil {
		c.named[name] = &Named{Name: name}
	}
	c.named[name].Time += took
	c.named[name].Count++
}

// partOf is the part that a node itself is.
func (c *critical) partOf(n graph.Node) Part {
	rank, own := c.rankOf(n)
	r := c.Ranks[rank]
	switch b := timeline.Bucket(r.Bucket[own]); {
	case r.What[own] != Op:
		return PartHost
	case b == timeline.ComputeBucket:
		return PartCompute
	case b == timeline.MemoryBucket:
		return PartMemory
	}
	return PartComm
}

// partOfEdge is the part that the lag of an edge into a node is.
func (c *critical) partOfEdge(n graph.Node, e int32) Part {
	rank, own := c.rankOf(n)
	r := c.Ranks[rank]
	switch k := c.Graph.Kind[e]; {
	case r.What[own] != Op:
		return PartHost
	case r.Late[own] > unexplained:
		return PartUnknown
	case k == graph.Order:
		return PartGap
	}
	return PartEvent
}

// mean makes means of the sums of a kind.
func (c *critical) mean(i int) {
	row := &c.rows[i]
	if row.Steps == 0 {
		return
	}
	for p := range row.Parts {
		row.Parts[p] /= int64(row.Steps)
	}
	for _, n := range c.names[i] {
		n.Time /= int64(row.Steps)
		row.Names = append(row.Names, *n)
	}
	slices.SortFunc(row.Names, func(a, b Named) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Name, b.Name))
	})
	row.Names = row.Names[:min(len(row.Names), mostNames)]
	for j, count := range c.inferredOf[i] {
		row.Edges = append(row.Edges, Joint{j.kind, j.from, j.to, count})
	}
	slices.SortFunc(row.Edges, func(a, b Joint) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To),
			cmp.Compare(a.Kind, b.Kind))
	})
	row.Edges = row.Edges[:min(len(row.Edges), mostNames)]
}

// isInferred reports whether no profiler recorded an edge: one by time, or an event of a rank whose
// trace has none.
func (c *critical) isInferred(e int32) bool {
	switch c.Graph.Kind[e] {
	case graph.Time:
		return true
	case graph.Event:
		rank, _ := c.rankOf(c.Graph.From[e])
		return c.Ranks[rank].Waits.Recorded == 0
	}
	return false
}

// nameOf is the name of a node as its trace has it.
func (c *critical) nameOf(n graph.Node) string {
	rank, own := c.rankOf(n)
	return c.Ranks[rank].Names[c.Ranks[rank].Name[own]]
}
