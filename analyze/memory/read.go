package memory

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/internal/runs"
	"github.com/gaprof/gaprof/trace"
)

// eventName is what PyTorch calls an allocation or a release.
const eventName = "[memory]"

// event is an allocation or a release. Totals are those after it.
type event struct {
	row       int32
	at        int64 // ns
	bytes     int64 // negative for a release
	addr      int64 // 0 unknown
	allocated int64 // total; none where the trace does not tell, until levels are found
	reserved  int64 // total; none where neither it nor an earlier event tells
}

// none is an amount of memory that is unknown.
const none = -1

// place is a device: its kind, as numbered in c10/core/DeviceType.h of PyTorch, and its
// ordinal.
type place struct{ kind, ordinal int64 }

// kinds are the names of the kinds of devices that hold tensors of training programs, by
// c10::DeviceType; "privateuseone" is that of accelerators from outside PyTorch.
var kinds = map[int64]string{
	0: "cpu", 1: "cuda", 6: "hip", 9: "xla", 12: "xpu", 13: "mps", 15: "hpu", 19: "mtia", 20: "privateuseone",
}

// anyKind and noOrdinal stand for what an event does not say.
const anyKind, noOrdinal = -1, -1

const hostKind = 0

// mostDevices is how many devices a rank may have before those that it names anew are taken
// for one of unknown kind: far more than any machine has, and few enough that a file full of
// made-up numbers does not make a device of each.
const mostDevices = 64

// named returns the name of a device and of its kind. Host memory is one device, whatever
// ordinal it has.
func (p place) named() (name, kind string) {
	kind, ok := kinds[p.kind]
	switch {
	case p.kind == hostKind:
		return kind, kind
	case !ok:
		kind = "unknown"
	}
	if p.ordinal == noOrdinal {
		return "unknown", kind
	}
	return strconv.FormatInt(p.ordinal, 10), kind
}

// stream is the memory events of one device, in order of time.
type stream struct {
	place
	events   []event
	start    int64 // allocated before the first event, bytes
	relative bool  // see Device.Relative
	reserves bool  // the trace tells what the allocator reserves
	placed   bool  // the trace tells addresses

	alive map[int64]block // by address: see leases
}

// read collects the memory events of a rank by device, in the order of kinds and ordinals.
// Events are sorted by time, because several threads write them and an old file may have
// them in any order; those of one instant stay in the order of their threads.
func read(x *timeline.Rank) []*stream {
	rows := rowsOf(x)
	of := make(map[place]*stream)
	var args []trace.Arg
	var last *stream // most events are of the device of the one before
	for _, row := range rows {
		args = x.Trace.Event(int(row)).AppendArgs(args[:0])
		at, e, ok := eventOf(args)
		if !ok {
			continue
		}
		if last == nil || last.place != at {
			if last = of[at]; last == nil && len(of) >= mostDevices {
				at = place{anyKind, noOrdinal}
				last = of[at]
			}
			if last == nil {
				last = &stream{place: at, events: make([]event, 0, len(rows)/(len(of)+1)), alive: make(map[int64]block)}
				of[at] = last
			}
		}
		e.row, e.at = row, x.Col.Start[row]
		last.events = append(last.events, e)
	}
	return finished(of)
}

// rowsOf lists the memory events of a rank, track by track.
func rowsOf(x *timeline.Rank) []int32 {
	name, ok := x.Trace.Find(eventName)
	if !ok {
		return nil
	}
	var rows []int32
	for id, track := range x.Trace.Tracks() {
		if track.Activity || !x.Own(trace.TrackID(id)) {
			continue
		}
		for i, n := range x.Col.Name[track.First : track.First+track.N] {
			if n == name && x.Col.Phase[track.First+i] == trace.Instant {
				rows = append(rows, int32(track.First+i))
			}
		}
	}
	return rows
}

// eventOf reads the arguments of a memory event. ok is false where they say neither how
// much was allocated nor how much there is.
func eventOf(args []trace.Arg) (at place, e event, ok bool) {
	at, e = place{anyKind, noOrdinal}, event{allocated: none, reserved: none}
	for _, a := range args {
		if a.Kind != trace.Int {
			continue
		}
		switch a.Key {
		case trace.KeyMemoryBytes:
			e.bytes, ok = a.Num, true
		case trace.KeyAddress:
			e.addr = max(a.Num, 0) // -1 and 0 are no addresses
		case trace.KeyMemoryDevice:
			at.ordinal = max(a.Num, noOrdinal)
		case trace.KeyMemoryDeviceType:
			at.kind = max(a.Num, anyKind)
		case trace.KeyTotalAllocated:
			e.allocated = max(a.Num, none)
			ok = ok || a.Num >= 0
		case trace.KeyTotalReserved:
			e.reserved = max(a.Num, none)
		}
	}
	if at.kind == hostKind { // nobody reserves it but mapped files, by their own size
		at.ordinal, e.reserved = noOrdinal, none
	}
	if e.allocated < e.bytes { // nor is the total of mapped files one of the allocator
		e.allocated = none
	}
	return at, e, ok
}

// finished sorts the streams and finds their levels.
func finished(of map[place]*stream) []*stream {
	join(of)
	var list []*stream
	for _, s := range of {
		runs.Sort(s.events, func(a, b event) int { return cmp.Compare(a.at, b.at) }, nil)
		s.levels()
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b *stream) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.ordinal, b.ordinal))
	})
	return list
}

// join adds the events that do not name a kind of device to those of the only accelerator
// of their ordinal.
func join(of map[place]*stream) {
	for at, s := range of {
		if at.kind != anyKind || at.ordinal == noOrdinal {
			continue
		}
		var same []*stream
		for other, t := range of {
			if other.ordinal == at.ordinal && other.kind != anyKind {
				same = append(same, t)
			}
		}
		if len(same) == 1 {
			same[0].events = append(same[0].events, s.events...)
			slices.SortFunc(same[0].events, func(a, b event) int { return cmp.Compare(a.row, b.row) })
			delete(of, at)
		}
	}
}

// levels fills in what is allocated after events that do not tell it: what was before and
// their bytes. Totals start over where the trace says so. A trace without any has no
// absolute level; its lowest one is taken for 0, so what is counted is the least that can
// have been allocated. Host memory is counted by PyTorch from when it is first profiled.
func (s *stream) levels() {
	sum, least := int64(0), int64(0)
	known := false
	for i := range s.events {
		e := &s.events[i]
		sum = plus(sum, e.bytes)
		least = min(least, sum)
		if e.allocated >= 0 && !known {
			known, s.start = true, max(0, plus(e.allocated, -sum))
		}
		s.reserves = s.reserves || e.reserved > 0
		s.placed = s.placed || e.addr != 0
	}
	if !known {
		s.start = -least
	}
	s.relative = !known || s.kind == hostKind
	level, reserved := s.start, int64(none)
	for i := range s.events {
		e := &s.events[i]
		if e.allocated < 0 {
			e.allocated = max(0, plus(level, e.bytes))
		}
		if e.reserved < 0 {
			e.reserved = reserved
		}
		level, reserved = e.allocated, e.reserved
	}
}

// plus adds two amounts and stays in the range of numbers, whatever a broken file says.
func plus(a, b int64) int64 {
	switch {
	case b > 0 && a > math.MaxInt64-b:
		return math.MaxInt64
	case b < 0 && a < -math.MaxInt64-b:
		return -math.MaxInt64
	}
	return a + b
}
