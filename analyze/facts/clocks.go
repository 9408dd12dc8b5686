package facts

import (
	"fmt"

	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace"
)

// clockProblems are the signs that clocks disagree or jump; suspect says that all times are in
// another unit.
func clockProblems(x *timeline.Rank, suspect bool) []trace.Problem {
	const (
		leastEarly     = 3       // device events
		leastDisorder  = 3       // calls
		leastOverlap   = 0.05    // of the time of kernels
		leastForStream = 100_000 // ns of overlap
	)
	var problems []trace.Problem
	add := func(code trace.Code, n int, detail string) { problems = append(problems, problem(code, n, detail)) }
	if n := timeline.EarlyReturns(x); n >= leastEarly {
		add(trace.ClockOffset, n, "work of the device begins after a call that waited for it has returned")
	}
	if n := x.Links.Disordered; n >= leastDisorder {
		add(trace.ThreadClocks, n, "")
	}
	overlap, busy := timeline.Overlaps(x)
	if overlap >= leastForStream && float64(overlap) >= leastOverlap*float64(busy) {
		add(trace.Overlapping, 1, fmt.Sprintf("for %.0f %% of their time", 100*float64(overlap)/float64(busy)))
	}
	if gap := gapOf(x); gap > 0 && !suspect {
		add(trace.TimeGap, 1, "for "+length(gap))
	}
	return problems
}

// A gap is where the clock of a recording jumps ahead. Hosts that save a checkpoint record nothing
// for minutes at most, and less than many times all the rest.
const (
	leastGap = int64(10e9)  // ns in which nothing runs,
	gapTimes = 10           // if that is so many times what the rest takes,
	longGap  = int64(600e9) // or in which nothing begins, if that is longer than the rest
	pieces   = 4096         // of a recording, in each of which something begins or runs, or nothing
)

// gapOf is how long nothing of a rank is recorded, in ns to within a piece of the recording; 0 for
// no gap.
func gapOf(x *timeline.Rank) int64 {
	first, last := recorded(x)
	if last-first < leastGap {
		return 0
	}
	width := (last-first)/pieces + 1
	events := 0
	var begun, run [pieces]int32 // of each piece: what begins; what runs there, less what ran in the one before
	each(x, func(row int32) {
		at := (x.Col.Start[row] - first) / width
		if at < 0 || at >= pieces {
			return
		}
		begun[at]++
		events++
		if holds(x, row) {
			return
		}
		run[at]++
		if to := (x.End(row)-first)/width + 1; to > at && to < pieces {
			run[to]--
		}
	})
	if events < minSample {
		return 0
	}
	for i := 1; i < pieces; i++ {
		run[i] += run[i-1]
	}
	if gap := longest(&run) * width; gap >= leastGap && gap/gapTimes >= last-first-gap {
		return gap
	}
	if gap := longest(&begun) * width; gap >= longGap && gap >= last-first-gap {
		return gap
	}
	return 0
}

// holds reports whether a span only holds others, as a step of the profiler and a function of
// Python do.
func holds(x *timeline.Rank, row int32) bool {
	return x.Col.Cat[row] == trace.CatPythonFunction || x.Is(row, timeline.ProfilerStep)
}

// longest is the most pieces in a row, between two others, of which nothing is known.
func longest(known *[pieces]int32) int64 {
	most, run, begun := int64(0), int64(0), false
	for _, n := range known {
		switch {
		case n == 0:
			run++
		case begun:
			most = max(most, run)
			run = 0
		default:
			begun, run = true, 0
		}
	}
	return most
}

// each goes over the complete events of a rank, on its host threads and on its devices.
func each(x *timeline.Rank, do func(row int32)) {
	for _, id := range x.Host {
		track := x.Trace.Tracks()[id]
		for row := track.First; row < track.First+track.N; row++ {
			if x.Col.Phase[row] == trace.Complete {
				do(int32(row))
			}
		}
	}
	for _, d := range x.Devices {
		for _, row := range d.Rows {
			do(row)
		}
	}
}
