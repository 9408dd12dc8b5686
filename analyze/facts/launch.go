package facts

import (
	"cmp"
	"slices"

	"github.com/gaprof/gaprof/internal/runs"
	"github.com/gaprof/gaprof/trace"
)

// launchIndex finds the host call with a correlation id, within one process.
type launchIndex struct {
	calls []call // by id, then by row
	near  int    // where the last one was found: the next is seldom far
}

// call is a host call: its correlation id in the upper half, its row in the lower.
type call uint64

func (l call) corr() trace.ID { return trace.ID(l >> 32) }
func (l call) row() int32     { return int32(uint32(l)) }

// indexLaunches collects the runtime and driver calls of some tracks.
func (c *computer) indexLaunches(tracks []trace.TrackID) *launchIndex {
	n := 0
	for _, id := range tracks {
		track := c.t.Tracks()[id]
		for _, cat := range c.col.Cat[track.First : track.First+track.N] {
			n += oneIf(cat.IsRuntime())
		}
	}
	ix := &launchIndex{calls: make([]call, 0, n)}
	for _, id := range tracks {
		track := c.t.Tracks()[id]
		for i := track.First; i < track.First+track.N; i++ {
			if c.col.Cat[i].IsRuntime() && c.col.Corr[i] != 0 && c.col.Phase[i] == trace.Complete {
				ix.calls = append(ix.calls, call(c.col.Corr[i])<<32|call(i))
			}
		}
	}
	runs.Sort(ix.calls, cmp.Compare[call], nil)
	return ix
}

// first is the index of the first call with an id, where there is one. It looks around
// the last one found in steps that double.
func (ix *launchIndex) first(corr trace.ID) (int, bool) {
	low, high, step := ix.near, ix.near, 1
	for low > 0 && ix.calls[low-1].corr() >= corr {
		low, step = max(0, low-step), 2*step
	}
	for step = 1; high < len(ix.calls) && ix.calls[high].corr() < corr; step *= 2 {
		low, high = high, min(len(ix.calls), high+step)
	}
	i, _ := slices.BinarySearch(ix.calls[low:high], call(corr)<<32)
	ix.near = low + i
	return ix.near, ix.near < len(ix.calls) && ix.calls[ix.near].corr() == corr
}

// after is the index behind the calls that have the id of the first-th.
func (ix *launchIndex) after(first int) int {
	end := first + 1
	for end < len(ix.calls) && ix.calls[end].corr() == ix.calls[first].corr() {
		end++
	}
	return end
}

// find returns the launch of a device event. A runtime call and the driver call
// inside it share an id and are one launch, the outer one. Two separate calls
// with one id are damage: the External id decides, else there is no launch.
func (ix *launchIndex) find(c *computer, row int32) (int32, bool) {
	corr := c.col.Corr[row]
	if corr == 0 {
		return 0, false
	}
	first, ok := ix.first(corr)
	if !ok {
		return 0, false
	}
	calls := ix.calls[first:ix.after(first)]
	if c.nested(calls) {
		return calls[0].row(), true
	}
	found := int32(-1)
	for _, l := range calls {
		if external := c.col.External[l.row()]; external != 0 && external == c.col.External[row] {
			if found >= 0 {
				return 0, false
			}
			found = l.row()
		}
	}
	return found, found >= 0
}

// nested tells whether all calls lie in time inside the first, on its track.
func (c *computer) nested(calls []call) bool {
	if len(calls) == 1 {
		return true
	}
	outer := calls[0].row()
	end := c.col.Start[outer] + c.col.Dur[outer]
	for _, l := range calls[1:] {
		if c.col.Track[l.row()] != c.col.Track[outer] || c.col.Start[l.row()] >= end {
			return false
		}
	}
	return true
}

// link joins every device event of the rank to its launch and counts what stays
// without: events launched outside the recording, clashing ids, impossible times.
func (c *computer) link(r *Rank) {
	ix := c.indexLaunches(r.host)
	duplicates := c.duplicates(ix)
	for _, d := range r.Devices {
		d.Launch = make([]int32, len(d.Rows))
		unlinked := r.Unlinked
		for i, row := range d.Rows {
			d.Launch[i] = -1
			l, ok := ix.find(c, row)
			if !ok {
				r.Unlinked++
				continue
			}
			d.Launch[i] = l
			if unlinked >= 0 {
				r.UnlinkedAtStart += r.Unlinked - unlinked
				unlinked = -1
			}
			if c.col.Start[row] < c.col.Start[l] {
				r.Impossible = append(r.Impossible, row)
			}
		}
		r.DeviceEvents += len(d.Rows)
	}
	if duplicates > 0 {
		r.problem(trace.DuplicateLaunch, int64(duplicates), "")
	}
	if n := len(r.Impossible); n > 0 {
		r.problem(trace.ImpossibleDevice, int64(n), c.t.Event(int(r.Impossible[0])).Name())
	}
}

// duplicates counts the correlation ids that several separate calls carry.
func (c *computer) duplicates(ix *launchIndex) int {
	n := 0
	for i := 0; i < len(ix.calls); {
		j := ix.after(i)
		n += oneIf(!c.nested(ix.calls[i:j]))
		i = j
	}
	return n
}

// deepest is how many spans around an event are looked at. Python gives up at a
// depth of a thousand calls; what is nested deeper was made to be.
const deepest = 2048

// stack calls visit for the spans that contain row's start on its thread, from
// the innermost outwards, until visit returns false.
func (c *computer) stack(row int32, visit func(span int32) bool) {
	now, depth := c.col.Start[row], 0
	for p := c.col.Parent[row]; p != trace.NoParent; p = c.col.Parent[p] {
		if depth++; depth > deepest {
			c.tooDeep.Store(true)
			return
		}
		if c.col.Start[p]+c.col.Dur[p] > now && !visit(p) {
			return
		}
	}
}
