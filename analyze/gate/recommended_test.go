package gate

import (
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/report"
)

// found adds a finding.
func found(rule string, severity report.Severity, cost int64) func(*report.Report) {
	return func(r *report.Report) {
		f := report.Finding{Rule: rule, Severity: severity, Message: rule + " costs", Fix: "mend " + rule}
		if cost > 0 {
			f.Cost = &cost
		}
		r.Findings = append(r.Findings, f)
	}
}

// idling says that a mean step is idle for so many us, of which a rule claims all.
func idling(rule string, us int64) func(*report.Report) {
	return func(r *report.Report) {
		part := report.Part{What: "idle", Mean: us * 1000, Claims: []report.PartClaim{{Rule: rule, Mean: us * 1000}}}
		r.Time = &report.Time{Of: "step", Count: len(r.Steps), Parts: []report.Part{part}}
	}
}

// parametric makes a report one whose parameters and tokens are known, as a recording with
// shapes and token counts is.
func parametric(durations ...int64) *report.Report {
	return with(made(durations...), func(r *report.Report) {
		r.Normalization = report.Normalization{
			Mode:  "global",
			Basis: "gradients",
			Ratio: &report.WeightRatio{Min: 1, Max: 1},
		}
	})
}

// What gaprof:recommended says without a configuration: only rows that did not pass.
func TestRecommended(t *testing.T) {
	ms := func(n int, ms float64) []int64 { return tens(n, ms) }
	ten := ms(10, 60)
	launched := func(site string, n int) func(*report.Report) {
		return func(r *report.Report) {
			for i := range r.Groups {
				r.Groups[i].Site, r.Groups[i].Count = site, n
			}
		}
	}
	hooks := func() *report.Report { return with(parametric(ten...), launched("backward_hook", 2)) }
	empty := func(r *report.Report) {
		*r = report.Report{Source: r.Source, Steps: r.Steps}
		r.Source.Fingerprint.Model = "unknown"
		for i := range r.Steps {
			s := &r.Steps[i]
			s.Duration, s.Ledger, s.MicroBatches, s.Optimizers[0].Accumulation = nil, nil, nil, nil
		}
	}
	for _, test := range []struct {
		name      string
		new, base *report.Report
		verdict   string
		want      []string // verdict, metric and reason of rows that did not pass
	}{
		{"no baseline", parametric(ten...), nil, "passed: 4 of 6 checks passed, 1 with a warning, 1 undecidable",
			nil},
		{"the same", hooks(), hooks(), "passed: 15 of 17 checks passed, 2 undecidable", nil},
		{
			"slower by a third", with(parametric(ms(10, 80)...), launched("backward_hook", 2)), hooks(),
			"failed: 1 of 17 checks failed, 2 undecidable", []string{"fail step.time "},
		},
		{
			"slower by a third in four steps", with(parametric(ms(4, 80)...), launched("backward_hook", 2)), hooks(),
			"inconclusive: 1 of 17 checks cannot be decided: step.time",
			[]string{"undecidable step.time low confidence: 10 against 4 steps of at least 5"},
		},
		{
			"as fast in four steps", with(parametric(ms(4, 60)...), launched("backward_hook", 2)), hooks(),
			"passed: 14 of 17 checks passed, 3 undecidable", nil,
		},
		{
			"launched in the optimizer, which the rule explains",
			with(with(parametric(ten...), launched("optimizer_step", 2)), found("OV004", "note", 5)), hooks(),
			"failed: 1 of 17 checks failed, 1 with a warning, 2 undecidable",
			[]string{"fail rs.launched_in_optimizer.per_step  [OV004 note: OV004 costs]"},
		},
		{"launched from hooks now", hooks(), parametric(ten...), "passed: 15 of 17 checks passed, 2 undecidable", nil},
		{
			"more collectives", with(hooks(), launched("backward_hook", 3)), hooks(),
			"failed: 1 of 17 checks failed, 2 undecidable", []string{"fail collectives.per_step "},
		},
		{"fewer collectives", hooks(), with(hooks(), launched("backward_hook", 3)),
			"passed: 15 of 17 checks passed, 2 undecidable", nil},
		{
			"gradients that nobody reduces any more",
			with(hooks(), func(r *report.Report) {
				r.GradientSync = []report.GradientSync{{Pattern: "none", PerMicroBatch: []int{0}}}
			}), hooks(),
			"failed: 1 of 17 checks failed, 2 undecidable", []string{"fail reductions.missing "},
		},
		{
			"a new finding", with(hooks(), found("OV001", "warn", 5)), hooks(),
			"failed: 1 of 17 checks failed, 2 undecidable",
			[]string{"fail OV001 warn: OV001 costs; new since the baseline [OV001 warn: OV001 costs]"},
		},
		{
			"a finding of time that another rule had claimed, and more",
			with(hooks(), found("OV001", "warn", 5)), with(hooks(), func(r *report.Report) {
				found("OV004", "error", 9)(r)
				r.Findings[0].Also = []string{"OV001"}
			}), "passed: 15 of 17 checks passed, 2 undecidable", nil,
		},
		{
			"a new finding about less idle time than there was",
			with(with(hooks(), found("ID005", "warn", 5)), idling("ID005", 50)), with(hooks(), idling("ID001", 60)),
			"passed: 14 of 17 checks passed, 1 with a warning, 2 undecidable",
			[]string{"fail ID005 warn: ID005 costs; new, but not on top of the baseline: idle takes 0.05 ms per " +
				"step, there 0.06 ms [ID005 warn: ID005 costs]"},
		},
		{
			"a new finding about more idle time than there was",
			with(with(hooks(), found("ID005", "warn", 5)), idling("ID005", 70)), with(hooks(), idling("ID001", 60)),
			"failed: 1 of 17 checks failed, 2 undecidable",
			[]string{"fail ID005 warn: ID005 costs; new since the baseline [ID005 warn: ID005 costs]"},
		},
		{
			"a new finding about something else", with(with(hooks(), found("GS001", "warn", 5)), idling("GS001", 50)),
			with(hooks(), idling("ID001", 60)), "failed: 1 of 17 checks failed, 2 undecidable",
			[]string{"fail GS001 warn: GS001 costs; new since the baseline [GS001 warn: GS001 costs]"},
		},
		{"a new note", with(hooks(), found("OV001", "note", 5)), hooks(),
			"passed: 15 of 17 checks passed, 2 undecidable", nil},
		{"a finding that was there",
			with(hooks(), found("OV001", "warn", 9)), with(hooks(), found("OV001", "warn", 5)),
			"passed: 15 of 17 checks passed, 2 undecidable", nil},
		{
			"one more of a rule that was there",
			with(with(hooks(), found("OV001", "warn", 9)), found("OV001", "warn", 7)),
			with(hooks(), found("OV001", "warn", 5)), "failed: 1 of 17 checks failed, 2 undecidable",
			[]string{"fail OV001 warn: OV001 costs; new since the baseline [OV001 warn: OV001 costs]"},
		},
		{
			"a finding that grew", with(hooks(), found("OV001", "error", 9)), with(hooks(), found("OV001", "warn", 3)),
			"failed: 1 of 17 checks failed, 2 undecidable",
			[]string{"fail OV001 error: OV001 costs; in the baseline OV001 warn: OV001 costs " +
				"[OV001 error: OV001 costs]"},
		},
		{"a finding at its threshold",
			with(hooks(), found("OV001", "error", 8)), with(hooks(), found("OV001", "warn", 3)),
			"passed: 15 of 17 checks passed, 2 undecidable", nil},
		{
			"a finding without a cost that grew", with(hooks(), found("ST002", "error", 0)),
			with(hooks(), found("ST002", "warn", 0)), "failed: 1 of 17 checks failed, 2 undecidable",
			[]string{"fail ST002 error: ST002 costs; in the baseline ST002 warn: ST002 costs " +
				"[ST002 error: ST002 costs]"},
		},
		{
			"a finding that the baseline could not judge", with(hooks(), found("ST001", "warn", 5)),
			with(hooks(), func(r *report.Report) { r.Skipped = []report.Skip{{Rule: "ST001", Reason: "one rank"}} }),
			"inconclusive: 1 of 17 checks cannot be decided: ST001",
			[]string{"undecidable ST001 warn: ST001 costs; the baseline could not judge it: one rank " +
				"[ST001 warn: ST001 costs]"},
		},
		{
			"a finding about the recording", with(hooks(), found("TH006", "warn", 0)), hooks(),
			"passed: 14 of 17 checks passed, 1 with a warning, 2 undecidable",
			[]string{"fail TH006 warn: TH006 costs; new since the baseline [TH006 warn: TH006 costs]"},
		},
		{"a damaged trace", with(hooks(), problem("truncated", "warn")), hooks(),
			"inconclusive: 13 of 17 checks cannot be decided on unhealthy data: ", []string{"~"}},
		{"no complete step", with(parametric(ten...), func(r *report.Report) {
			for i := range r.Steps {
				r.Steps[i].Complete = false
			}
		}), nil, "inconclusive: there is no complete step", []string{"~"}},
		{"one step", parametric(ten[0]), nil,
			"inconclusive: 1 of 6 checks cannot be decided: collectives.mismatched", []string{"~"}},
		{"another program", with(parametric(), func(r *report.Report) { r.Steps = nil }), nil,
			"inconclusive: there is no complete step", []string{"~"}},
		{"a baseline without a complete step", hooks(), parametric(),
			"inconclusive: the baseline has no complete step", []string{"~"}},
		{"six empty steps", with(made(ms(6, 60)...), empty), nil,
			"inconclusive: none of 3 checks that can fail could be decided", []string{"~"}},
		{"six empty steps, and a baseline of such", with(made(ms(6, 60)...), empty), with(made(ms(6, 60)...), empty),
			"inconclusive: 1 of 17 checks cannot be decided: findings.new", []string{"~"}},
	} {
		c, _ := Preset("recommended")
		var base []*report.Report
		if test.base != nil {
			base = append(base, test.base)
		}
		r := Check(c, []*report.Report{test.new}, base, Options{AnyRanks: true})
		if got := string(r.Verdict) + ": " + r.Summary; !strings.HasPrefix(got, test.verdict) {
			t.Errorf("%s: got %s, want %s", test.name, got, test.verdict)
		}
		if got := strings.Join(unpassed(r), "\n"); len(test.want) != 1 && got != "" ||
			len(test.want) == 1 && test.want[0] != "~" && got != test.want[0] {
			t.Errorf("%s: got\n%s\nwant\n%s", test.name, got, test.want)
		}
	}
}

// unpassed are the rows of severity error that failed or hinder, and the findings.
func unpassed(r *Result) []string {
	var list []string
	for _, row := range r.Rows {
		if row.Verdict == Pass || row.Tolerated || row.Severity != report.Error && row.Check != "finding" {
			continue
		}
		line := string(row.Verdict) + " " + row.Metric + " " + row.Reason
		if row.Finding != "" {
			line += " [" + row.Finding + "]"
		}
		list = append(list, line)
	}
	return list
}
