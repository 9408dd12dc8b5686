package idle

import (
	"sort"

	"github.com/gaprof/gaprof/analyze/timeline"
)

// debt is the head start that the host has lost by waiting for the device, in ns. A call
// that waits returns only when the device has drained, so it is hardly ever open while the
// device is idle; what it costs are the gaps that follow, in which the host works on what
// it could have launched before. Debt grows while such a call is open and the device is
// busy, is paid in gaps in which the host does nothing that goes before it, and is
// forgotten at the end of every update, because no launch queue holds more than about a
// step.
type debt struct {
	waits   *timeline.Set  // a waiting call is open; nil never
	device  *timeline.Busy // what the device does meanwhile
	updates []int64        // ends of updates, host time, ascending
	at      int64          // up to where it is known
	ns      int64
	wait    int     // the wait at that moment
	of      reading // what the threads do whose debt it is
}

// advance goes on to a moment, which is not before the last one. Together all calls take
// time in proportion to the waits.
func (d *debt) advance(to int64) {
	from := d.at
	if i := sort.Search(len(d.updates), func(i int) bool { return d.updates[i] > to }); i > 0 && d.updates[i-1] > d.at {
		from, d.ns = d.updates[i-1], 0
	}
	if d.waits != nil {
		d.wait = d.waits.EachFrom(d.wait, from, to, func(start, end int64) {
			d.ns += end - start - d.device.Ledger(start, end)[timeline.IdleBucket]
		})
	}
	d.at = to
}

// next is the end of the first update in (from, to), else to.
func (d *debt) next(from, to int64) int64 {
	i := sort.Search(len(d.updates), func(i int) bool { return d.updates[i] > from })
	if i < len(d.updates) && d.updates[i] < to {
		return d.updates[i]
	}
	return to
}
