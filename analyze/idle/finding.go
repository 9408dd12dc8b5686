package idle

import (
	"math"
	"sort"

	"github.com/gaprof/gaprof/analyze/steps"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace"
)

// Finding is something worth saying about idle time.
type Finding uint8

// What is worth saying. Other causes of idle time are not the program's to change.
const (
	LateData    Finding = iota // DataLoading
	WaitingHost                // Synchronization
	MemoryCalls                // MemoryManagement
	LaunchBound                // Window.LaunchBound
	StalledHost                // Window.HostStall
	NumFindings
)

// Of is the idle time that a finding is about, in ns.
func (c *Charges) Of(f Finding) int64 {
	switch f {
	case LateData:
		return c.Causes[DataLoading]
	case WaitingHost:
		return c.Causes[Synchronization]
	case MemoryCalls:
		return c.Causes[MemoryManagement]
	case LaunchBound:
		return c.LaunchBound
	case StalledHost:
		return c.HostStall
	}
	return 0
}

// Shown is what a person should look at to see a finding in a window.
type Shown struct {
	NS       int64          // of the finding in its longest gap; 0 where the window has none
	Event    timeline.Event // what the host does then: the loader, the call, the launch, the longest operator
	Operator string         // around Event, "" none
	Python   string         // innermost line of the program around Event, "" where stacks were not recorded

	// Unseen says that no operator runs in most of the gap. Event is then the launch that
	// ends it, Operator the innermost annotation that is open in its middle, and Python the
	// innermost frame there with the line of the program that called it.
	Unseen bool
}

// Texts calls visit for every text that may be a piece of the trace's own.
func (w *Window) Texts(visit func(*string)) {
	for i := range w.Shown {
		s := &w.Shown[i]
		s.Event.Texts(visit)
		visit(&s.Operator)
		visit(&s.Python)
	}
}

// longest is the longest gap of each finding in a window until now.
type longest [NumFindings]struct {
	ns  int64
	gap gap
}

// note compares a gap with the longest ones. of is what it alone is charged to.
func (l *longest) note(of *Charges, g gap) {
	for f := range l {
		if ns := of.Of(Finding(f)); ns > l[f].ns {
			l[f].ns, l[f].gap = ns, g
		}
	}
}

// show looks up what the host does in the longest gaps of a window of a step.
func (c *charger) show(w *Window, l *longest, s *steps.Step) {
	for f := range l {
		one := &l[f]
		if one.ns == 0 {
			continue
		}
		c.host.read()
		from, to := one.gap.start, one.gap.end
		row := int32(-1)
		switch threads := c.host.counting(c.x.Col.Track[one.gap.launch]); Finding(f) {
		case LateData:
			row = c.most(threads, from, to, 1<<loadsData|1<<mayLoadData)
		case WaitingHost: // the wait itself lies before the gap, while the device works
			row = c.most(threads, s.HostStart, min(to, s.HostEnd), 1<<waits)
		case MemoryCalls:
			row = c.most(threads, from, to, 1<<manages)
		case LaunchBound:
			row = one.gap.launch
		case StalledHost:
			row = c.most(threads, from, to, 1<<works|1<<optimizes)
			if row < 0 || 2*(min(to, c.x.End(row))-max(from, c.x.Col.Start[row])) < to-from {
				w.Shown[f] = c.unseen(one.ns, one.gap, threads)
				continue
			}
		}
		if row < 0 {
			row = one.gap.launch
		}
		line, _ := c.code(row)
		w.Shown[f] = Shown{NS: one.ns, Event: c.x.Event(row), Operator: c.around(row, c.isOperator), Python: line}
	}
}

// unseen shows a gap in which the host does what the profiler does not see.
func (c *charger) unseen(ns int64, g gap, threads []trace.TrackID) Shown {
	middle := g.start + (g.end-g.start)/2
	shown := Shown{NS: ns, Event: c.x.Event(g.launch), Unseen: true}
	if row := c.openAt(threads, middle, trace.CatUserAnnotation); row >= 0 {
		shown.Operator = c.x.Name(row)
	}
	if row := c.openAt(threads, middle, trace.CatPythonFunction); row >= 0 {
		shown.Python = frames(c.code(row))
	}
	return shown
}

// openAt is the row of the span of a category that is open on some threads at a moment and
// began last, -1 for none.
func (c *charger) openAt(threads []trace.TrackID, at int64, cat trace.Cat) int32 {
	latest, begun := int32(-1), int64(math.MinInt64)
	look := func(row int32) bool {
		if c.x.Col.Cat[row] == cat && c.x.End(row) > at && c.x.Col.Start[row] >= begun {
			latest, begun = row, c.x.Col.Start[row]
		}
		return true
	}
	for _, id := range threads {
		track := c.x.Trace.Tracks()[id]
		starts := c.x.Col.Start[track.First : track.First+track.N]
		if n := sort.Search(len(starts), func(i int) bool { return starts[i] > at }); n > 0 {
			last := int32(track.First + n - 1)
			c.x.Stack(last, look)
			look(last)
		}
	}
	return latest
}

// most is the row of some meanings that is open longest in [from, to) on some threads,
// -1 for none.
func (c *charger) most(threads []trace.TrackID, from, to int64, want mask) int32 {
	best, longest := int32(-1), int64(0)
	look := func(row int32) {
		k := kindOf(c.x.Col.Cat[row])
		if k == noKind || k == overhead || c.x.Col.Phase[row] != trace.Complete {
			return
		}
		m := c.host.means.of(k, c.x.Col.Name[row])
		if k == call && c.host.blocks(row) {
			m |= 1 << waits
		}
		if ns := min(to, c.x.End(row)) - max(from, c.x.Col.Start[row]); m&want != 0 && ns > longest {
			best, longest = row, ns
		}
	}
	for _, id := range threads {
		track := c.x.Trace.Tracks()[id]
		starts := c.x.Col.Start[track.First : track.First+track.N]
		first := track.First + sort.Search(len(starts), func(i int) bool { return starts[i] >= from })
		if first > track.First {
			look(int32(first - 1))
			c.x.Stack(int32(first-1), func(span int32) bool { look(span); return true })
		}
		for row := first; row < track.First+track.N && c.x.Col.Start[row] < to; row++ {
			look(int32(row))
		}
	}
	return best
}

// isOperator reports whether a row is an operator, not a frame that the profiler keeps as one.
func (c *charger) isOperator(row int32) bool {
	return c.x.Col.Cat[row] == trace.CatCPUOp && c.host.means.of(operator, c.x.Col.Name[row])&(1<<works) != 0
}

// around is the name of the innermost span around a row that is one of a kind, "" for none.
func (c *charger) around(row int32, is func(span int32) bool) string {
	name := ""
	c.x.Stack(row, func(span int32) bool {
		if is(span) {
			name = c.x.Name(span)
		}
		return name == ""
	})
	return name
}
