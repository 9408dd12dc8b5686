package steps

import "github.com/gaprof/gaprof/analyze/timeline"

// cutDevices cuts the time of each device at the first activity of each step. Cutting at
// starts leaves no gap between windows, so idle time and the tail of the step before, which
// may overlap the next one on other streams, are in exactly one ledger.
func (s *Steps) cutDevices(x *timeline.Rank) {
	for dev, d := range x.Devices {
		extents := s.extents(x, d)
		for i := range s.List {
			if extents[i].row < 0 {
				continue
			}
			w := Window{Device: dev, Start: x.Col.Start[extents[i].row], End: extents[i].lastEnd}
			for j := i + 1; j < len(extents); j++ {
				if extents[j].row >= 0 {
					w.End = x.Col.Start[extents[j].row]
					break
				}
			}
			w.Ledger = d.Busy.Ledger(w.Start, w.End)
			s.List[i].Windows = append(s.List[i].Windows, w)
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
