package gate

import (
	"slices"

	"github.com/gaprof/gaprof/analyze/compare"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/units"
)

// selected leaves out the steps that the configuration does not select, in copies of the
// reports.
func (k *check) selected(reports []*report.Report) ([]*report.Report, []*view) {
	var list []*report.Report
	var views []*view
	for _, r := range reports {
		one := *r
		one.Steps = nil
		last := lastIndex(r.Steps)
		warm := k.warmup(r)
		for _, s := range r.Steps {
			if s.Index >= warm && k.config.Select.Steps.holds(s.Index, last[s.Rank]) {
				one.Steps = append(one.Steps, s)
			}
		}
		v := newView(&one, func(rule string) bool { return k.ignoring(rule) >= 0 })
		for i := range one.Steps {
			k.views[&one.Steps[i]] = v
		}
		list, views = append(list, &one), append(views, v)
	}
	return list, views
}

// lastIndex is the index of the last step of each rank.
func lastIndex(steps []report.Step) map[int64]int {
	last := make(map[int64]int)
	for i := range steps {
		last[steps[i].Rank] = max(last[steps[i].Rank], steps[i].Index)
	}
	return last
}

// holds reports whether a step of those up to last is in the range.
func (s Range) holds(index, last int) bool {
	switch {
	case s.Last > 0:
		return index > last-s.Last
	case s.To > 0:
		return index >= s.From && index < s.To
	}
	return true
}

// asked reports whether the user chose steps: a value of the whole recording must not
// count as one of steps that do not exist.
func (s *Select) asked() bool { return s.Steps != Range{} || s.Warmup > 0 }

// Window is the range as an analysis takes it, of n steps; nil for all.
func (s Range) Window() func(n int) (from, to int) {
	switch {
	case s.Last > 0:
		return func(n int) (int, int) { return max(0, n-s.Last), n }
	case s.To > 0:
		return func(n int) (int, int) { return min(s.From, n), min(s.To, n) }
	}
	return nil
}

// warmup is the index of the first step after the warm-up of a report. By default that is
// the leading steps with evidence of rule TH006, which finds compilation.
func (k *check) warmup(r *report.Report) int {
	first := firstIndex(r.Steps)
	if k.config.Select.Warmup != AutoWarmup {
		return first + k.config.Select.Warmup
	}
	hit, at := compiling(r), first
	for hit[at] { // compilation in the middle of training is no warm-up
		at++
	}
	if at > first {
		k.say("%s left out at the beginning: code is compiled or loaded there (TH006)", units.Count(at-first, "step"))
	}
	return at
}

// firstIndex is the least index of a step.
func firstIndex(steps []report.Step) int {
	first := 0
	for i := range steps {
		if i == 0 || steps[i].Index < first {
			first = steps[i].Index
		}
	}
	return first
}

// compiling are the steps that evidence of TH006 falls into, by index.
func compiling(r *report.Report) map[int]bool {
	starts := make(map[int64][]int64) // of evidence, by rank
	for i := range r.Findings {
		if r.Findings[i].Rule == "TH006" {
			for _, e := range r.Findings[i].Evidence {
				starts[e.Rank] = append(starts[e.Rank], e.Start)
			}
		}
	}
	for _, list := range starts {
		slices.Sort(list)
	}
	hit := make(map[int]bool)
	for i := range r.Steps {
		s := &r.Steps[i]
		list := starts[s.Rank]
		at, _ := slices.BinarySearch(list, s.HostStart)
		if at < len(list) && list[at]-s.HostStart < s.HostDuration {
			hit[s.Index] = true
		}
	}
	return hit
}

// recordSteps is how many steps to record so that times decide; nil where they do.
func (k *check) recordSteps() *int {
	few := slices.ContainsFunc(k.result.Rows, func(r Row) bool {
		m, ok := FindMetric(r.Metric)
		return ok && m.timed && r.Verdict == Undecidable && r.Value != nil && r.Reason != k.rankless
	})
	if !few {
		return nil
	}
	n := leastRecorded
	if len(k.base) > 0 {
		if d := compare.Times(k.base, k.new); d.RecordSteps != nil {
			n = max(n, *d.RecordSteps)
		}
	} else if d := compare.Times(k.new, k.new); d.RecordSteps != nil {
		n = max(n, *d.RecordSteps)
	}
	return &n
}

// StepsToRecord is how many steps to record so that times of these reports decide; nil where
// there are enough.
func StepsToRecord(reports []*report.Report) *int {
	return compare.Times(reports, reports).RecordSteps
}

// leastRecorded is the least number of steps to ask for, schedule(active=10).
const leastRecorded = 10
