package timeline

import (
	"cmp"
	"slices"

	"github.com/gaprof/gaprof/internal/runs"
	"github.com/gaprof/gaprof/trace"
)

// launchIndex finds the host call with a correlation id, within one process.
type launchIndex struct {
	x     *Rows
	calls []launchCall // by id, then by row
	near  int          // where the last one was found: the next is seldom far
}

// launchCall is a host call: its correlation id in the upper half, its row in the lower.
type launchCall uint64

func (l launchCall) corr() trace.ID { return trace.ID(l >> 32) }
func (l launchCall) row() int32     { return int32(uint32(l)) }

// indexLaunches collects the runtime and driver calls of some tracks.
func indexLaunches(x *Rows, tracks []trace.TrackID) *launchIndex {
	n := 0
	for _, id := range tracks {
		track := x.Trace.Tracks()[id]
		for _, cat := range x.Col.Cat[track.First : track.First+track.N] {
			n += oneIf(cat.IsRuntime())
		}
	}
	ix := &launchIndex{x: x, calls: make([]launchCall, 0, n)}
	for _, id := range tracks {
		track := x.Trace.Tracks()[id]
		for i := track.First; i < track.First+track.N; i++ {
			if x.Col.Cat[i].IsRuntime() && x.Col.Corr[i] != 0 && x.Col.Phase[i] == trace.Complete {
				ix.calls = append(ix.calls, launchCall(x.Col.Corr[i])<<32|launchCall(i))
			}
		}
	}
	runs.Sort(ix.calls, cmp.Compare[launchCall], nil)
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
	i, _ := slices.BinarySearch(ix.calls[low:high], launchCall(corr)<<32)
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
func (ix *launchIndex) find(row int32) (int32, bool) {
	x := ix.x
	corr := x.Col.Corr[row]
	if corr == 0 {
		return 0, false
	}
	first, ok := ix.first(corr)
	if !ok {
		return 0, false
	}
	calls := ix.calls[first:ix.after(first)]
	if ix.nested(calls) {
		return calls[0].row(), true
	}
	found := int32(-1)
	for _, l := range calls {
		if external := x.Col.External[l.row()]; external != 0 && external == x.Col.External[row] {
			if found >= 0 {
				return 0, false
			}
			found = l.row()
		}
	}
	return found, found >= 0
}

// nested reports whether all calls lie in time inside the first, on its track.
func (ix *launchIndex) nested(calls []launchCall) bool {
	x := ix.x
	if len(calls) == 1 {
		return true
	}
	outer := calls[0].row()
	end := x.Col.Start[outer] + x.Col.Dur[outer]
	for _, l := range calls[1:] {
		if x.Col.Track[l.row()] != x.Col.Track[outer] || x.Col.Start[l.row()] >= end {
			return false
		}
	}
	return true
}

// Links says how the device events of a rank are joined to their launches.
type Links struct {
	Events          int     // device events of the rank
	Unlinked        int     // of those, the ones without a launch in the recording
	UnlinkedAtStart int     // of those, the ones that start before any linked event of their device
	Impossible      []int32 // device rows that start before their launch
	Duplicates      int     // correlation ids that several separate calls carry
}

// link joins every device event of the host tracks' devices to its launch and counts
// what stays without: events launched outside the recording, clashing ids, impossible
// times.
func link(x *Rows, host []trace.TrackID, devices []*Device) Links {
	ix := indexLaunches(x, host)
	links := Links{Duplicates: ix.duplicates()}
	for _, d := range devices {
		ix.linkDevice(d, &links)
	}
	return links
}

func (ix *launchIndex) linkDevice(d *Device, links *Links) {
	col := &ix.x.Col
	d.Launch = make([]int32, len(d.Rows))
	unlinked, linked := 0, false
	for i, row := range d.Rows {
		l, ok := ix.find(row)
		if !ok {
			d.Launch[i] = -1
			unlinked++
			continue
		}
		d.Launch[i] = l
		if !linked {
			linked = true
			links.UnlinkedAtStart += unlinked
		}
		if col.Start[row] < col.Start[l] {
			links.Impossible = append(links.Impossible, row)
		}
	}
	links.Events += len(d.Rows)
	links.Unlinked += unlinked
}

// duplicates counts the correlation ids that several separate calls carry.
func (ix *launchIndex) duplicates() int {
	n := 0
	for i := 0; i < len(ix.calls); {
		j := ix.after(i)
		n += oneIf(!ix.nested(ix.calls[i:j]))
		i = j
	}
	return n
}

// Launched is a device event behind the host call that launched it: the rows of both,
// the call's in the upper half, so that the order of the numbers is that of the calls
// by thread and time.
type Launched uint64

func (l Launched) call() int32 { return int32(l >> 32) }

// Event is the row of the device event.
func (l Launched) Event() int32 { return int32(uint32(l)) }

// launches lists the linked events of some devices in the order of their calls.
func launches(x *Rows, devices []*Device, n int) []Launched {
	list := make([]Launched, 0, n)
	for _, d := range devices {
		for i, row := range d.Rows {
			if l := d.Launch[i]; l >= 0 {
				list = append(list, Launched(l)<<32|Launched(row))
			}
		}
	}
	return sortLaunched(list, x.Trace.Len())
}

// sortLaunched sorts digit by digit, the last first: calls of several threads, on several
// streams, are so mixed that comparing them takes longer. It returns list or its own room.
func sortLaunched(list []Launched, rows int) []Launched {
	const digit = 11
	if len(list) < 1<<digit {
		slices.Sort(list)
		return list
	}
	room := make([]Launched, len(list))
	for half := 0; half < 64; half += 32 {
		for shift := half; rows>>(shift-half) > 0; shift += digit {
			var next [1 << digit]int32
			for _, l := range list {
				next[l>>shift%(1<<digit)]++
			}
			sum := int32(0)
			for i, n := range next {
				next[i] = sum
				sum += n
			}
			for _, l := range list {
				at := &next[l>>shift%(1<<digit)]
				room[*at] = l
				*at++
			}
			list, room = room, list
		}
	}
	return list
}

// LaunchedBy returns the device events launched inside a host span on its thread:
// those of the calls that follow it on its track and begin before it ends.
func (r *Rank) LaunchedBy(row int32) []Launched {
	list, end, trackEnd := r.launched, r.End(row), r.TrackEnd(row)
	from, _ := slices.BinarySearch(list, Launched(row)<<32)
	to := from
	for to < len(list) && list[to].call() < trackEnd && r.Col.Start[list[to].call()] < end {
		to++
	}
	return list[from:to]
}

func oneIf(b bool) int {
	if b {
		return 1
	}
	return 0
}
