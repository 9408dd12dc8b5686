package facts

import (
	"fmt"
	"slices"

	"github.com/gaprof/gaprof/analyze/steps"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace"
)

// problemsOf lists the problems of the trace followed by the signs that the recording of a
// rank is not what it seems. The latter are no damage to the file: every event was read, but
// figures derived from them deserve a warning.
func problemsOf(x *timeline.Rank, r *Rank) []trace.Problem {
	list := slices.Clone(x.Trace.Problems())
	add := func(code trace.Code, n int, detail string) {
		if n > 0 {
			list = append(list, problem(code, n, detail))
		}
	}
	if r.Mixed() {
		add(trace.MixedRanks, len(r.Senders), fmt.Sprintf("ranks %v", r.Senders))
	}
	if r.Contradicted {
		add(trace.SwappedRanks, 1, fmt.Sprintf("rank %d, whose messages are of rank %d", r.ID, r.Senders[0]))
	}
	if d := r.Distributed; d != nil && (d.WorldSize < 1 || d.Rank >= d.WorldSize) {
		add(trace.UnreadWorldSize, 1, fmt.Sprintf("rank %d of %d", d.Rank, d.WorldSize))
	}
	add(trace.DuplicateLaunch, x.Links.Duplicates, "")
	if n := len(x.Links.Impossible); n > 0 {
		add(trace.ImpossibleDevice, n, r.Activity.Impossible[0].Name)
	}
	if n, one := x.ImpossibleShapes(); n > 0 {
		const detail = "shapes of more than %d elements, such as %.80s"
		add(trace.NumberRange, n, fmt.Sprintf(detail, timeline.MostElements, one))
	}
	if n, detail := overlong(x); n > 0 {
		add(trace.OverlongDevice, n, detail)
	}
	if r.StepSource == steps.FromProfiler {
		add(trace.StepFallback, len(r.Steps), "")
	}
	add(trace.Unlinked, r.Unlinked, "")
	add(trace.DroppedDevice, int(x.Trace.Meta().Dropped), "")
	add(trace.CommOnCompute, r.OnCompute, "")
	unit := suspectUnit(x, r.Steps)
	if unit != "" {
		add(trace.SuspectUnit, 1, unit)
	}
	return append(list, deviceProblems(x, r, unit != "")...)
}

// A launch call takes microseconds, and a kernel rarely milliseconds. If most are a thousand
// times longer, the writer gave nanoseconds where microseconds belong; if most are a thousand
// times shorter, milliseconds.
const (
	suspectLaunch = 1e6 // ns
	hastyLaunch   = 10  // ns; the launch calls of a backend on the cpu take from 20
	suspectKernel = 5e6 // ns
	minSample     = 20  // launch calls, or device events, without which nothing is concluded
)

// suspectUnit says why times are probably a thousand times too long or short, "" if they are not.
// Launch calls decide, as kernels of 5 ms exist; kernels do only where launches are missing.
func suspectUnit(x *timeline.Rank, list []Step) string {
	var launches, longLaunches, hasty, longEvents int
	for _, d := range x.Devices {
		for i, row := range d.Rows {
			longEvents += oneIf(x.Col.Dur[row] >= suspectKernel)
			if l := d.Launch[i]; l >= 0 {
				launches++
				longLaunches += oneIf(x.Col.Dur[l] >= suspectLaunch)
				hasty += oneIf(x.Col.Dur[l] < hastyLaunch && x.Col.Dur[l] > 0)
			}
		}
	}
	switch {
	case launches >= minSample && 2*longLaunches > launches:
		return "most launches last a millisecond or more" + longestStep(list)
	case launches >= minSample && 2*hasty > launches:
		return "most launches last less than 10 ns" + longestStep(list)
	case launches < minSample && x.Links.Events >= minSample && 2*longEvents > x.Links.Events:
		return "most device events last 5 ms or more" + longestStep(list)
	}
	return ""
}

// longestStep ends the message of suspectUnit with the longest step, which lets a person
// decide; "" without steps.
func longestStep(list []Step) string {
	var longest int64
	for i := range list {
		longest = max(longest, list[i].HostDuration())
	}
	if longest == 0 {
		return ""
	}
	return fmt.Sprintf(", the longest step %.1f s", float64(longest)/1e9)
}

// problem is a problem of no particular place in the file.
func problem(code trace.Code, n int, detail string) trace.Problem {
	return trace.Problem{Code: code, Count: int64(n), Offset: -1, Detail: detail}
}

// overlong counts the device events whose duration cannot be true, and says what the longest
// of them is.
func overlong(x *timeline.Rank) (n int, longest string) {
	most := int64(-1)
	for _, d := range x.Devices {
		n += len(d.Overlong)
		for _, i := range d.Overlong {
			e := x.Trace.Event(int(d.Rows[i]))
			if e.Dur() > most {
				most = e.Dur()
				longest = fmt.Sprintf("%s on stream %s of device %s, recorded with %s", timeline.ShortKernel(e.Name()),
					e.Track().TID, e.Track().PID, length(most))
			}
		}
	}
	return n, longest
}

// length is a duration in the unit that suits it.
func length(ns int64) string {
	switch {
	case ns < 1e9:
		return fmt.Sprintf("%.2f ms", float64(ns)/1e6)
	case ns < 3600e9:
		return fmt.Sprintf("%.1f s", float64(ns)/1e9)
	}
	return fmt.Sprintf("%.1f hours", float64(ns)/3600e9)
}
