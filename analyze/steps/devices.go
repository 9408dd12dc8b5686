package steps

import "github.com/gaprof/gaprof/analyze/timeline"

// cutDevices cuts the time of each device at the first activity of each step.
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

// extent is what one step launched on one device.
type extent struct {
	row     int32 // the first to start, -1 where there is none
	lastEnd int64
}

// extents finds what each step launched on a device, and counts it.
func (s *Steps) extents(x *timeline.Rank, d *timeline.Device) []extent {
	list := make([]extent, len(s.List))
	for i := range list {
		list[i].row = -1
	}
	step := -1 // the step of the event before: the next is seldom another's
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
