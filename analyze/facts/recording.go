package facts

import (
	"fmt"
	"sort"

	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace"
)

const (
	// lostShare is the share of kernels that must be missing to be worth a word. In real traces
	// none is missing, apart from what graphs capture.
	lostShare = 0.001
	// mostDelay is the time from launch to start in ns that some event of any recording stays
	// below: a host runs ahead of its device by a second at most.
	mostDelay = 10e9
	// emptyLength is what device events that last no time stay below, in ns: no kernel is that short.
	emptyLength = 10
	// emptyShare is the share of device events that may last no time: writers that round to
	// microseconds make that of short ones.
	emptyShare = 0.25
)

// deviceProblems are the signs that device events are missing, or that their times are wrong;
// suspect says that all times are in another unit.
func deviceProblems(x *timeline.Rank, r *Rank, suspect bool) []trace.Problem {
	var problems []trace.Problem
	add := func(code trace.Code, n int, detail string) {
		if n > 0 {
			problems = append(problems, problem(code, n, detail))
		}
	}
	if n := x.LaunchesIn(inComplete(r.Steps)); float64(n.Lost) >= lostShare*float64(n.Kernels) {
		add(trace.LostDevice, n.Lost, fmt.Sprintf("%d of %d in complete steps", n.Lost, n.Kernels))
	}
	add(trace.RepeatedDevice, x.Repeated(), "")
	if least, n := x.LeastDelay(); least > mostDelay && !suspect {
		add(trace.DeviceClock, n, "the least is "+length(least))
	}
	n, detail := withoutLength(x)
	add(trace.ZeroDuration, n, detail)
	return append(append(problems, missingProblems(x, r)...), clockProblems(x, suspect)...)
}

// inComplete reports whether an instant (ns on the host's clock) lies in a complete step.
func inComplete(list []Step) func(int64) bool {
	at := 0
	return func(t int64) bool {
		if at == len(list) || t >= list[at].HostEnd || t < list[at].HostStart {
			at = sort.Search(len(list), func(i int) bool { return t < list[i].HostEnd })
		}
		return at < len(list) && t >= list[at].HostStart && list[at].Complete
	}
}

// withoutLength counts the device events that last no time, where these are too many to be
// short ones, or collectives, which never are.
func withoutLength(x *timeline.Rank) (int, string) {
	var empty, collectives, all int
	for _, d := range x.Devices {
		all += len(d.Rows)
		overlong := d.Overlong
		for i, row := range d.Rows {
			if len(overlong) > 0 && overlong[0] == int32(i) {
				overlong = overlong[1:]
				continue
			}
			if x.Col.Dur[row] < emptyLength {
				empty++
				collectives += oneIf(d.Kind[i] != timeline.NotCommunication)
			}
		}
	}
	switch {
	case all >= minSample && float64(empty) > emptyShare*float64(all):
		return empty, fmt.Sprintf("%d of %d", empty, all)
	case collectives > 0:
		return collectives, "collectives"
	}
	return 0, ""
}
