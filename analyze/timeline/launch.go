package timeline

import (
	"cmp"
	"slices"

	"github.com/gaprof/gaprof/internal/parallel"
	"github.com/gaprof/gaprof/internal/runs"
	"github.com/gaprof/gaprof/trace"
)

// launchIndex finds launch calls by their correlation id, within one process.
//
// Ids are unique only there: CUPTI counts launches up from a small number in each process,
// so files merged from several ranks hold each id once a rank.
//
// It is a sorted slice rather than a map because ids ascend with time on each thread:
// sorting takes a few comparisons a call, and as device events ask for their ids in nearly
// the same order, a search that starts at the last hit finds most of them next to it.
type launchIndex struct {
	x     *Rows
	calls []launchCall // by id, then by row
	near  int          // index of the last hit, where the next search starts
	crowd *crowd       // the last one that was found
}

// crowd is many calls that share an id: damage, of which as many device events may ask.
type crowd struct {
	first, end int // its calls
	nested     bool
	by         map[trace.ID]int32 // row by External id, -1 where several have it
}

// leastCrowd is how many calls share an id before they are a crowd. A launch has two.
const leastCrowd = 8

// crowdOf is the crowd of the calls from first to end, of which External ids decide.
func (ix *launchIndex) crowdOf(first, end int) *crowd {
	c := &crowd{first, end, ix.nested(ix.calls[first:end]), make(map[trace.ID]int32)}
	for _, l := range ix.calls[first:end] {
		external := ix.x.Col.External[l.row()]
		if _, several := c.by[external]; several {
			c.by[external] = -1
		} else {
			c.by[external] = l.row()
		}
	}
	return c
}

// findIn is find in a crowd.
func (ix *launchIndex) findIn(c *crowd, row int32) (int32, bool) {
	if c.nested {
		return ix.calls[c.first].row(), true
	}
	external := ix.x.Col.External[row]
	found, known := c.by[external]
	return found, known && external != 0 && found >= 0
}

// launchCall is a launch call with its correlation id in the upper half and its row in the
// lower, so that sorting the numbers sorts by id and then by row.
type launchCall uint64

func (l launchCall) corr() trace.ID { return trace.ID(l >> 32) }
func (l launchCall) row() int32     { return int32(uint32(l)) }

// indexLaunches collects the runtime and driver calls of some tracks. Calls that launch
// nothing stay in the index: they share no id with a device event and do no harm.
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

// first returns the index of the first call with an id; ok is false without one. It gallops
// to both sides of the last hit.
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

// after returns the index after the run of calls that share the id of the first-th.
func (ix *launchIndex) after(first int) int {
	end := first + 1
	for end < len(ix.calls) && ix.calls[end].corr() == ix.calls[first].corr() {
		end++
	}
	return end
}

// find returns the launch call of a device event; ok is false without one.
//
// A runtime call and the driver call nested in it carry the same id and are one launch:
// the outer call is the one a person sees, and counting both would make every launch of a
// recent CUDA look like a clash. Two separate calls with one id are damage. Then the
// External id decides; where it does not single one out there is no launch, because a
// wrong one would move time into another step.
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
	if c := ix.crowd; c != nil && c.first == first {
		return ix.findIn(c, row)
	}
	end := ix.after(first)
	if end-first >= leastCrowd {
		ix.crowd = ix.crowdOf(first, end)
		return ix.findIn(ix.crowd, row)
	}
	calls := ix.calls[first:end]
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

// nested reports whether all calls begin inside the first one, on its track. Rows of a
// track are sorted by start, so the outermost call comes first.
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

// Links says how far the device events of a rank are joined to their launch calls.
type Links struct {
	Events          int     // device events of the rank
	Unlinked        int     // those of Events without a launch call in the recording
	UnlinkedAtStart int     // those of Unlinked that start before any linked event of their device
	Impossible      []int32 // rows of device events that start before their launch call
	Duplicates      int     // correlation ids carried by several separate calls
	Disordered      int     // calls that precede by 5 ms the one that is before them by their id
}

// link fills in Launch of every device and counts what does not join: events launched
// before the recording began, clashing ids, impossible times.
//
// Unlinked events at the start are normal, since devices run behind the host; others hint
// at lost events, so the two are counted apart.
func link(x *Rows, host []trace.TrackID, devices []*Device) Links {
	ix := indexLaunches(x, host)
	links := Links{Duplicates: ix.duplicates(), Disordered: ix.disordered()}
	for _, d := range devices {
		ix.linkDevice(d)
	}
	linkReplays(x, host, devices)
	for _, d := range devices {
		links.count(x, d)
	}
	return links
}

func (ix *launchIndex) linkDevice(d *Device) {
	d.Launch = make([]int32, len(d.Rows))
	half := len(d.Rows) / 2
	parallel.Both(func() { ix.findAll(d, 0, half) }, func() { ix.findAll(d, half, len(d.Rows)) })
}

// count adds how far the events of a device are joined.
func (links *Links) count(x *Rows, d *Device) {
	col := &x.Col
	unlinked, linked := 0, false
	for i, l := range d.Launch {
		switch row := d.Rows[i]; {
		case l < 0:
			unlinked++
			continue
		case col.Start[row] < col.Start[l]:
			links.Impossible = append(links.Impossible, row)
		}
		if !linked {
			linked = true
			links.UnlinkedAtStart += unlinked
		}
	}
	links.Events += len(d.Rows)
	links.Unlinked += unlinked
}

// findAll finds the launches of some rows of a device, -1 for those without. Several may do
// so at the same time: each has a search of its own over the same calls.
func (ix *launchIndex) findAll(d *Device, from, to int) {
	own := *ix
	for i := from; i < to; i++ {
		l, ok := own.find(d.Rows[i])
		if !ok {
			l = -1
		}
		d.Launch[i] = l
	}
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

// Launched is a device event and its launch call, as one number: the row of the call in the
// upper half, that of the event in the lower. Sorting the numbers sorts by call, and as
// rows are sorted by track and start, what a span launched is one stretch of the list.
type Launched uint64

func (l Launched) call() int32 { return int32(l >> 32) }

// Event returns the row of the device event.
func (l Launched) Event() int32 { return int32(uint32(l)) }

// launches lists the n linked events of some devices in the order of their launch calls.
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

// sortLaunched sorts a list whose row numbers are below rows. It is a radix sort, least
// significant digit first: with several threads and streams the order of device events says
// so little about the order of their calls that sorting by comparison takes longer. Digits
// above the largest row number are skipped. It returns either list or a buffer of its own;
// list itself is scratch afterwards.
func sortLaunched(list []Launched, rows int) []Launched {
	const digit = 11
	if len(list) < 1<<digit {
		slices.Sort(list)
		return list
	}
	buffer := make([]Launched, len(list))
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
				buffer[*at] = l
				*at++
			}
			list, buffer = buffer, list
		}
	}
	return list
}

func oneIf(b bool) int {
	if b {
		return 1
	}
	return 0
}
