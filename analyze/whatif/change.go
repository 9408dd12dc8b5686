package whatif

import (
	"sort"

	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace/graph"
)

// Lateness is an assumption on when the peers of a single rank come to a collective.
type Lateness uint8

// What is assumed of peers. With the traces of all ranks nothing is.
const (
	AsRecorded Lateness = iota
	InTime              // nobody is waited for
)

// Change is a graph that is being edited.
type Change struct {
	*World
	G     *graph.Graph
	late  Lateness
	moved []graph.Node        // collectives whose place is new: they have to find room
	gone  map[graph.Node]bool // ops that an edit took out
}

// change begins an edit of what was recorded.
func (w *World) change(late Lateness) *Change {
	c := &Change{World: w, G: w.Graph.Clone(), late: late}
	if late == InTime && len(w.Ranks) == 1 {
		r := w.Ranks[0]
		for i, n := range r.Kernel {
			c.G.Work[n] = min(c.G.Work[n], r.Transfer[i])
		}
	}
	return c
}

// mostRounds bounds how often room is looked for: collectives of a stream find it one by one.
const mostRounds = 64

// Replay replays the edited graph. A collective that was moved begins when there is room: a kernel
// that fills the device lets it in as it ends.
func (c *Change) Replay() (*graph.Times, error) {
	for round := 0; ; round++ {
		p, err := c.Plan(c.G)
		if err != nil {
			return nil, err
		}
		t := p.Replay()
		if len(c.moved) == 0 || round == mostRounds || !c.makeRoom(p, t) {
			return t, nil
		}
	}
}

// makeRoom makes each moved collective wait for the kernel in the middle of which it starts,
// unless it follows another collective at once, whose room it takes. It reports whether
// anything changed.
func (c *Change) makeRoom(p *graph.Plan, t *graph.Times) bool {
	changed := false
	for _, n := range c.moved {
		if e := p.Binding(t, n); e != graph.None && c.G.Kind[e] == graph.Order {
			continue
		}
		rank, _ := c.rankOf(n)
		if k := c.running(rank, n, t); k != graph.None {
			c.G.Connect(k, n, graph.Time, c.Ranks[rank].Usual[classTail])
			changed = true
		}
	}
	return changed
}

// running is the kernel that fills the device of a collective when that starts, graph.None
// if there is room.
func (c *Change) running(rank int, n graph.Node, t *graph.Times) graph.Node {
	r := c.Ranks[rank]
	own := n - c.nodes[rank]
	device := r.deviceOf(own)
	start := t.Start[n]
	for i := range r.streams {
		s := &r.streams[i]
		if s.device != device || c.G.Resource[n] == c.Graph.Resource[n] && r.Graph.Resource[own] == int32(i) {
			continue // its own stream
		}
		from := sort.Search(len(s.ops), func(i int) bool { return t.Start[c.nodes[rank]+s.ops[i]] >= start })
		for _, op := range s.ops[max(0, from-mostBeside):from] {
			k := c.nodes[rank] + op
			if t.Start[k] < start && t.End[k]+r.Usual[classTail] > start && r.fills(op) {
				return k
			}
		}
	}
	return graph.None
}

// mostBeside bounds how many kernels of a stream overlap each other.
const mostBeside = 8

// fills reports whether a kernel leaves no room for a collective beside it.
func (r *Rank) fills(op graph.Node) bool {
	return r.Bucket[op] == uint8(timeline.ComputeBucket) && r.Blocks[op] >= fullGrid
}

// fullGrid is from how many blocks on a kernel is taken to fill a device: several times the
// number of processors that any has.
const fullGrid = 512

// deviceOf is the device of an op.
func (r *Rank) deviceOf(op graph.Node) int { return int(r.Device[op]) }
