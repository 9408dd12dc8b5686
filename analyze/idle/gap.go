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
	host   *host
	debts  map[*doing]*debt
	device *timeline.Busy // what the device does when
	first  int64          // start of its first window
	rest   []interval     // of the stretch that is charged: what nothing was found for yet
	left   []interval     // room for the next rest

	anywhere reading // what threads do that counts wherever it stands

	longest longest // gaps of the window that is charged
	between between // what is charged between cuts
}

// charge adds a gap to the window that it lies in.
func (c *charger) charge(w *Window, l *longest, g gap) {
	w.Gaps++
	var of Charges
	if g.launch < 0 {
		of.Causes[Unlinked] = g.end - g.start
		w.add(&of)
		c.between.add(&of, g.start, g.start)
		return
	}
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
		of.LaunchGaps, of.LaunchBound = 1, host+of.Causes[LaunchLatency]
	default:
		of.HostStall = host
	}
	w.add(&of)
	c.between.add(&of, g.start, begun)
	l.note(&of, g)
}

// openCall is what the time in which the launch call is open is charged to.
func (c *charger) openCall(g gap, ns int64) Cause {
	kernel := c.x.Col.Cat[g.row] == trace.CatKernel && strings.Contains(c.x.Name(g.launch), "LaunchKernel")
	if kernel && ns >= longLaunch {
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
func (c *charger) hostLate(w *Charges, g gap, until int64) {
	if until <= g.start {
		return
	}
	of := c.host.doing(c.x.Col.Track[g.launch])
	d := c.debts[of]
	if d == nil {
		d = &debt{waits: of[waits], device: c.device, updates: c.host.updates, at: c.first, of: reading{of: of}}
		c.debts[of] = d
		c.anywhere.of = c.host.anywhere
	}
	d.advance(g.start)
	for from := g.start; from < until; {
		to := d.next(from, until)
		c.stretch(w, d, from, to)
		d.advance(to)
		from = to
	}
}

// stretch charges a part of a gap in which no update ends. Each nanosecond goes to the
// first that applies: the order here is that of the table in docs/definitions.md.
func (c *charger) stretch(w *Charges, d *debt, from, to int64) {
	of, all := &d.of, &c.anywhere
	c.rest = append(c.rest[:0], interval{from, to})
	c.take(w, DataLoading, of, loadsData)
	c.take(w, Compilation, of, compiles)
	c.take(w, Compilation, all, compiles)
	c.take(w, MemoryManagement, of, manages)
	c.take(w, Synchronization, of, waits)
	c.take(w, Profiler, all, profiles)
	c.pay(w, d)
	c.take(w, Optimizer, of, optimizes)
	c.take(w, HostOperators, of, works)
	c.take(w, Synchronization, all, waitsOnHost)
	for _, r := range c.rest {
		w.Causes[NoOperator] += r.end - r.start
	}
}

// reading is what some threads do, read from front to back.
type reading struct {
	of *doing
	at [numMeanings]int // where the set of each meaning is
}

// take charges to a cause what the set of a meaning has of the rest; nil is an empty set.
func (c *charger) take(w *Charges, cause Cause, from *reading, m meaning) {
	set := from.of[m]
	if set == nil || len(c.rest) == 0 {
		return
	}
	left := c.left[:0]
	for _, r := range c.rest {
		at := r.start
		from.at[m] = set.EachFrom(from.at[m], r.start, r.end, func(start, end int64) {
			if start > at {
				left = append(left, interval{at, start})
			}
			w.Causes[cause] += end - start
			at = end
		})
		if at < r.end {
			left = append(left, interval{at, r.end})
		}
	}
	c.rest, c.left = left, c.rest
}

// pay charges to synchronization as much of the rest, in the order of time, as there is
// debt.
func (c *charger) pay(w *Charges, d *debt) {
	n := 0 // of what is paid as a whole
	for n < len(c.rest) && d.ns > 0 {
		r := &c.rest[n]
		paid := min(d.ns, r.end-r.start)
		d.ns -= paid
		w.Causes[Synchronization] += paid
		if r.start += paid; r.start == r.end {
			n++
		}
	}
	c.rest = append(c.rest[:0], c.rest[n:]...)
}
