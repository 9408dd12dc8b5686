package facts

import (
	"fmt"
	"slices"

	"github.com/gaprof/gaprof/trace"
)

// doubt looks for signs that the recording itself is not what it seems.
func (c *computer) doubt(r *Rank) {
	if r.Unlinked > 0 {
		r.problem(trace.Unlinked, int64(r.Unlinked), "")
	}
	if n := c.t.Meta().Dropped; n > 0 {
		r.problem(trace.DroppedDevice, n, "")
	}
	c.checkStreams(r)
	c.checkUnit(r)
}

// checkStreams looks for communication on streams that also compute. One stream
// runs one thing after another: if the two overlap in time there, the tracks are
// wrong and no overlap can be believed.
func (c *computer) checkStreams(r *Rank) {
	shared := 0
	for _, d := range r.Devices {
		compute, comm := make(map[trace.TrackID]*Set), make(map[trace.TrackID]*Set)
		count := make(map[trace.TrackID]int)
		for i, row := range d.Rows {
			track := c.col.Track[row]
			sets := compute
			if c.collectiveOf(d, i) != NotCommunication {
				sets = comm
				count[track]++
			} else if !c.isCompute(row) {
				continue
			}
			if sets[track] == nil {
				sets[track] = &Set{}
			}
			sets[track].add(c.col.Start[row], c.col.Start[row]+c.col.Dur[row])
		}
		for track, set := range comm {
			if compute[track] == nil {
				continue
			}
			shared += count[track]
			r.SelfOverlap = r.SelfOverlap || set.Overlap(compute[track]) > 0
		}
	}
	if shared > 0 {
		r.problem(trace.CommOnCompute, int64(shared), "")
	}
}

// A launch takes microseconds and a kernel rarely milliseconds; medians a thousand
// times longer mean that nanoseconds were written where microseconds belong.
const (
	suspectLaunch = 1e6 // ns
	suspectKernel = 5e6 // ns
	minSample     = 20
)

func (c *computer) checkUnit(r *Rank) {
	var launches, kernels []int64
	for _, d := range r.Devices {
		for i, row := range d.Rows {
			kernels = append(kernels, c.col.Dur[row])
			if l := d.Launch[i]; l >= 0 {
				launches = append(launches, c.col.Dur[l])
			}
		}
	}
	for _, s := range []struct {
		what  string
		durs  []int64
		limit int64
	}{{"launch", launches, suspectLaunch}, {"device event", kernels, suspectKernel}} {
		if len(s.durs) < minSample {
			continue
		}
		slices.Sort(s.durs)
		if median := s.durs[len(s.durs)/2]; median >= s.limit {
			r.problem(trace.SuspectUnit, 1, fmt.Sprintf("the median %s lasts %.1f ms%s", s.what, float64(median)/1e6, longestStep(r)))
		}
		return
	}
}

func longestStep(r *Rank) string {
	var longest int64
	for i := range r.Steps {
		longest = max(longest, r.Steps[i].HostDuration())
	}
	if longest == 0 {
		return ""
	}
	return fmt.Sprintf(", a step %.1f s", float64(longest)/1e9)
}
