package gate

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/gaprof/gaprof/analyze/compare"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/units"
)

// noRanks is which ranks a side lacks: what others do is not known, and whether gradients are
// right and how long a step takes depends on all.
func noRanks(k *check) string {
	if k.stepless != "" || k.options.AnyRanks || k.config.Job.Ranks == AnyRanks {
		return ""
	}
	for _, side := range []struct {
		of      string
		reports []*report.Report
	}{{"", k.new}, {"the baseline: ", k.base}} {
		for _, r := range side.reports {
			if why := lacking(r, k.config.Job.Ranks); why != "" {
				return side.of + why
			}
		}
	}
	return ""
}

// withoutOthers takes back that a row passed where ranks are missing that it depends on. A
// violation by those that there are remains one.
func withoutOthers(k *check, r *Row) {
	m, ok := FindMetric(r.Metric)
	if !ok || k.rankless == "" || m.touched&otherRanks == 0 || r.Verdict != Pass && r.Verdict != Undecidable {
		return
	}
	if r.Verdict == Pass {
		r.Verdict, r.Reason = Undecidable, k.rankless
	}
	r.BadData = true
	r.Next = "pass the traces of all ranks; {some-ranks} lets those that there are stand for all"
}

// lacking is how a report has fewer ranks than have to be there: least, or where that is 0
// all of the world.
func lacking(r *report.Report, least int) string {
	of := "asked for"
	if least <= 0 {
		if r.Source.WorldSize == nil {
			return ""
		}
		least, of = int(*r.Source.WorldSize), "in the run"
	}
	there := len(r.Source.Ranks)
	idle := idleRanks(r)
	switch {
	case there < least:
		return fmt.Sprintf("there are traces of %d of the %s %s", there, units.Count(least, "rank"), of)
	case there-len(idle) < least:
		return fmt.Sprintf("%d of the %s %s can be judged: %s", there-len(idle), units.Count(least, "rank"), of,
			strings.Join(idle, ", "))
	}
	return ""
}

// idleRanks are the ranks that have no complete step, or half as many as others at most, or
// no device activity where others have, in words.
func idleRanks(r *report.Report) []string {
	steps, events, most := make(map[int64]int), make(map[int64]int), 0
	seen := make(map[place]bool)
	for i := range r.Steps {
		s := &r.Steps[i]
		at := place{s.Rank, s.Index}
		if s.Complete && !seen[at] {
			seen[at] = true
			steps[s.Rank]++
			most = max(most, steps[s.Rank])
		}
		if s.Complete {
			events[s.Rank] += s.LinkedEvents
		}
	}
	anyEvents := false
	for _, n := range events {
		anyEvents = anyEvents || n > 0
	}
	var list []string
	for _, rank := range r.Source.Ranks {
		switch {
		case steps[rank] == 0 || 2*steps[rank] < most:
			list = append(list, fmt.Sprintf("rank %d has %d of %s", rank, steps[rank],
				units.Count(most, "complete step")))
		case anyEvents && events[rank] == 0:
			list = append(list, fmt.Sprintf("rank %d has no device activity in complete steps", rank))
		}
	}
	return list
}

// farFewer is the share of the baseline's device events below which those of a kind of step
// are in doubt: records are lost in large pieces, and a program that launches so many fewer
// is another one.
const farFewer = 0.7

// fewer is the share below which device events are in doubt if they are those of the baseline,
// each less often.
const fewer = 0.95

// thinned reports whether a side runs the kernels of the baseline and no others, and nearly all of them
// less often, as where records are lost here and there. A program that was changed runs other kernels, or
// less of some and as much of the rest.
func thinned(base, new []*report.Report) bool {
	const (
		leastNames  = 3    // of kernels, to tell
		leastEvents = 3    // of a name in a step of all ranks together, so that some of them are lost
		less        = 0.98 // of the baseline's events of a name
		nearlyAll   = 0.8  // of the names
	)
	was, is := eventsByName(base), eventsByName(new)
	names, lacking := 0, 0
	for name, n := range was {
		if n < leastEvents {
			continue
		}
		names++
		if is[name] < less*n {
			lacking++
		}
	}
	for name := range is {
		if _, known := was[name]; !known {
			names++
		}
	}
	return names >= leastNames && float64(lacking) >= nearlyAll*float64(names)
}

// eventsByName is how many of the largest kernels a mean step has, over all ranks.
func eventsByName(reports []*report.Report) map[string]float64 {
	of := make(map[string]float64)
	for _, r := range reports {
		for _, k := range r.Kernels {
			of[k.Name] += float64(k.Count)
		}
	}
	n := max(1, countSteps(compare.Match(nil, reports)))
	for name := range of {
		of[name] /= float64(n)
	}
	return of
}

// fewerEvents is how a kind of step has far fewer device events than in the baseline.
func fewerEvents(base, new []*report.Report) string {
	thin := sync.OnceValue(func() bool { return thinned(base, new) })
	for _, s := range compare.Match(base, new) {
		b, n := linkedEvents(s.Base), linkedEvents(s.New)
		if len(b) == 0 || len(n) == 0 {
			continue
		}
		was, is := aggregate("median", b), aggregate("median", n)
		if is < farFewer*was || is < fewer*was && thin() {
			return fmt.Sprintf("a step of %s has %.4g device events, %.4g in the baseline", s.Kind, is, was)
		}
	}
	if communicates(base) && !communicates(new) && slices.ContainsFunc(new, reduces) {
		return "gradients are reduced over ranks, and of no collective is there a kernel, as in the baseline"
	}
	return ""
}

// communicates reports whether devices have run a collective.
func communicates(reports []*report.Report) bool {
	return slices.ContainsFunc(reports, func(r *report.Report) bool {
		return slices.ContainsFunc(r.Collectives, func(c report.Collectives) bool { return c.Count > 0 })
	})
}

// reduces reports whether the host is seen to reduce gradients over ranks.
func reduces(r *report.Report) bool {
	return slices.ContainsFunc(r.GradientSync, func(g report.GradientSync) bool {
		return known(g.Pattern) && g.Pattern != "none"
	})
}

// linkedEvents are the device events of each step, the least of its ranks: one that lost its
// own does not vanish among many.
func linkedEvents(steps [][]*report.Step) []float64 {
	var list []float64
	for _, rows := range steps {
		var events []float64
		for _, s := range rows {
			events = append(events, float64(s.LinkedEvents))
		}
		if len(events) > 0 {
			list = append(list, slices.Min(events))
		}
	}
	return list
}
