package facts

import (
	"github.com/gaprof/gaprof/analyze/steps"
	"github.com/gaprof/gaprof/analyze/timeline"
)

// placeCollectives says of each collective in which phase of its step it is launched, and of
// each step when its devices compute for the last backward pass: what hides a collective,
// and why it does not, depends on both.
func placeCollectives(x *timeline.Rank, r *Rank) {
	if len(r.Collectives) == 0 {
		return
	}
	phases := launchPhases(x, r)
	at := 0
	for _, d := range x.Devices {
		for i, kind := range d.Kind {
			if kind != timeline.NotCommunication {
				r.Collectives[at].Phase = phases.Phase(d.Rows[i], d.Launch[i])
				at++
			}
		}
	}
	lastBackwards(x, r)
	r.BufferWaits = bufferWaits(x, r.Collectives)
}

// lastBackwards fills in LastBackward of every step. Launches of one device come mostly in
// the order of the steps, so the step of each event is looked for where the last one was.
func lastBackwards(x *timeline.Rank, r *Rank) {
	open := make([]steps.Interval, len(r.Steps)) // on the host
	for i := range r.Steps {
		s := &r.Steps[i]
		s.LastBackward = make([]steps.Interval, len(s.Windows))
		if n := len(s.Backwards); n > 0 {
			open[i] = steps.Interval{Start: s.Backwards[n-1].Start, End: s.Backwards[n-1].End}
		}
	}
	for dev, d := range x.Devices {
		step := 0
		for i, row := range d.Rows {
			launch := d.Launch[i]
			if launch < 0 || d.Bucket[i] != timeline.ComputeBucket {
				continue
			}
			t := x.Col.Start[launch]
			if !r.holds(step, t) {
				step = r.StepAt(t)
			}
			if step >= 0 && open[step].Start <= t && t < open[step].End {
				r.Steps[step].extendBackward(dev, x.Col.Start[row], x.End(row))
			}
		}
	}
}

// extendBackward adds a kernel of the last backward pass.
func (s *Step) extendBackward(device int, start, end int64) {
	for w := range s.Windows {
		if s.Windows[w].Device != device {
			continue
		}
		b := &s.LastBackward[w]
		if b.End == 0 {
			b.Start = start
		}
		b.End = max(b.End, end)
	}
}
