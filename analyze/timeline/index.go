package timeline

import (
	"slices"

	"github.com/gaprof/gaprof/internal/parallel"
	"github.com/gaprof/gaprof/trace"
)

// Index is what a trace says of where and when, joined and ready to be asked. It is
// read-only: any number of goroutines may use it.
type Index struct {
	*Rows
	Ranks    []*Rank
	Problems []trace.Problem // of the trace as a whole: device rows nobody or several can claim
}

// Rank is the part of a trace that one rank wrote: its host threads and the devices
// it launches on. A trace of a device alone has no host tracks.
type Rank struct {
	*Rows
	Process    string // of its host threads, "" for a trace of a device alone
	Host       []trace.TrackID
	Devices    []*Device
	Links      Links
	Nodes      []Span // spans of backward nodes and gradient accumulations, by start
	Optimizers []Span // outermost optimizer spans, by start
	Only       bool   // no other rank is in the trace

	launched []Launched
	exact    bool // gradient accumulations are recorded themselves, not only the spans around them
}

// New indexes a trace. There is one rank in most, several where files were merged,
// none where nothing ran.
//
//  1. Names are classified, threads marked.
//  2. Processes and devices become ranks.
//  3. Device events are joined to their launches, interval sets are made.
func New(t *trace.Trace) *Index {
	x := &Index{Rows: newRows(t)}
	p := partitioner{Rows: x.Rows}
	scopes := p.partition()
	x.Problems = p.problems
	for _, s := range scopes {
		x.Ranks = append(x.Ranks, newRank(x.Rows, s, len(scopes) == 1))
	}
	return x
}

func newRank(x *Rows, s *scope, only bool) *Rank {
	r := &Rank{Rows: x, Process: s.pid, Host: s.host, Devices: s.devices, Only: only}
	parallel.Both(func() {
		r.Links = link(x, s.host, s.devices)
		for _, d := range s.devices {
			d.build(x)
		}
		r.launched = launches(x, s.devices, r.Links.Events-r.Links.Unlinked)
	}, func() {
		r.Nodes = x.Spans(s.host, EvaluateFunction|AccumulateGrad)
		r.exact = slices.ContainsFunc(r.Nodes, func(n Span) bool { return x.Class(n.Row) == AccumulateGrad })
		r.Optimizers = outermost(x, s.host, OptimizerStep)
	})
	return r
}

// Own reports whether a track of no device is of the rank's process; where no other
// rank is in the trace all are.
func (r *Rank) Own(id trace.TrackID) bool { return r.Only || r.Trace.Tracks()[id].PID == r.Process }

// Accumulates reports whether one of Nodes is a gradient accumulation. Where those are
// recorded themselves, the spans that the autograd engine puts around them are not.
func (r *Rank) Accumulates(row int32) bool {
	class := r.Class(row)
	return class == AccumulateGrad || class&AccumulateGrad != 0 && !r.exact
}

// Communicates reports whether the host threads carry collectives, of any backend.
func (r *Rank) Communicates() bool {
	return slices.ContainsFunc(r.Host, func(id trace.TrackID) bool { return r.Track(id)&CollectiveSpan != 0 })
}

// CollectiveRows lists the device rows that are collectives, by device and start.
func (r *Rank) CollectiveRows() []int32 {
	var rows []int32
	for _, d := range r.Devices {
		for i, kind := range d.Kind {
			if kind != NotCommunication {
				rows = append(rows, d.Rows[i])
			}
		}
	}
	return rows
}

// outermost lists the spans of a class that stand in no other of it, by start.
func outermost(x *Rows, tracks []trace.TrackID, class Class) []Span {
	var list []Span
	x.Each(tracks, class, func(row int32) {
		if !x.Inside(row, class) {
			list = append(list, x.Span(row))
		}
	})
	SortSpans(list)
	return list
}

// Empty reports whether nothing was recorded that could be analysed.
func (r *Rank) Empty() bool { return r.Links.Events == 0 && len(r.Host) == 0 }
