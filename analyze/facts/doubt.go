package facts

import (
	"fmt"

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

// checkStreams looks for communication on the streams of the compute kernels. One
// stream runs one thing after another: if the two overlap in time there, the tracks are
// wrong and no overlap can be believed. A stream of communication may compute a little
// (FSDP2 adds reduced gradients up there): only half of all that is computed makes it theirs.
func (c *computer) checkStreams(r *Rank) {
	communicates := make(map[trace.TrackID]bool)
	for i := range r.Messages {
		communicates[c.col.Track[r.Messages[i].Row]] = true
	}
	if len(communicates) == 0 {
		return
	}
	computes := make(map[trace.TrackID]*Set)
	busy, total := make(map[trace.TrackID]int64), int64(0) // of compute kernels, ns
	for _, d := range r.Devices {
		for i, row := range d.Rows {
			if c.bucketOf(d, i) != ComputeBucket {
				continue
			}
			track := c.col.Track[row]
			total += c.col.Dur[row]
			if !communicates[track] {
				continue
			}
			if computes[track] == nil {
				computes[track] = &Set{}
			}
			computes[track].add(c.col.Start[row], c.col.Start[row]+c.col.Dur[row])
			busy[track] += c.col.Dur[row]
		}
	}
	shared := 0
	for i := range r.Messages {
		m, track := &r.Messages[i], c.col.Track[r.Messages[i].Row]
		if set := computes[track]; set != nil {
			over := set.Within(m.Start, m.End) > 0
			r.SelfOverlap = r.SelfOverlap || over
			shared += oneIf(over || 2*busy[track] >= total)
		}
	}
	if shared > 0 {
		r.problem(trace.CommOnCompute, int64(shared), "")
	}
}

// A launch takes microseconds and a kernel rarely milliseconds. Where most are a
// thousand times longer, nanoseconds were written where microseconds belong.
const (
	suspectLaunch = 1e6 // ns
	suspectKernel = 5e6 // ns
	minSample     = 20
)

func (c *computer) checkUnit(r *Rank) {
	var launches, longLaunches, longEvents int
	for _, d := range r.Devices {
		for i, row := range d.Rows {
			longEvents += oneIf(c.col.Dur[row] >= suspectKernel)
			if l := d.Launch[i]; l >= 0 {
				launches++
				longLaunches += oneIf(c.col.Dur[l] >= suspectLaunch)
			}
		}
	}
	switch {
	case launches >= minSample && 2*longLaunches > launches:
		r.problem(trace.SuspectUnit, 1, fmt.Sprintf("most launches last a millisecond or more%s", longestStep(r)))
	case launches < minSample && r.DeviceEvents >= minSample && 2*longEvents > r.DeviceEvents:
		r.problem(trace.SuspectUnit, 1, fmt.Sprintf("most device events last 5 ms or more%s", longestStep(r)))
	}
}

func oneIf(b bool) int {
	if b {
		return 1
	}
	return 0
}

func longestStep(r *Rank) string {
	var longest int64
	for i := range r.Steps {
		longest = max(longest, r.Steps[i].HostDuration())
	}
	if longest == 0 {
		return ""
	}
	return fmt.Sprintf(", the longest step %.1f s", float64(longest)/1e9)
}
