package idle

import (
	"slices"
	"strings"

	"github.com/gaprof/gaprof/analyze/steps"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace"
)

// Find charges the idle time of every window of a rank's steps. The result is by step
// and then by window, as Step.Windows. It takes time in proportion to the rows of the
// rank, however many gaps there are.
func Find(x *timeline.Rank, s *steps.Steps) [][]Window {
	out := make([][]Window, len(s.List))
	for i := range s.List {
		out[i] = make([]Window, len(s.List[i].Windows))
	}
	shared := newGroups(x, s)
	for dev, d := range x.Devices {
		c := &charger{x: x, groups: shared, debts: make(map[*group]*debt), active: active(x, d)}
		c.device(d, windowsOf(s, dev), out)
	}
	return out
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

// active is when a device does anything.
func active(x *timeline.Rank, d *timeline.Device) *timeline.Set {
	set := timeline.NewSet(len(d.Rows))
	for _, row := range d.Rows {
		set.Add(x.Col.Start[row], x.End(row))
	}
	return set
}

// device charges the gaps of a device to its windows. What starts in a window, or where
// it ends, ends the gaps in it.
func (c *charger) device(d *timeline.Device, windows []placed, out [][]Window) {
	if len(windows) == 0 {
		return
	}
	c.first = windows[0].Start
	reach, next := c.first, 0
	for i := 0; i < len(d.Rows); {
		start := c.x.Col.Start[d.Rows[i]]
		for next < len(windows) && windows[next].End < start {
			next++
		}
		if next == len(windows) {
			return
		}
		w := &windows[next]
		g := gap{start: max(reach, w.Start), end: start, row: d.Rows[i], launch: -1}
		for ; i < len(d.Rows) && c.x.Col.Start[d.Rows[i]] == start; i++ {
			g.row, g.launch = c.first1(g, d, i)
			reach = max(reach, c.x.End(d.Rows[i]))
		}
		if g.end > g.start && g.start < w.End {
			c.charge(&out[w.step][w.at], g)
		}
	}
}

// first1 is which of two events that start together ends a gap: the linked one whose
// launch call starts first, of equals that with the least correlation id.
func (c *charger) first1(g gap, d *timeline.Device, i int) (row, launch int32) {
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

// groups are the threads of a rank as causes count them; each is looked at when the first
// gap asks for it.
type groups struct {
	x        *timeline.Rank
	means    *meanings
	updates  []int64 // ends of updates, ascending
	pageable []int32
	drive    []trace.TrackID
	driving  *group
	others   map[trace.TrackID]*group
}

func newGroups(x *timeline.Rank, s *steps.Steps) *groups {
	g := &groups{x: x, others: make(map[trace.TrackID]*group)}
	for _, id := range x.Host {
		if x.Track(id)&driving != 0 {
			g.drive = append(g.drive, id)
		}
	}
	for i := range s.List {
		g.updates = append(g.updates, s.List[i].HostEnd)
	}
	return g
}

// of is the group that a thread belongs to: the driving ones together, any other alone.
func (g *groups) of(track trace.TrackID) *group {
	if g.means == nil {
		g.means, g.pageable = newMeanings(g.x.Trace), pageableCopies(g.x)
	}
	if !slices.Contains(g.drive, track) {
		of := g.others[track]
		if of == nil {
			of = newGroup(g.x, g.means, []trace.TrackID{track}, g.pageable)
			g.others[track] = of
		}
		return of
	}
	if g.driving == nil {
		g.driving = newGroup(g.x, g.means, g.drive, g.pageable)
	}
	return g.driving
}

// pageableCopies are the launches of copies from or to memory that may be swapped out,
// ascending: such a copy blocks the host although its call says Async.
func pageableCopies(x *timeline.Rank) []int32 {
	var rows []int32
	for _, d := range x.Devices {
		for i, row := range d.Rows {
			if d.Launch[i] >= 0 && x.Col.Cat[row] == trace.CatGPUMemcpy && strings.Contains(x.Name(row), "Pageable") {
				rows = append(rows, d.Launch[i])
			}
		}
	}
	slices.Sort(rows)
	return rows
}
