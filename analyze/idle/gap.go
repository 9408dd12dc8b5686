package idle

import (
	"strings"

	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace"
)

// Bounds by which gaps are told apart, in ns. In 133,000 gaps of healthy recordings of
// seven kinds of devices no kernel started later than 17.6 us after its launch call.
const (
	longestWay  = 20_000    // from the end of a launch call to the start of what it launched
	longLaunch  = 1_000_000 // a launch call that takes so long loads the kernel
	longestLate = 1_000_000 // gaps up to here count as launch gaps, longer ones as stalls
)

// gap is idle time [start, end) that activity ends.
type gap struct {
	start, end int64
	row        int32 // of what ends it: of all that start there, the one launched first
	launch     int32 // of row, -1 unlinked
}

// charger charges the gaps of one device.
type charger struct {
	x      *timeline.Rank
	groups *groups
	debts  map[*group]*debt
	active *timeline.Set // when the device does anything
	first  int64         // start of its first window
}

// charge adds a gap to the window that it lies in.
func (c *charger) charge(w *Window, g gap) {
	w.Gaps++
	if g.launch < 0 {
		w.Causes[Unlinked] += g.end - g.start
		return
	}
	var of Window
	clip := func(t int64) int64 { return min(max(t, g.start), g.end) }
	begun, ended := clip(c.x.Col.Start[g.launch]), clip(c.x.End(g.launch))
	late := c.x.End(g.launch) > g.start
	c.hostLate(&of, g, begun)
	of.Causes[c.openCall(g, ended-begun)] += ended - begun
	of.Causes[waitAfter(late, g.end-ended)] += g.end - ended
	host := of.Causes[Optimizer] + of.Causes[HostOperators] + of.Causes[NoOperator]
	switch {
	case !late:
	case g.end-g.start <= longestLate:
		w.LaunchGaps++
		w.LaunchBound += host + of.Causes[LaunchLatency]
	default:
		w.HostStall += host
	}
	for cause, ns := range of.Causes {
		w.Causes[cause] += ns
	}
}

// openCall is what the time in which the launch call is open is charged to.
func (c *charger) openCall(g gap, ns int64) Cause {
	if ns >= longLaunch && c.x.Col.Cat[g.row] == trace.CatKernel && strings.Contains(c.x.Name(g.launch), "LaunchKernel") {
		return Compilation
	}
	return LaunchLatency
}

// waitAfter is what the time from the end of the launch call on is charged to.
func waitAfter(late bool, ns int64) Cause {
	switch {
	case ns > longestWay:
		return QueuedWait
	case late:
		return LaunchLatency
	}
	return KernelGap
}

// hostLate charges the time before the launch call: to what the host does then, ns by ns,
// after debt is paid.
func (c *charger) hostLate(w *Window, g gap, until int64) {
	if until <= g.start {
		return
	}
	of := c.groups.of(c.x.Col.Track[g.launch])
	d := c.debts[of]
	if d == nil {
		d = &debt{waits: of.waits.Intersect(c.active), updates: c.groups.updates, at: c.first}
		c.debts[of] = d
	}
	d.advance(g.start)
	for from := g.start; from < until; {
		to := d.next(from, until)
		c.part(w, of, d, from, to)
		d.advance(to)
		from = to
	}
}

// part charges a stretch in which no update ends.
func (c *charger) part(w *Window, of *group, d *debt, from, to int64) {
	for _, b := range of.before {
		w.Causes[b.cause] += b.when.Within(from, to)
	}
	free := to - from - of.busy.Within(from, to)
	if paid := d.pay(free); paid > 0 {
		w.Causes[Synchronization] += paid
		free -= paid
		from = of.behind(from, to, paid)
	}
	for _, a := range of.after {
		ns := a.when.Within(from, to)
		w.Causes[a.cause] += ns
		free -= ns
	}
	w.Causes[NoOperator] += free
}

// behind is the moment up to which ns of [from, to) are free of what goes before debt.
func (g *group) behind(from, to, ns int64) int64 {
	at := from
	g.busy.EachWithin(from, to, func(start, end int64) {
		if free := start - at; free < ns {
			ns -= free
			at = end
		} else if ns > 0 {
			at, ns = at+ns, 0
		}
	})
	return at + ns
}
