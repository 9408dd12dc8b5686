package steps

import (
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/internal/bounded"
	"github.com/gaprof/gaprof/trace"
)

// cutDevices cuts the time of each device at the first activity of each step. Cutting at
// starts leaves no gap between windows, so idle time and the tail of the step before, which
// may overlap the next one on other streams, are in exactly one ledger. Where a step's first
// activity starts only after that of a later step, that one's is the cut for both, and a
// step left with nothing has no window, and neither has one that would last for longer than a year.
func (s *Steps) cutDevices(x *timeline.Rank) {
	for dev, d := range x.Devices {
		extents := s.extents(x, d)
		cut, last := int64(0), true
		for i := len(extents) - 1; i >= 0; i-- {
			if extents[i].row < 0 {
				continue
			}
			w := Window{Device: dev, Start: x.Col.Start[extents[i].row], End: extents[i].lastEnd}
			if !last {
				w.Start, w.End = min(w.Start, cut), cut
			}
			cut, last = w.Start, false
			if w.Start < w.End && bounded.Sub(w.End, w.Start) <= trace.LongestEvent {
				w.Ledger = d.Busy.Ledger(w.Start, w.End)
				s.List[i].Windows = append(s.List[i].Windows, w)
			}
		}
	}
}

// extent is the device events that one step launched on one device, from first to last.
type extent struct {
	row     int32 // the first to start, -1 where there is none
	lastEnd int64 // ns
}

// extents returns the extent of each step on a device, and adds its events to LinkedEvents.
func (s *Steps) extents(x *timeline.Rank, d *timeline.Device) []extent {
	list := make([]extent, len(s.List))
	for i := range list {
		list[i].row = -1
	}
	step := -1 // that of the previous event, which the next one nearly always shares
	for i, row := range d.Rows {
		if d.Launch[i] < 0 {
			continue
		}
		if start := x.Col.Start[d.Launch[i]]; !s.holds(step, start) {
			step = s.At(start)
		}
		if step < 0 {
			continue
		}
		s.List[step].LinkedEvents++
		e := &list[step]
		if e.row < 0 || x.Col.Start[row] < x.Col.Start[e.row] {
			e.row = row
		}
		e.lastEnd = max(e.lastEnd, x.End(row))
	}
	return list
}
