package timeline

import (
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/gaprof/gaprof/trace"
)

// clockError is by how much two clocks may differ, in ns, before they are said to disagree:
// those of real recordings differ by microseconds.
const clockError = 1e6

// Returns is what the calls that wait for a device say of its clock: work that was launched
// before such a call is over when it returns, and not long before.
type Returns struct {
	Early int   // device events that begin a millisecond or more after a call has returned that waited for them
	Late  int64 // ns, the least time by which such a call outlasts what it waits for; math.MaxInt64 without any
}

// ReturnsOf compares the ends of waiting calls with those of device events. Calls that wait for a
// whole device are asked where the rank has one device: which of several is meant, no trace
// says. Of those that wait for a stream, it is the ones after a copy in the same operator, as
// item() makes.
func ReturnsOf(r *Rank) Returns {
	n := Returns{Late: math.MaxInt64}
	if r.AnyName()&DeviceSync != 0 && len(r.Devices) == 1 {
		n.ofDevice(r, r.Devices[0])
	}
	if r.AnyName()&StreamSyncCall != 0 {
		r.Each(r.Host, StreamSyncCall, func(row int32) { n.ofCopy(r, row) })
	}
	return n
}

func (n *Returns) ofDevice(r *Rank, d *Device) {
	calls := r.Spans(r.Host, DeviceSync)
	sort.SliceStable(calls, func(i, j int) bool { return calls[i].End < calls[j].End })
	over, last, end := 0, -1, int64(math.MinInt64) // of calls: those that returned; of events so far
	for i, row := range d.Rows {
		start := r.Col.Start[row]
		for over < len(calls) && calls[over].End <= start {
			n.outlasts(calls[over], end)
			over++
		}
		for last+1 < len(calls) && calls[last+1].End+clockError <= start {
			last++
		}
		if l := d.Launch[i]; last >= 0 && l >= 0 && r.End(l) <= calls[last].Start && !r.Replayed(row, l) {
			n.Early++
		}
		end = max(end, r.End(row))
	}
	for _, call := range calls[over:] {
		n.outlasts(call, end)
	}
}

// outlasts takes in a call that waited for work until end.
func (n *Returns) outlasts(call Span, end int64) {
	if end > call.Start {
		n.Late = min(n.Late, max(0, call.End-end))
	}
}

// ofCopy takes in a call that waits for a stream, after a copy that the same operator launched.
func (n *Returns) ofCopy(r *Rank, row int32) {
	const near = 8 // calls between both, such as those of events
	in, first := r.Col.Parent[row], r.Trace.Tracks()[r.Col.Track[row]].First
	if in == trace.NoParent || r.Col.Cat[in] != trace.CatCPUOp {
		return
	}
	for l := row - 1; int(l) >= first && l > in && l >= row-near; l-- {
		if r.Col.Parent[l] != in || !strings.Contains(r.Name(l), "emcpy") {
			continue
		}
		at, _ := slices.BinarySearch(r.launched, Launched(l)<<32)
		if at == len(r.launched) || r.launched[at].call() != l {
			return
		}
		if end := r.End(r.launched[at].Event()); end >= r.End(row)+clockError {
			n.Early++
		} else {
			n.outlasts(r.Span(row), end)
		}
		return
	}
}

// disordered counts the calls that begin a millisecond or more before the one that precedes them by
// its correlation id, which counts all calls of a process: threads whose times disagree. Ids
// that are no counter say nothing.
func (ix *launchIndex) disordered() int {
	const mostCounted = 0.2 // of the calls
	n := 0
	for i := 1; i < len(ix.calls); i++ {
		n += oneIf(ix.x.Col.Start[ix.calls[i].row()]+clockError <= ix.x.Col.Start[ix.calls[i-1].row()])
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
				overlap += min(*end, r.End(row)) - start
			}
			busy += r.Col.Dur[row]
			*end = max(*end, r.End(row))
		}
	}
	return overlap, busy
}
