package gate

import (
	"cmp"
	"slices"

	"github.com/gaprof/gaprof/analyze/compare"
	"github.com/gaprof/gaprof/analyze/report"
)

// State is what became of a finding since the baseline.
type State string

// The states. A finding of which the other side could not be judged is Unknown.
const (
	New       State = "new"       // the baseline lacks it, or has it less severe and much cheaper
	Unchanged State = "unchanged" // both sides have it
	Absent    State = "absent"    // only the baseline has it
	Unknown   State = "unknown"
)

// Found is a finding of one of two sides.
type Found struct {
	Rule     string          `json:"rule"`     // its ID
	Severity report.Severity `json:"severity"` // note, warn or error
	Message  string          `json:"message"`  // what was found, in a line
	Cost     *int64          `json:"cost_ns"`  // per step; null where it has none in time
	State    State           `json:"state"`    // unknown also without a baseline
	Reason   string          `json:"reason"`   // why it is unknown; else empty

	// Fingerprint is the same for the same finding of another run: it is made of the rule and of
	// how many of the rule's findings cost more, and of no figure.
	Fingerprint string `json:"fingerprint"`

	// Ignored is the reason that the configuration has for ignoring its rule; empty: it does not.
	Ignored string `json:"ignored"`

	Finding *report.Finding `json:"-"` // never nil
	Report  *report.Report  `json:"-"` // that has it
}

// FoundIn lists the findings of some reports, which are runs of one program, the worst rule first.
// Of several reports that counts which has most of a rule.
func FoundIn(reports []*report.Report) []Found {
	list, holder := []Found{}, make(map[*report.Finding]*report.Report)
	for _, r := range reports {
		for i := range r.Findings {
			holder[&r.Findings[i]] = r
		}
	}
	for _, of := range inOrder(findingsByRule(reports)) {
		for i, f := range of {
			list = append(list, Found{Rule: f.Rule, Severity: f.Severity, Message: f.Message, Cost: f.Cost,
				State: Unknown, Fingerprint: f.Fingerprint(i), Finding: f, Report: holder[f]})
		}
	}
	return list
}

// foundBetween lists the findings of a side and what became of each since the baseline, then those
// that only the baseline has. judged is whether rules can have found anything in the side.
func foundBetween(base, now []*report.Report, judged bool) []Found {
	list := FoundIn(now)
	before, seen, claimed := baselineOf(base), make(map[string]int), make(map[string]bool)
	for i := range list {
		list[i].compare(before.finding(list[i].Rule, seen[list[i].Rule]), before)
		seen[list[i].Rule]++
		for _, rule := range list[i].Finding.Also {
			claimed[rule] = true // the time that it would have claimed
		}
	}
	skipped := compare.Skipped(now)
	for _, old := range FoundIn(base) {
		if seen[old.Rule]--; seen[old.Rule] < 0 && !claimed[old.Rule] {
			old.State, old.Reason = Absent, skipped[old.Rule]
			if old.Reason != "" || !judged {
				old.State = Unknown
			}
			list = append(list, old)
		}
	}
	return list
}

// compare says what became of a finding; was is the baseline's, nil where it has none.
func (f *Found) compare(was *report.Finding, base *baseline) {
	switch {
	case was != nil && !grown(was, f.Finding):
		f.State = Unchanged
		return
	case was == nil:
		f.Reason = base.skipped[f.Rule]
	}
	if f.State = New; f.Reason != "" {
		f.State = Unknown
	}
}

// baseline is what findings compare with.
type baseline struct {
	by      map[string][]*report.Finding // as findingsByRule
	also    map[string]*report.Finding   // that took the time which a rule would have claimed: the worst
	skipped map[string]string            // as compare.Skipped
}

func baselineOf(reports []*report.Report) *baseline {
	b := &baseline{findingsByRule(reports), make(map[string]*report.Finding), compare.Skipped(reports)}
	for _, list := range inOrder(b.by) {
		for _, f := range list {
			for _, rule := range f.Also {
				if b.also[rule] == nil {
					b.also[rule] = f
				}
			}
		}
	}
	return b
}

// finding is the baseline's finding that the i-th of a rule compares with: the i-th of the
// rule, else one of another rule that took the time which this one would have claimed; nil
// where there is neither.
func (b *baseline) finding(rule string, i int) *report.Finding {
	if old := b.by[rule]; i < len(old) {
		return old[i]
	}
	return b.also[rule]
}

// steeper is how many times as much as the baseline's of its rule a finding must cost before
// a higher severity makes it a new one: a cost near a threshold passes it now and then, and
// whether times grew is for statistics to say.
const steeper = 3

// grown reports whether a finding is more severe than it was, and costs clearly more, or no time.
func grown(was, f *report.Finding) bool {
	if was.Severity.AtLeast(f.Severity) {
		return false
	}
	return was.Cost == nil || f.Cost == nil || float64(*f.Cost) >= steeper*float64(*was.Cost)
}

// findingsByRule are the findings of a side by rule, the most severe and costly first. Of
// several reports, which are runs of one program, that counts which has most of a rule.
func findingsByRule(reports []*report.Report) map[string][]*report.Finding {
	most := make(map[string][]*report.Finding)
	for _, r := range reports {
		own := make(map[string][]*report.Finding)
		for i := range r.Findings {
			f := &r.Findings[i]
			own[f.Rule] = append(own[f.Rule], f)
		}
		for rule, list := range own {
			slices.SortStableFunc(list, worseFirst)
			if old := most[rule]; len(list) > len(old) || len(list) == len(old) && worseFirst(list[0], old[0]) < 0 {
				most[rule] = list
			}
		}
	}
	return most
}

// worseFirst orders by severity, then by cost.
func worseFirst(f, g *report.Finding) int {
	if f.Severity != g.Severity {
		if f.Severity.AtLeast(g.Severity) {
			return -1
		}
		return 1
	}
	cost := func(f *report.Finding) int64 {
		if f.Cost == nil {
			return -1
		}
		return *f.Cost
	}
	return cmp.Compare(cost(g), cost(f))
}

// inOrder lists findings by rule, the worst rule first.
func inOrder(by map[string][]*report.Finding) [][]*report.Finding {
	var lists [][]*report.Finding
	for _, list := range by {
		lists = append(lists, list)
	}
	slices.SortFunc(lists, func(a, b []*report.Finding) int {
		return cmp.Or(worseFirst(a[0], b[0]), cmp.Compare(a[0].Rule, b[0].Rule))
	})
	return lists
}
