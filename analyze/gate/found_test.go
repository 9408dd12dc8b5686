package gate

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/report"
)

// side is a report of one step with some findings, "OV001 warn 5 also OV004" each.
func side(findings ...string) *report.Report {
	micro := 1
	r := &report.Report{Steps: []report.Step{{Complete: true, MicroBatches: &micro, LinkedEvents: 1}}}
	for _, text := range findings {
		words := strings.Fields(text)
		var cost int64
		_, _ = fmt.Sscan(words[2], &cost)
		f := report.Finding{Rule: words[0], Severity: report.Severity(words[1]), Message: text, Cost: &cost}
		if len(words) > 3 {
			f.Also = words[4:]
		}
		r.Findings = append(r.Findings, f)
	}
	return r
}

// statesText is what became of findings, a line each.
func statesText(base, now *report.Report, c Config, o Options) string {
	r := Check(c, []*report.Report{now}, []*report.Report{base}, o)
	var lines []string
	for _, f := range r.Findings {
		line := f.Rule + " " + string(f.State)
		for _, more := range []string{f.Reason, f.Ignored} {
			if more != "" {
				line += ": " + more
			}
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func TestStates(t *testing.T) {
	skips := side()
	skips.Skipped = []report.Skip{{Rule: "GS001", Reason: "no shapes"}}
	for name, c := range map[string]struct {
		base, now *report.Report
		want      string
	}{
		"same":       {side("GS001 warn 5"), side("GS001 warn 7"), "GS001 unchanged"},
		"new":        {side(), side("GS001 note 5"), "GS001 new"},
		"gone":       {side("GS001 warn 5"), side(), "GS001 absent"},
		"one more":   {side("GS001 warn 5"), side("GS001 warn 5", "GS001 warn 2"), "GS001 unchanged\nGS001 new"},
		"one less":   {side("GS001 warn 5", "GS001 warn 2"), side("GS001 warn 5"), "GS001 unchanged\nGS001 absent"},
		"worse":      {side("GS001 note 5"), side("GS001 warn 15"), "GS001 new"},
		"a bit":      {side("GS001 note 5"), side("GS001 warn 14"), "GS001 unchanged"},
		"claimed":    {side("OV004 error 5 also OV001"), side("OV001 warn 5"), "OV001 unchanged\nOV004 absent"},
		"claims":     {side("OV001 warn 5"), side("OV004 error 5 also OV001"), "OV004 new"},
		"unjudged":   {skips, side("GS001 warn 5"), "GS001 unknown: no shapes"},
		"not judged": {side("GS001 warn 5"), skips, "GS001 unknown: no shapes"},
		"nothing":    {side("GS001 warn 5"), &report.Report{}, "GS001 unknown"},
	} {
		if got := statesText(c.base, c.now, Config{}, Options{}); got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, c.want)
		}
	}
	ignores := Config{Ignores: []Ignore{{Rule: "GS001", Reason: "known"}}}
	if got := statesText(side(), side("GS001 warn 5"), ignores, Options{}); got != "GS001 new: known" {
		t.Error(got)
	}
}

// A fingerprint does not move with figures, and findings of a run have different ones.
func TestFingerprints(t *testing.T) {
	one := FoundIn([]*report.Report{side("GS001 warn 5", "GS001 warn 2", "OV001 note 1")})
	two := FoundIn([]*report.Report{side("OV001 note 9", "GS001 error 3", "GS001 warn 8")})
	seen := make(map[string]bool)
	for i := range one {
		if one[i].Fingerprint != two[i].Fingerprint || seen[one[i].Fingerprint] || len(one[i].Fingerprint) != 16 {
			t.Errorf("%d: %+v, %+v", i, one[i], two[i])
		}
		seen[one[i].Fingerprint] = true
	}
}

// Only what is new fails, whatever else fails by itself; what is old or gone is named.
func TestOnlyNew(t *testing.T) {
	most := func(metric string, max float64) Config {
		m, ok := FindMetric(metric)
		if !ok {
			t.Fatal(metric)
		}
		return Config{Budgets: []Budget{{Metric: m, Severity: report.Error, Max: &max}}}
	}
	for name, c := range map[string]struct {
		base, now *report.Report
		failOn    report.Severity
		want      string
	}{
		"old": {side("GS001 warn 5"), side("GS001 warn 5"), report.Warn,
			"passed; 1 budget ignored, because the baseline is no better: findings.warn; " +
				"1 finding not new: GS001 warn"},
		"new": {side("GS001 warn 5"), side("GS001 warn 5", "OV001 warn 3"), report.Warn,
			"failed; 1 finding not new: GS001 warn"},
		"new note": {side(), side("OV001 note 3"), report.Note, "failed"},
		"note":     {side(), side("OV001 note 3"), report.Warn, "passed"},
		"gone":     {side("GS001 warn 5"), side(), report.Warn, "passed; 1 finding of the baseline gone: GS001 warn"},
	} {
		r := Check(most("findings.warn", 0), []*report.Report{c.now}, []*report.Report{c.base},
			Options{OnlyNew: true, FailOn: c.failOn})
		if got := strings.Join(append([]string{string(r.Verdict)}, r.Notes...), "; "); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
	c, old := most("findings.warn", 0), []*report.Report{side("GS001 warn 5")}
	if r := Check(c, old, nil, Options{OnlyNew: true, FirstRun: true, FailOn: report.Note}); r.Verdict != Passed {
		t.Errorf("first run: %s", r.Summary)
	}
	if r := Check(c, old, old, Options{FailOn: report.Warn}); r.Verdict != Failed {
		t.Errorf("without OnlyNew: %s", r.Summary)
	}
}

// A budget counts as new where it is exceeded by more than in the baseline: of times by 3 %.
func TestExceeds(t *testing.T) {
	for _, c := range []struct {
		metric, limit string
		old, now      float64
		want          bool
	}{
		{"findings.warn", "max 0", 2, 2, false}, {"findings.warn", "max 0", 2, 3, true},
		{"findings.warn", "max 0", 2, 1, false}, {"rs.overlap.ratio", "min 0.8", 0.5, 0.5, false},
		{"rs.overlap.ratio", "min 0.8", 0.5, 0.3, true}, {"rs.overlap.ratio", "min 0.8", 0.5, 0.7, false},
		{"step.time", "max 1 ms", 1000, 1030, false}, {"step.time", "max 1 ms", 1000, 1031, true},
	} {
		row, old := &Row{Metric: c.metric, Limit: c.limit, Value: &c.now}, &Row{Value: &c.old}
		if got := exceeds(row, old); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
