package whatif

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/analyze/idle"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/internal/runs"
	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/graph"
)

// builder makes the graph of a rank.
type builder struct {
	x     *timeline.Rank
	f     *facts.Rank
	r     *Rank
	roles map[trace.StringID]role // of names of calls
	names map[trace.StringID]int32
	node  map[int32]graph.Node // nodes of calls and ops, by row
	calls []graph.Node         // of all threads, by thread and then by start
	drive map[trace.TrackID]bool
	sync  []graph.Node // Return nodes
	first int64        // ns: when the recording begins
	asked [][]int64    // by stream and op: when its call began

	image, origin map[graph.Node]graph.Node // ops that were launched before the recording, and the same later
}

func newBuilder(x *timeline.Rank, f *facts.Rank, r *Rank) *builder {
	b := &builder{
		x: x, f: f, r: r,
		roles: make(map[trace.StringID]role), names: make(map[trace.StringID]int32),
		node: make(map[int32]graph.Node, 3*x.Links.Events), drive: make(map[trace.TrackID]bool),
		first: f.First,
	}
	for _, id := range idle.DrivingThreads(x) {
		b.drive[id] = true
	}
	r.Graph.Grow(3*x.Links.Events, 8*x.Links.Events)
	r.Kernel = make([]graph.Node, len(f.Collectives))
	return b
}

// role is what a call of the runtime does in a graph.
type role uint8

const (
	otherCall   role = iota // nothing, unless it launches device activity
	recordEvent             // records an event on a stream
	waitEvent               // makes a stream wait for an event
	syncDevice              // waits for all streams
	syncStream              // waits for a stream
	syncEvent               // waits for an event
	blockCopy               // copies, and waits for the copy
	numRoles
)

// roleOf reads the role of a call from its name, of whatever vendor.
func roleOf(name string) role {
	switch {
	case strings.Contains(name, "EventRecord"):
		return recordEvent
	case strings.Contains(name, "StreamWaitEvent"):
		return waitEvent
	case strings.Contains(name, "EventSynchronize"):
		return syncEvent
	case strings.Contains(name, "StreamSynchronize"):
		return syncStream
	case strings.Contains(name, "DeviceSynchronize"), strings.Contains(name, "CtxSynchronize"):
		return syncDevice
	case strings.Contains(name, "Memcpy") && !strings.Contains(name, "Async"):
		return blockCopy
	}
	return otherCall
}

func (b *builder) role(row int32) role {
	id := b.x.Col.Name[row]
	r, seen := b.roles[id]
	if !seen {
		r = roleOf(b.x.Name(row))
		b.roles[id] = r
	}
	return r
}

// name numbers the name of a row.
func (b *builder) name(row int32) int32 {
	id := b.x.Col.Name[row]
	n, seen := b.names[id]
	if !seen {
		n = int32(len(b.r.Names))
		b.names[id], b.r.Names = n, append(b.r.Names, strings.Clone(b.x.Name(row)))
	}
	return n
}

// add adds a node for a row, with the times at which it was recorded.
func (b *builder) add(what What, resource, row int32, start, end int64) graph.Node {
	r := b.r
	n := r.Graph.Add(resource, end-start)
	r.What, r.Name, r.Row = append(r.What, what), append(r.Name, b.name(row)), append(r.Row, row)
	r.Start, r.End = append(r.Start, start), append(r.End, end)
	r.Step, r.Collective = append(r.Step, -1), append(r.Collective, -1)
	r.Before, r.Loading = append(r.Before, graph.None), append(r.Loading, 0)
	r.Bucket, r.Late = append(r.Bucket, uint8(timeline.IdleBucket)), append(r.Late, 0)
	r.Blocks, r.Device = append(r.Blocks, 0), append(r.Device, int16(r.streamOf(resource)))
	return n
}

// launched lists the rows of calls that launch device activity, ascending.
func (b *builder) launched() []int32 {
	var rows []int32
	for _, d := range b.x.Devices {
		for _, l := range d.Launch {
			if l >= 0 {
				rows = append(rows, l)
			}
		}
	}
	runs.Sort(rows, cmp.Compare[int32], nil)
	return slices.Compact(rows)
}
