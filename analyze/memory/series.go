package memory

import (
	"github.com/gaprof/gaprof/analyze/steps"
	"github.com/gaprof/gaprof/analyze/timeline"
)

// Series is the memory of a device over one window: amounts in bytes, each from its
// instant to that of the next one. The slices are parallel.
type Series struct {
	At        []int64 // ns on the host, ascending
	Allocated []int64
	Reserved  []int64 // nil where it was not recorded
	Held      []int64 // what forward passes hold until backward; nil where that is unknown
	Phases    []Span  // of the window, in order
}

// Span is a phase of a window from its beginning to its end.
type Span struct {
	steps.Interval
	Phase Phase
}

// seriesParts is of how many parts of its window a series shows the least and the most
// that is allocated: more than a screen of a page has columns for, fewer than would matter.
const seriesParts = 300

// Draw computes the memory of each device over a window, in the order of what Find returns.
// Its size is bounded, however many events there are: of each of seriesParts equal parts of
// the window it has two instants, and as many phases.
func Draw(x *timeline.Rank, w *Window) []Series {
	var list []Series
	for _, s := range read(x) {
		list = append(list, s.draw(w))
	}
	return list
}

func (s *stream) draw(w *Window) Series {
	from := s.before(w.Start, 0)
	to := s.before(w.End, from)
	leases := s.leases(w, from, to)
	d := drawer{s: s, held: holdings(leases, from, to-from), from: from}
	allocated, reserved := s.level(from)
	d.add(w.Start, allocated, reserved, 0)
	for i := from; i < to; {
		i = d.part(i, to, partEnd(w, s.events[i].at))
	}
	if !s.reserves {
		d.Reserved = nil
	}
	if len(leases) == 0 {
		d.Held = nil
	}
	d.Phases = w.spans()
	return d.Series
}

// partEnd is the end of the part of a window that instant t lies in.
func partEnd(w *Window, t int64) int64 {
	length := max(1, (w.End-w.Start)/seriesParts)
	return w.Start + ((t-w.Start)/length+1)*length
}

// drawer collects a series from the events of a stream.
type drawer struct {
	Series
	s    *stream
	held []int64 // after each event from index from on
	from int
}

func (d *drawer) add(at, allocated, reserved, held int64) {
	d.At, d.Allocated = append(d.At, at), append(d.Allocated, allocated)
	d.Reserved, d.Held = append(d.Reserved, max(reserved, 0)), append(d.Held, held)
}

// part adds the least and the most of the events from index i on that are before an
// instant, in their order, and returns the index of the first one that is not.
func (d *drawer) part(i, to int, end int64) int {
	least, most := i, i
	for ; i < to && d.s.events[i].at < end; i++ {
		if d.s.events[i].allocated < d.s.events[least].allocated {
			least = i
		}
		if d.s.events[i].allocated > d.s.events[most].allocated {
			most = i
		}
	}
	d.event(min(least, most))
	if least != most {
		d.event(max(least, most))
	}
	return i
}

func (d *drawer) event(i int) {
	e := &d.s.events[i]
	d.add(e.at, e.allocated, e.reserved, d.held[i-d.from])
}

// spans are the phases of a window, in order. Neighbours of one phase are joined, and so is
// what is shorter than a part, with what precedes it: of thousands of micro-batches nobody
// could see the phases.
func (w *Window) spans() []Span {
	var list []Span
	bounds := w.bounds()
	least := (w.End - w.Start) / seriesParts
	for i := 1; i < len(bounds); i++ {
		from, to := max(bounds[i-1], w.Start), min(bounds[i], w.End)
		if to <= from {
			continue
		}
		p := w.phase(from)
		if n := len(list); n > 0 && (list[n-1].Phase == p || to-from < least) {
			list[n-1].End = to
			continue
		}
		list = append(list, Span{steps.Interval{Start: from, End: to}, p})
	}
	return list
}
