package gate

import (
	"slices"

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
	list := []Found{}
	for _, of := range inOrder(findingsByRule(reports)) {
		for i, f := range of {
			list = append(list, Found{Rule: f.Rule, Severity: f.Severity, Message: f.Message, Cost: f.Cost,
				State: Unknown, Fingerprint: f.Fingerprint(i), Finding: f, Report: holderOf(f, reports)})
		}
	}
	return list
}

// holderOf is the report that a finding is one of.
func holderOf(f *report.Finding, reports []*report.Report) *report.Report {
	for _, r := range reports {
		for i := range r.Findings {
			if f == &r.Findings[i] {
				return r
			}
		}
	}
	return nil
}

// states compares the findings of both sides.
func (k *check) states() []Found {
	list := FoundIn(k.new)
	for i := range list {
		if at := k.ignoring(list[i].Rule); at >= 0 {
			list[i].Ignored = k.config.Ignores[at].Reason
		}
	}
	if len(k.base) == 0 || k.unlike != "" {
		return list
	}
	before, seen := findingsByRule(k.base), make(map[string]int)
	for i := range list {
		f := &list[i]
		k.state(f, inBaseline(before, f.Rule, seen[f.Rule]))
		seen[f.Rule]++
	}
	for _, old := range FoundIn(k.base) {
		if seen[old.Rule]--; seen[old.Rule] < 0 && !claimed(list, old.Rule) {
			old.State = Absent
			if old.Reason = skippedIn(k.new, old.Rule); old.Reason != "" || !worked(k.new) {
				old.State = Unknown
			}
			list = append(list, old)
		}
	}
	return list
}

// state says what became of a finding; was is the baseline's, nil where it has none.
func (k *check) state(f *Found, was *report.Finding) {
	switch {
	case was != nil && !grown(was, f.Finding):
		f.State = Unchanged
		return
	case was == nil:
		f.Reason = skippedIn(k.base, f.Rule)
	}
	if f.State = New; f.Reason != "" {
		f.State = Unknown
	}
}

// claimed reports whether a finding took the time that another rule would have claimed.
func claimed(list []Found, rule string) bool {
	return slices.ContainsFunc(list, func(f Found) bool { return slices.Contains(f.Finding.Also, rule) })
}
