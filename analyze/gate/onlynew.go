package gate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/units"
)

// Where only what is new is asked for, a check compares as it always does; what it would fail for
// by itself, as budgets and severities are, it passes where the baseline is no better.

// withNew adds the metric of new findings to a configuration that does not have it.
func withNew(c Config) Config {
	if !slices.ContainsFunc(c.Regressions, func(g Regression) bool { return g.Metric.against }) {
		m, _ := FindMetric(newFindings.Name)
		c.Regressions = append(slices.Clone(c.Regressions),
			Regression{Metric: m, Severity: report.Error, MaxIncrease: &Change{}, preset: true})
	}
	return c
}

// ignoreOld ignores budgets that the baseline, whose own rows are given, exceeds as well and by no
// less; and all of them where the baseline is yet to be made. It returns a note on it.
func ignoreOld(rows, before []Row, first bool) []string {
	old := make(map[string]*Row)
	for i := range before {
		if b := &before[i]; b.Verdict == Fail && b.Value != nil {
			old[b.Metric+" "+b.Kind] = b
		}
	}
	var names []string
	for i := range rows {
		row := &rows[i]
		was, reason := old[row.Metric+" "+row.Kind], ""
		switch {
		case row.Check != "budget" || row.Verdict != Fail:
			continue
		case first:
			reason = "not new: there is no baseline yet"
		case was != nil && !exceeds(row, was):
			reason = "not new: the baseline has " + was.Unit.Format(*was.Value)
		default:
			continue
		}
		row.Verdict, row.Reason, row.Next = Ignored, reason, ""
		names = append(names, row.Metric)
	}
	why := "the baseline is no better"
	if first {
		why = "there is no baseline yet"
	}
	return counted("budget", names, "%s ignored, because "+why+": %s")
}

// counted is a note on some things: how many there are, and their names.
func counted(what string, names []string, format string) []string {
	n := len(names)
	if n == 0 {
		return nil
	}
	if more := n - mostCounted; more > 0 {
		names = append(names[:mostCounted:mostCounted], fmt.Sprintf("and %d more", more))
	}
	return []string{fmt.Sprintf(format, units.Count(n, what), strings.Join(names, ", "))}
}

// mostCounted is how many things a note names.
const mostCounted = 100

// oldNotes count and name findings that are not new, and those that are gone.
func oldNotes(list []Found) []string {
	named := func(s State) (names []string) {
		for _, f := range list {
			if f.State == s {
				names = append(names, f.Rule+" "+string(f.Severity))
			}
		}
		return names
	}
	return append(counted("finding", named(Unchanged), "%s not new: %s"),
		counted("finding", named(Absent), "%s of the baseline gone: %s")...)
}

// newIn are the findings of a list that are new.
func newIn(list []Found) map[*report.Finding]bool {
	fresh := make(map[*report.Finding]bool)
	for _, f := range list {
		if f.State == New {
			fresh[f.Finding] = true
		}
	}
	return fresh
}

// sameTime is by how much of it a time may exceed that of the baseline and count as the same,
// as for step.time of the presets.
const sameTime = 0.03

// exceeds reports whether a row is further beyond its budget than the baseline's.
func exceeds(row, old *Row) bool {
	m, ok := FindMetric(row.Metric)
	if !ok || row.Value == nil {
		return true
	}
	allowed := 0.0
	if m.timed {
		allowed = sameTime * max(*old.Value, -*old.Value)
	}
	more := *row.Value - *old.Value
	if strings.HasPrefix(row.Limit, "min ") && !strings.Contains(row.Limit, "max ") {
		more = -more
	}
	return more > allowed
}
