package timeline

import (
	"slices"
	"sort"
	"strings"

	"github.com/gaprof/gaprof/internal/bounded"
	"github.com/gaprof/gaprof/trace"
)

// clockError is by how much two clocks may differ, in ns, before they are said to disagree:
// those of real recordings differ by microseconds.
const clockError = 1e6

// threadError is the same for two threads of a host, in ns: one may have to wait for a core between
// being given an id and reading the clock.
const threadError = 5e6

// EarlyReturns counts the device events that begin, or copies that end, a millisecond or more after a
// call has returned that waited for them. Calls that wait for a whole device are asked where the
// rank has one device: which of several is meant, no trace says. Of those that wait for a
// stream, it is the ones after a copy in the same operator, as item() makes. How long such a
// call outlasts the work says nothing: a busy host wakes up late.
func EarlyReturns(r *Rank) int {
	n := 0
	if r.AnyName()&DeviceSync != 0 && len(r.Devices) == 1 {
		n += earlyOfDevice(r, r.Devices[0])
	}
	if r.AnyName()&StreamSyncCall != 0 {
		r.Each(r.Host, StreamSyncCall, func(row int32) { n += oneIf(earlyOfCopy(r, row)) })
	}
	return n
}

func earlyOfDevice(r *Rank, d *Device) int {
	calls := r.Spans(r.Host, DeviceSync)
	sort.SliceStable(calls, func(i, j int) bool { return calls[i].End < calls[j].End })
	early, last := 0, -1 // the last of the calls that have returned a millisecond ago
	for i, row := range d.Rows {
		start := r.Col.Start[row]
		for last+1 < len(calls) && calls[last+1].End+clockError <= start {
			last++
		}
		if l := d.Launch[i]; last >= 0 && l >= 0 && r.End(l) <= calls[last].Start && !r.Replayed(row, l) {
			early++
		}
	}
	return early
}

// earlyOfCopy reports whether a call that waits for a stream returns before the end of a copy that the
// same operator launched.
func earlyOfCopy(r *Rank, row int32) bool {
	const near = 8 // calls between both, such as those of events
	in, first := r.Col.Parent[row], r.Trace.Tracks()[r.Col.Track[row]].First
	if in == trace.NoParent || r.Col.Cat[in] != trace.CatCPUOp {
		return false
	}
	for l := row - 1; int(l) >= first && l > in && l >= row-near; l-- {
		if r.Col.Parent[l] != in || !strings.Contains(r.Name(l), "emcpy") {
			continue
		}
		at, _ := slices.BinarySearch(r.launched, Launched(l)<<32)
		return at < len(r.launched) && r.launched[at].call() == l &&
			r.End(r.launched[at].Event()) >= r.End(row)+clockError
	}
	return false
}

// disordered counts the calls that begin 5 ms or more before the one that precedes them by
// its correlation id, which counts all calls of a process: threads whose times disagree. Ids
// that are no counter say nothing.
func (ix *launchIndex) disordered() int {
	const mostCounted = 0.2 // of the calls
	n := 0
	for i := 1; i < len(ix.calls); i++ {
		n += oneIf(ix.x.Col.Start[ix.calls[i].row()]+threadError <= ix.x.Col.Start[ix.calls[i-1].row()])
	}
	if float64(n) > mostCounted*float64(len(ix.calls)) {
		return 0
	}
	return n
}

// Crossed counts the copies and memsets whose launch is the call of a kernel, and all of them.
func Crossed(r *Rank) (crossed, all int) {
	for _, d := range r.Devices {
		for i, row := range d.Rows {
			if l := d.Launch[i]; l >= 0 && r.Col.Cat[row] != trace.CatKernel {
				all++
				crossed += oneIf(r.Is(l, KernelLaunch))
			}
		}
	}
	return crossed, all
}

// Overlaps is how long compute kernels of a stream run beside the next one of it, and how long
// all of them run, in ns. A stream runs one after the other; parts of graphs aside, the overlap of
// real recordings is a thousandth. Times in whole microseconds say nothing.
func Overlaps(r *Rank) (overlap, busy int64) {
	if r.Rounding() > 0 {
		return 0, 0
	}
	ends := make([]int64, len(r.Trace.Tracks()))
	for _, d := range r.Devices {
		clear(ends)
		for i, row := range d.Rows {
			if d.Bucket[i] != ComputeBucket || d.Launch[i] < 0 || r.Is(d.Launch[i], GraphLaunch) {
				continue
			}
			end, start := &ends[r.Col.Track[row]], r.Col.Start[row]
			if *end > start {
				overlap = bounded.Add(overlap, min(*end, r.End(row))-start)
			}
			busy = bounded.Add(busy, r.Col.Dur[row])
			*end = max(*end, r.End(row))
		}
	}
	return overlap, busy
}
