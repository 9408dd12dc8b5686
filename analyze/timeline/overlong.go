package timeline

import (
	"slices"

	"github.com/gaprof/gaprof/trace"
)

// A stream runs one event after the other, so an event ends before the next of its stream
// begins. Clocks of devices are not that exact, and a kernel may be let in while the one
// before it drains: in real traces an event lasts over the starts of up to 2 later ones of
// its stream, by microseconds. An end that was damaged lies behind hundreds of them.

// mostCovered is over how many starts of later events of its stream an event may last.
const mostCovered = 10

// findOverlong sets the overlong events of a device, by position: those whose duration cannot be
// true. Communication and compute are compared among their own, since some tools draw them
// on one track; there an event of one lasts over many of the other, which is no
// damage of either. Parts of a graph are left out: they run by its edges, not in the order of a stream.
func (d *Device) findOverlong(x *Rows) {
	suspected := d.suspectedTracks(x)
	if suspected == nil {
		return
	}
	type stream struct {
		track trace.TrackID
		comm  bool
	}
	streams := make(map[stream]*window)
	for i, row := range d.Rows {
		track := x.Col.Track[row]
		if !suspected[track] || x.Replayed(row, d.Launch[i]) {
			continue
		}
		at := stream{track, d.Kind[i] != NotCommunication}
		if streams[at] == nil {
			streams[at] = &window{}
		}
		if old, full := streams[at].push(int32(i)); full && x.Col.Start[row] < x.End(d.Rows[old]) {
			d.Overlong = append(d.Overlong, old)
		}
	}
	slices.Sort(d.Overlong)
}

// suspectedTracks are the tracks with an event that lasts over many starts of any kind; nil
// without one, as in nearly all traces, at the price of one look at each event.
func (d *Device) suspectedTracks(x *Rows) map[trace.TrackID]bool {
	const next = mostCovered + 1
	var tracks map[trace.TrackID]bool
	for _, row := range d.Rows {
		later := int(row) + next
		if later >= len(x.Col.Start) || x.Col.Start[later] >= x.End(row) || x.Col.Track[later] != x.Col.Track[row] {
			continue
		}
		if tracks == nil {
			tracks = make(map[trace.TrackID]bool)
		}
		tracks[x.Col.Track[row]] = true
	}
	return tracks
}

// window is the last events of a stream.
type window struct {
	last [mostCovered + 1]int32
	n    int
}

// push adds an event and returns the one that is mostCovered+1 events before it, if there is one.
func (w *window) push(i int32) (old int32, full bool) {
	at := &w.last[w.n%len(w.last)]
	old, full = *at, w.n >= len(w.last)
	*at = i
	w.n++
	return old, full
}

// withoutTime takes the duration of the overlong events of devices for zero, in a copy of the
// column: the trace is not changed. They count and are joined to their launches as before.
func withoutTime(x *Rows, devices []*Device) {
	copied := false
	for _, d := range devices {
		for _, i := range d.Overlong {
			if !copied {
				x.Col.Dur, copied = slices.Clone(x.Col.Dur), true
			}
			x.Col.Dur[d.Rows[i]] = 0
		}
	}
}
