package idle

import (
	"github.com/gaprof/gaprof/analyze/steps"
	"github.com/gaprof/gaprof/analyze/timeline"
)

// Find charges the idle time of every window of a rank's steps. The result is by step
// and then by window, as Step.Windows. It takes time in proportion to the rows of the
// rank, however many gaps there are.
func Find(x *timeline.Rank, s *steps.Steps) [][]Window {
	out, _ := FindBetween(x, s, nil, nil)
	return out
}

// FindBetween is Find that also adds up what is charged between moments, ascending by
// device, at which no gap is cut: ends of activity. The parts of a device are one more
// than its moments. garbage is when Python collects garbage, nil never.
func FindBetween(x *timeline.Rank, s *steps.Steps, cuts [][]int64, garbage *timeline.Set) ([][]Window, [][]Part) {
	out, parts := make([][]Window, len(s.List)), make([][]Part, len(cuts))
	for i := range s.List {
		out[i] = make([]Window, len(s.List[i].Windows))
	}
	if len(x.Devices) == 0 {
		return out, parts
	}
	h := newHost(x, s)
	for dev, d := range x.Devices {
		c := &charger{x: x, host: h, debts: make(map[*doing]*debt), device: &d.Busy}
		if cuts != nil {
			parts[dev] = make([]Part, len(cuts[dev])+1)
			c.between = between{cuts[dev], parts[dev], garbage, 0}
		}
		c.gaps(d, windowsOf(s, dev), s, out)
	}
	return out, parts
}

// placed is a window and where it stands among all.
type placed struct {
	steps.Window
	step, at int
}

// windowsOf are the windows of one device in order.
func windowsOf(s *steps.Steps, dev int) []placed {
	var list []placed
	for i := range s.List {
		for k, w := range s.List[i].Windows {
			if w.Device == dev {
				list = append(list, placed{w, i, k})
			}
		}
	}
	return list
}

// gaps charges the gaps of a device to its windows. What starts in a window, or where
// it ends, ends the gaps in it.
func (c *charger) gaps(d *timeline.Device, windows []placed, s *steps.Steps, out [][]Window) {
	if len(windows) == 0 {
		return
	}
	c.first = windows[0].Start
	reach, next := c.first, 0
	for i := 0; i < len(d.Rows); {
		start := c.x.Col.Start[d.Rows[i]]
		for next < len(windows) && windows[next].End < start {
			c.close(&windows[next], s, out)
			next++
		}
		if next == len(windows) {
			return
		}
		w := &windows[next]
		g := gap{start: max(reach, w.Start), end: start, row: d.Rows[i], launch: -1}
		for ; i < len(d.Rows) && c.x.Col.Start[d.Rows[i]] == start; i++ {
			g.row, g.launch = c.earlier(g, d, i)
			reach = max(reach, c.x.End(d.Rows[i]))
		}
		if g.end > g.start && g.start < w.End {
			c.charge(&out[w.step][w.at], &c.longest, g)
		}
	}
	for ; next < len(windows); next++ {
		c.close(&windows[next], s, out)
	}
}

// close ends a window: nothing more is charged to it.
func (c *charger) close(w *placed, s *steps.Steps, out [][]Window) {
	c.show(&out[w.step][w.at], &c.longest, &s.List[w.step])
	c.longest = longest{}
}

// earlier is which of two events that start together ends a gap: the linked one whose
// launch call starts first, of equals that with the least correlation id.
func (c *charger) earlier(g gap, d *timeline.Device, i int) (row, launch int32) {
	row, launch = d.Rows[i], d.Launch[i]
	switch {
	case launch < 0:
		return g.row, g.launch
	case g.launch < 0:
		return row, launch
	}
	was, is := c.x.Col.Start[g.launch], c.x.Col.Start[launch]
	if is < was || is == was && c.x.Col.Corr[row] < c.x.Col.Corr[g.row] {
		return row, launch
	}
	return g.row, g.launch
}
