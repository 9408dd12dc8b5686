package timeline

import (
	"slices"

	"github.com/gaprof/gaprof/trace"
)

// Launches says how many kernels the host launched, and how many of them are nowhere in
// the recording.
type Launches struct {
	Kernels int // calls that launch a kernel
	Lost    int // those of Kernels whose kernel is not in the recording
}

// LaunchesIn counts the calls that launch a kernel and begin where within says so, in ns.
// Profilers wait for the device when they stop, so that each such call has a kernel unless
// records were lost; copies and memsets are left out, since those of no bytes have none. Nor
// have launches that a graph captures: what precedes the last graph that is made does not
// count. Without any device event nothing does.
func (r *Rank) LaunchesIn(within func(start int64) bool) Launches {
	var n Launches
	var unused []trace.ID
	if len(r.Devices) == 0 {
		return n
	}
	captured := r.lastCapture()
	list, last := r.launched, int32(-1)
	r.Each(r.Host, KernelLaunch, func(row int32) {
		if row < last { // a track that precedes the one before
			list = r.launched
		}
		last = row
		if !r.Col.Cat[row].IsRuntime() || r.Col.Corr[row] == 0 || r.Col.Start[row] < captured ||
			!within(r.Col.Start[row]) {
			return
		}
		n.Kernels++
		for len(list) > 0 && list[0].call() < row {
			list = list[1:]
		}
		if len(list) == 0 || list[0].call() != row {
			unused = append(unused, r.Col.Corr[row])
		}
	})
	n.Lost = r.lost(unused)
	n.Kernels -= len(unused) - n.Lost
	return n
}

// lastCapture is when the last graph of a rank has been made, in ns; 0 without one.
func (r *Rank) lastCapture() int64 {
	last := int64(0)
	if r.AnyName()&GraphInstantiate != 0 {
		r.Each(r.Host, GraphInstantiate, func(row int32) { last = max(last, r.End(row)) })
	}
	return last
}

// lost counts ids that no device event carries and no other call that has one: a driver call
// within a call of the runtime has the same id.
func (r *Rank) lost(unused []trace.ID) int {
	if len(unused) == 0 {
		return 0
	}
	there := make(map[trace.ID]bool)
	for _, d := range r.Devices {
		for _, row := range d.Rows {
			there[r.Col.Corr[row]] = true
		}
	}
	slices.Sort(unused)
	n := 0
	for _, id := range slices.Compact(unused) {
		n += oneIf(!there[id])
	}
	return n
}

// Repeated counts the device events that are in the recording before: on the same stream,
// by the same launch, with the same name and time.
func (r *Rank) Repeated() int {
	n := 0
	for _, d := range r.Devices {
		for i := range d.Rows {
			for j := i - 1; j >= 0 && r.Col.Start[d.Rows[j]] == r.Col.Start[d.Rows[i]]; j-- {
				if r.sameEvent(d.Rows[i], d.Rows[j]) {
					n++
					break
				}
			}
		}
	}
	return n
}

func (r *Rank) sameEvent(a, b int32) bool {
	c := &r.Col
	return c.Corr[a] != 0 && c.Corr[a] == c.Corr[b] && c.Track[a] == c.Track[b] && c.Name[a] == c.Name[b] &&
		c.Dur[a] == c.Dur[b] && c.Dur[a] > 0
}

// LeastDelay is the least time in ns from a launch call to its device event, and how many
// pairs of both there are.
func (r *Rank) LeastDelay() (least int64, pairs int) {
	for i, l := range r.launched {
		if d := r.Col.Start[l.Event()] - r.Col.Start[l.call()]; i == 0 || d < least {
			least = d
		}
	}
	return least, len(r.launched)
}
