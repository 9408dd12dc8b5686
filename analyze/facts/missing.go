package facts

import (
	"fmt"

	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace"
)

// missingProblems are the signs that events were lost together with what would tell of them.
func missingProblems(x *timeline.Rank, r *Rank) []trace.Problem {
	const (
		leastCrossing = 20    // spans
		crossingShare = 0.005 // of all
	)
	var problems []trace.Problem
	add := func(code trace.Code, n int, detail string) {
		if n > 0 {
			problems = append(problems, problem(code, n, detail))
		}
	}
	n, detail := lostLaunches(x)
	add(trace.LostLaunches, n, detail)
	n, detail = lostHost(timeline.NumbersOf(x))
	add(trace.LostHost, n, detail)
	if n, all := timeline.CrossingSpans(x); n >= leastCrossing && float64(n) >= crossingShare*float64(all) {
		add(trace.CrossingSpans, n, fmt.Sprintf("%d of %d", n, all))
	}
	n, detail = lostCollectives(r)
	add(trace.LostLaunches, n, detail)
	if crossed, all := timeline.Crossed(x); crossed >= 3 && 100*crossed > all {
		add(trace.CrossedLaunches, crossed, fmt.Sprintf("%d of %d", crossed, all))
	}
	return problems
}

// lostLaunches counts what two kinds of witnesses miss: ends of flows at device events, and
// operators that launch work in every call.
func lostLaunches(x *timeline.Rank) (int, string) {
	const (
		bareShare = 0.005 // of the ends of flows, at least: none is bare in real recordings
		allBare   = 0.8   // more belong to no device event by another convention
	)
	ends := timeline.EndsOf(x)
	if bare := float64(ends.Bare); bare >= bareShare*float64(ends.All) && bare < allBare*float64(ends.All) {
		return ends.Bare, fmt.Sprintf("%d of %d arrows from launches end at no device event", ends.Bare, ends.All)
	}
	const leastBroken = 3 // operators
	if n := timeline.LaunchingOf(x); n.Broken >= leastBroken && n.Broken > n.Steady {
		return n.Missing, fmt.Sprintf("%d of %d calls of operators that launch work launch nothing", n.Missing, n.Calls)
	}
	return 0, ""
}

// lostCollectives counts the collectives of devices that steps lack of those that others have, which
// ask for as many on the host.
func lostCollectives(r *Rank) (int, string) {
	type sort struct {
		kind  string // of step
		asked int
	}
	asked, ran := make([]int, len(r.Steps)), make([]int, len(r.Steps))
	for i := range r.HostCollectives {
		if step := r.HostCollectives[i].Step; step >= 0 {
			asked[step]++
		}
	}
	for i := range r.Collectives {
		if step := r.Collectives[i].Step; step >= 0 {
			ran[step]++
		}
	}
	most, lost, all := make(map[sort]int), 0, 0
	for i := range r.Steps {
		at := sort{r.Steps[i].Kind, asked[i]}
		if r.Steps[i].Complete && at.asked > 0 {
			most[at] = max(most[at], ran[i])
		}
	}
	for i := range r.Steps {
		at := sort{r.Steps[i].Kind, asked[i]}
		if r.Steps[i].Complete && at.asked > 0 {
			lost, all = lost+most[at]-ran[i], all+most[at]
		}
	}
	if lost == 0 {
		return 0, ""
	}
	return lost, fmt.Sprintf("steps that ask for as many collectives as others ran %d of %d", all-lost, all)
}

// lostHost is how many operators are missing by their numbers, where these are too many for
// single ones that a profiler leaves out.
func lostHost(n timeline.Numbers) (int, string) {
	const leastMissing, missingShare = 5, 0.002
	if n.Missing < leastMissing || float64(n.Missing) < missingShare*float64(n.There) {
		return 0, ""
	}
	return n.Missing, fmt.Sprintf("%d of %d numbers", n.Missing, n.There+n.Missing)
}
