package memory

import (
	"github.com/gaprof/gaprof/analyze/timeline"
)

// Device is the memory of one device of a rank.
type Device struct {
	Name string // the ordinal of an accelerator, "cpu" for host memory, "unknown" where the trace says neither
	Kind string // cpu, cuda, hip, xpu, ...: see c10::DeviceType; unknown

	Events int // allocations and releases

	// Relative says that amounts are not all that is allocated, but the least that can be.
	// A trace without totals shows only what changes; of host memory PyTorch counts what was
	// allocated since memory was first profiled.
	Relative bool

	Reserves bool // the trace tells how much the allocator reserves
	Places   bool // it tells addresses, by which what is released is known: see Held

	Peaks []Peak // by window; the only one has Window -1 where there are no windows
}

// Host reports whether it is the memory of the host.
func (d *Device) Host() bool { return d.Kind == kinds[hostKind] }

// Peak is the most memory that a step holds at a time. Bytes are those of tensors as
// PyTorch's allocator rounds them.
type Peak struct {
	Window    int            // index into the windows; -1 for the whole recording
	Start     int64          // bytes allocated as the step begins
	Allocated int64          // bytes, the most at any time
	Reserved  int64          // bytes that the allocator has of the device, the most at any time; where Reserves
	At        int64          // ns on the host: when Allocated was first reached
	Phase     Phase          // of At
	Event     timeline.Event // the allocation that reached it; without a name where that precedes the step

	// AtPeak is what forward passes hold at that moment, Most the most that they hold at any
	// time of the step. Both are 0 where addresses or backward passes were not recorded.
	AtPeak, Most Held
}

// Texts calls visit for every text that may be a piece of the trace's own.
func (d *Device) Texts(visit func(*string)) {
	visit(&d.Name)
	visit(&d.Kind)
	for i := range d.Peaks {
		d.Peaks[i].Event.Texts(visit)
	}
}

// Find derives the memory of a rank, by device, from the windows of its steps. It takes
// time in proportion to the events, and none to speak of where memory was not recorded.
func Find(x *timeline.Rank, windows []Window) []Device {
	var list []Device
	for _, s := range read(x) {
		d := Device{Events: len(s.events), Relative: s.relative, Reserves: s.reserves, Places: s.placed}
		d.Name, d.Kind = s.named()
		if len(windows) == 0 {
			w := Window{Start: s.events[0].at}
			p := s.peak(x, &w, 0, len(s.events))
			p.Window = -1
			d.Peaks = []Peak{p}
		}
		to := 0
		for i := range windows {
			from := to
			to = s.before(windows[i].End, from)
			p := s.peak(x, &windows[i], from, to)
			p.Window = i
			d.Peaks = append(d.Peaks, p)
		}
		list = append(list, d)
	}
	return list
}

// before is the index of the first event from index from on that is not before instant t.
func (s *stream) before(t int64, from int) int {
	for from < len(s.events) && s.events[from].at < t {
		from++
	}
	return from
}

// level is what is allocated and reserved before the event of an index.
func (s *stream) level(i int) (allocated, reserved int64) {
	switch {
	case i > 0:
		return s.events[i-1].allocated, s.events[i-1].reserved
	case len(s.events) > 0:
		return s.start, s.events[0].reserved
	}
	return s.start, none
}

// peak finds the peak of a window, whose events are those in [from, to).
func (s *stream) peak(x *timeline.Rank, w *Window, from, to int) Peak {
	var p Peak
	p.Start, p.Reserved = s.level(from)
	p.Allocated, p.At = p.Start, w.Start
	top := from - 1
	for i := from; i < to; i++ {
		e := &s.events[i]
		p.Reserved = max(p.Reserved, e.reserved)
		if e.allocated > p.Allocated {
			p.Allocated, p.At, top = e.allocated, e.at, i
		}
	}
	if top >= from {
		p.Event = x.Event(s.events[top].row)
	}
	p.Phase = w.phase(p.At)
	if list := s.leases(w, from, to); len(list) > 0 {
		most := from
		held := holdings(list, from, to-from)
		for i, bytes := range held {
			if bytes > held[most-from] {
				most = from + i
			}
		}
		p.AtPeak, p.Most = heldAt(list, w, top), heldAt(list, w, most)
	}
	return p
}
