package timeline

import (
	"slices"

	"github.com/gaprof/gaprof/internal/parallel"
	"github.com/gaprof/gaprof/trace"
)

// Index is a trace with everything joined that concerns where and when. It is read-only,
// so any number of goroutines may use it, and it keeps the trace in memory.
type Index struct {
	*Rows
	Ranks    []*Rank         // in the order of their host processes in the trace
	Problems []trace.Problem // of the trace as a whole: device events that no rank or several can claim
}

// Rank is the part of a trace that one rank wrote: its host threads and the devices
// it launches on. A trace of a device alone has no host threads.
type Rank struct {
	*Rows                      // of the whole trace, shared by its ranks
	Process    string          // process of the host threads; "" for a trace of a device alone
	Host       []trace.TrackID // the host threads
	Devices    []*Device       // in the order of the trace; none where only the host was recorded
	Links      Links           // how far device events are joined to their launches
	Nodes      []Span          // evaluate_function and AccumulateGrad spans, in order of start; see Accumulates
	Optimizers []Span          // outermost optimizer spans, in order of start
	Only       bool            // no other rank is in the trace

	closures []Span     // the part of optimizer spans that is a closure, in order of start
	launched []Launched // every linked device event, by launch call
	exact    bool       // gradient accumulations are recorded themselves, not only the spans around them
}

// New indexes a trace. Most traces hold one rank; merged files hold several, and a trace
// in which nothing ran holds none.
//
//  1. Names are classified, threads marked.
//  2. Processes and devices become ranks.
//  3. Device events are joined to their launches, interval sets are made.
//  4. Device events whose duration cannot be true are left without one.
func New(t *trace.Trace) *Index { return NewWith(t, nil) }

// NewWith is New where the user declares of some kernels what they communicate.
func NewWith(t *trace.Trace, declared []Declaration) *Index {
	x := &Index{Rows: newRows(t, declared)}
	p := partitioner{Rows: x.Rows}
	scopes := p.partition()
	x.Problems = p.problems
	for _, s := range scopes {
		x.Ranks = append(x.Ranks, newRank(x.Rows, s, len(scopes) == 1))
	}
	return x
}

// newRank builds a rank from its part of the trace. The device side and the host side share
// nothing that either writes, so they are built at the same time.
func newRank(x *Rows, s *scope, only bool) *Rank {
	r := &Rank{Rows: x, Process: s.pid, Host: s.host, Devices: s.devices, Only: only}
	parallel.Both(func() {
		r.Links = link(x, s.host, s.devices)
		parallel.Both(func() {
			for _, d := range s.devices {
				d.build(x)
			}
		}, func() { r.launched = launches(x, s.devices, r.Links.Events-r.Links.Unlinked) })
	}, func() {
		r.Nodes = x.Spans(s.host, EvaluateFunction|AccumulateGrad)
		r.exact = slices.ContainsFunc(r.Nodes, func(n Span) bool { return x.Class(n.Row) == AccumulateGrad })
		r.Optimizers = outermost(x, s.host, OptimizerStep)
		r.findClosures()
	})
	withoutTime(x, s.devices)
	return r
}

// Own reports whether a host track belongs to the rank's process. Where no other rank is in
// the trace every track does, also one of another process, such as a compiler's worker.
func (r *Rank) Own(id trace.TrackID) bool { return r.Only || r.Trace.Tracks()[id].PID == r.Process }

// Accumulates reports whether a row of Nodes is a gradient accumulation. PyTorch records an
// accumulation twice, as AccumulateGrad and as the evaluate_function span of the autograd
// engine around it; other writers record only the latter. It must count once, so the outer
// span counts only in traces that have no inner ones.
func (r *Rank) Accumulates(row int32) bool {
	class := r.Class(row)
	return class == AccumulateGrad || class&AccumulateGrad != 0 && !r.exact
}

// Communicates reports whether the host threads carry collectives, of any backend.
func (r *Rank) Communicates() bool {
	return slices.ContainsFunc(r.Host, func(id trace.TrackID) bool { return r.Track(id)&CollectiveSpan != 0 })
}

// CollectiveRows lists the device rows that are collectives, by device and then by start.
// The caller owns the slice.
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

// LaunchedBy returns the device events launched inside a host span on its thread: those of
// the launch calls that follow it on its track and begin before it ends. It is one binary
// search and a walk over the result, which is a piece of the rank's own list and read-only.
func (r *Rank) LaunchedBy(row int32) []Launched {
	list := r.launched
	end, trackEnd := r.End(row), r.TrackEnd(row)
	from, _ := slices.BinarySearch(list, Launched(row)<<32)
	to := from
	for to < len(list) && list[to].call() < trackEnd && r.Col.Start[list[to].call()] < end {
		to++
	}
	return list[from:to]
}

// outermost lists the spans of a class that are in no other span of it, in order of start.
// An optimizer that wraps another one, or calls super().step(), is one step, not two.
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

// Empty reports whether the rank has neither device events nor host threads.
func (r *Rank) Empty() bool { return r.Links.Events == 0 && len(r.Host) == 0 }
