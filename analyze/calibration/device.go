package calibration

import (
	"sort"

	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace"
)

const (
	// queued is how long a kernel must have been launched before what it follows ends, for that to be what it waited
	// for, and within how long it must start then, in ns.
	queued = 30_000
	// long is from when on a call of the runtime waits for room in the queue, in ns.
	long = 50_000
	// short is the most that lies between kernels which wait for nothing but each other, in ns.
	short = 10_000
)

// stream is what is known of one while the events of a device go by.
type stream struct {
	ends     []int64 // of its events, in order of start, ns
	launches []int64 // when they were launched
	last     int64   // when the last of them ended
	any      bool
}

// device takes how long kernels take to start: on an idle device, after the one before them, and after what another
// stream computed.
func (s *Samples) device(r *timeline.Rank, d *timeline.Device) {
	streams, busy, idle := make(map[trace.TrackID]*stream), int64(0), int64(0)
	compute := computeStream(r, d)
	for i, row := range d.Rows {
		on := streams[r.Col.Track[row]]
		if on == nil {
			on = &stream{}
			streams[r.Col.Track[row]] = on
		}
		begin, communicates := r.Col.Start[row], d.Kind[i] != timeline.NotCommunication
		if call := d.Launch[i]; call >= 0 {
			launched := r.Col.Start[call]
			if communicates {
				s.afterEvent(begin, launched, on, streams[compute])
			} else if on.any {
				s.afterLaunch(begin, launched, busy, on, r.Col.Dur[call] <= long && callOf(r.Name(call)) == launch)
			}
			if r.Col.Track[row] == compute {
				on.ends, on.launches = append(on.ends, r.End(row)), append(on.launches, launched)
			}
		}
		if !communicates {
			s.Compute += r.Col.Dur[row]
		}
		on.last, on.any = max(on.last, r.End(row)), true
		idle += max(0, begin-max(busy, r.Col.Start[d.Rows[0]])-short)
		busy = max(busy, r.End(row))
	}
	if len(d.Rows) > 0 && busy > r.Col.Start[d.Rows[0]] {
		s.Idle = max(s.Idle, float64(idle)/float64(busy-r.Col.Start[d.Rows[0]]))
	}
}

// afterLaunch takes how long a kernel takes to start on a device that is idle since an instant, if a call launched it
// that did not wait itself, or after the one before it on its stream.
func (s *Samples) afterLaunch(begin, launched, idleSince int64, on *stream, atOnce bool) {
	switch {
	case launched > idleSince && atOnce:
		s.Times[start] = append(s.Times[start], begin-launched)
	case launched+queued < on.last && begin >= on.last && begin < on.last+queued:
		s.Times[gap] = append(s.Times[gap], begin-on.last)
	}
}

// afterEvent takes how long after the last thing that was launched on the stream that computes a collective starts, if
// that is all that it waited for.
func (s *Samples) afterEvent(begin, launched int64, on, compute *stream) {
	if compute == nil || on == compute {
		return
	}
	i := sort.Search(len(compute.launches), func(i int) bool { return compute.launches[i] >= launched }) - 1
	if i < 0 {
		return
	}
	end := compute.ends[i]
	if end >= on.last && launched+queued < end && begin >= end && begin < end+queued {
		s.Times[event] = append(s.Times[event], begin-end)
	}
}

// computeStream is the stream on which most of what computes runs.
func computeStream(r *timeline.Rank, d *timeline.Device) trace.TrackID {
	count, most := make(map[trace.TrackID]int), trace.TrackID(0)
	for i, row := range d.Rows {
		if track := r.Col.Track[row]; d.Kind[i] == timeline.NotCommunication {
			if count[track]++; count[track] > count[most] {
				most = track
			}
		}
	}
	return most
}
