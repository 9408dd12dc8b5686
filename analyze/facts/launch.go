package facts

import (
	"cmp"
	"slices"

	"github.com/gaprof/gaprof/internal/runs"
	"github.com/gaprof/gaprof/trace"
)

// launchIndex finds the host call with a correlation id, within one process.
type launchIndex struct {
	corr []int64 // ascending
	row  []int32
	near int // where the last one was found: the next is seldom far
}

// indexLaunches collects the runtime and driver calls of some tracks.
func (c *computer) indexLaunches(tracks []trace.TrackID) *launchIndex {
	ix := &launchIndex{}
	for _, id := range tracks {
		track := c.t.Tracks()[id]
		for i := track.First; i < track.First+track.N; i++ {
			if c.col.Corr[i] != 0 && c.col.Cat[i].IsRuntime() && c.col.Phase[i] == trace.Complete {
				ix.row = append(ix.row, int32(i))
			}
		}
	}
	runs.Sort(ix.row, func(a, b int32) int { return cmp.Compare(c.t.Number(c.col.Corr[a]), c.t.Number(c.col.Corr[b])) }, nil)
	ix.corr = make([]int64, len(ix.row))
	for i, row := range ix.row {
		ix.corr[i] = c.t.Number(c.col.Corr[row])
	}
	return ix
}

// first is the index of the first call with an id, where there is one. It looks around
// the last one found in steps that double.
func (ix *launchIndex) first(corr int64) (int, bool) {
	low, high, step := ix.near, ix.near, 1
	for low > 0 && ix.corr[low-1] >= corr {
		low, step = max(0, low-step), 2*step
	}
	for step = 1; high < len(ix.corr) && ix.corr[high] < corr; step *= 2 {
		low, high = high, min(len(ix.corr), high+step)
	}
	i, _ := slices.BinarySearch(ix.corr[low:high], corr)
	ix.near = low + i
	return ix.near, ix.near < len(ix.corr) && ix.corr[ix.near] == corr
}

// find returns the launch of a device event. A runtime call and the driver call
// inside it share an id and are one launch, the outer one. Two separate calls
// with one id are damage: the External id decides, else there is no launch.
func (ix *launchIndex) find(c *computer, row int32) (int32, bool) {
	corr := c.t.Number(c.col.Corr[row])
	if corr == 0 {
		return 0, false
	}
	first, ok := ix.first(corr)
	if !ok {
		return 0, false
	}
	last := first
	for last+1 < len(ix.corr) && ix.corr[last+1] == corr {
		last++
	}
	if last == first || c.nested(ix.row[first:last+1]) {
		return ix.row[first], true
	}
	found := int32(-1)
	for _, l := range ix.row[first : last+1] {
		if c.col.External[l] != 0 && c.col.External[l] == c.col.External[row] {
			if found >= 0 {
				return 0, false
			}
			found = l
		}
	}
	return found, found >= 0
}

// nested tells whether all rows lie in time inside the first, on its track.
func (c *computer) nested(rows []int32) bool {
	outer := rows[0]
	end := c.col.Start[outer] + c.col.Dur[outer]
	for _, r := range rows[1:] {
		if c.col.Track[r] != c.col.Track[outer] || c.col.Start[r] >= end {
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
	for i := 0; i < len(ix.corr); {
		j := i + 1
		for j < len(ix.corr) && ix.corr[j] == ix.corr[i] {
			j++
		}
		if j > i+1 && !c.nested(ix.row[i:j]) {
			n++
		}
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
