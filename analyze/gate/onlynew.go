package gate

import (
	"slices"
	"strings"

	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/units"
)

// Where only what is new is asked for, a check compares as it always does; what it would fail for
// by itself, as budgets and severities are, it passes where the baseline is no better.

// stateNotes counts and names what is not new, and what is gone.
func (k *check) stateNotes() {
	if !k.options.OnlyNew || len(k.base) == 0 || k.unlike != "" {
		return
	}
	if names := k.named(Unchanged); len(names) > 0 {
		k.say("%s not new: %s", units.Count(len(names), "finding"), strings.Join(names, ", "))
	}
	if names := k.named(Absent); len(names) > 0 {
		k.say("%s of the baseline gone: %s", units.Count(len(names), "finding"), strings.Join(names, ", "))
	}
}

// named are the findings in a state: rule and severity.
func (k *check) named(s State) []string {
	var names []string
	for _, f := range k.result.Findings {
		if f.State == s {
			names = append(names, f.Rule+" "+string(f.Severity))
		}
	}
	return names
}

// isNew reports whether a finding of this side is new.
func (k *check) isNew(f *report.Finding) bool {
	return slices.ContainsFunc(k.result.Findings, func(s Found) bool { return s.Finding == f && s.State == New })
}

// withoutOld ignores budgets that the baseline exceeds as well and by no less, where only what is
// new is asked for; and all of them where the baseline is yet to be made.
func (k *check) withoutOld(baseline []*report.Report) {
	if !k.options.OnlyNew || k.unlike != "" {
		return
	}
	before, names := k.failedBudgets(baseline), []string(nil)
	for i := range k.result.Rows {
		row := &k.result.Rows[i]
		if row.Check != "budget" || row.Verdict != Fail {
			continue
		}
		old, reason := before[row.Metric+" "+row.Kind], ""
		switch {
		case k.options.FirstRun && len(baseline) == 0:
			reason = "not new: there is no baseline yet"
		case old != nil && !exceeds(row, old):
			reason = "not new: the baseline has " + old.Unit.Format(*old.Value)
		default:
			continue
		}
		row.Verdict, row.Reason, row.Next = Ignored, reason, ""
		names = append(names, row.Metric)
	}
	if len(names) > 0 {
		k.say("%s ignored, because the baseline is no better: %s",
			units.Count(len(names), "budget"), strings.Join(names, ", "))
	}
}

// failedBudgets are the rows of budgets that the baseline fails itself.
func (k *check) failedBudgets(baseline []*report.Report) map[string]*Row {
	failed := make(map[string]*Row)
	if len(baseline) == 0 {
		return failed
	}
	c := Config{Select: k.config.Select, Budgets: k.config.Budgets}
	rows := Check(c, baseline, nil, Options{Now: k.options.Now, AnyRanks: true}).Rows
	for i := range rows {
		if rows[i].Verdict == Fail && rows[i].Value != nil {
			failed[rows[i].Metric+" "+rows[i].Kind] = &rows[i]
		}
	}
	return failed
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

// withNew adds the metric of new findings to a configuration that does not have it.
func (c Config) withNew() Config {
	if !slices.ContainsFunc(c.Regressions, func(g Regression) bool { return g.Metric.against }) {
		m, _ := FindMetric(newFindings.Name)
		c.Regressions = append(slices.Clone(c.Regressions),
			Regression{Metric: m, Severity: report.Error, MaxIncrease: &Change{}, preset: true})
	}
	return c
}
