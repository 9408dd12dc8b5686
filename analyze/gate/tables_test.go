package gate

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/report"
)

// TestFingerprint: each thing that must agree, on either side unknown or another one.
func TestFingerprint(t *testing.T) {
	changes := map[string]func(r *report.Report, value string){
		"device":             func(r *report.Report, v string) { r.Source.Device = v },
		"framework":          func(r *report.Report, v string) { r.Source.Format = v },
		"model":              func(r *report.Report, v string) { r.Source.Fingerprint.Model = v },
		"steps by":           func(r *report.Report, v string) { r.Source.StepSource = v },
		"world size":         func(r *report.Report, v string) { r.Source.WorldSize = world(v) },
		"accumulation steps": func(r *report.Report, v string) { r.Source.Fingerprint.Accumulation = accumulations(v) },
	}
	for what, change := range changes {
		of := func(value string) []*report.Report {
			return []*report.Report{with(made(1), func(r *report.Report) { change(r, value) })}
		}
		for _, sides := range [][2]string{{"1", "2"}, {"1", ""}, {"", "1"}} {
			says := slices.Clone(sides[:])
			for i, s := range says {
				if s == "" {
					says[i] = "unknown"
				} else if what == "accumulation steps" {
					says[i] = "[" + s + "]"
				}
			}
			want := fmt.Sprintf("%s: %s in the baseline, %s here", what, says[0], says[1])
			if got := mismatch(of(sides[0]), of(sides[1])); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		}
		if got := mismatch(of("1"), of("1")); got != "" {
			t.Errorf("%s agrees: %q", what, got)
		}
	}
}

func world(v string) *int64 {
	if v == "" {
		return nil
	}
	n := int64(v[0] - '0')
	return &n
}

func accumulations(v string) []int {
	if v == "" {
		return nil
	}
	return []int{int(v[0] - '0')}
}

// TestWeightRules: which findings show that tokens do not count alike, from a warning on, and which only
// that nobody knows. An ignored one shows nothing.
func TestWeightRules(t *testing.T) {
	of := func(rule string, severity report.Severity, ignores ...Ignore) string {
		c, err := Parse("f", []byte("version: 1\nbudgets: {norm.max_weight_error: [error, {max: 1e-3, unknown: ok}]}"),
			nil)
		if err != nil {
			t.Fatal(err)
		}
		c.Ignores = ignores
		r := Check(c, []*report.Report{with(parametric(tens(10, 1)...), found(rule, severity, 1))}, nil, some(0, 0))
		return fmt.Sprintf("%s %s", r.Verdict, r.Rows[0].Verdict)
	}
	for rules, want := range map[string]string{
		"NM001 NM002 NM003 NM004 GS007 GS008 OP002": "failed fail", "CL004": "inconclusive undecidable",
		"AC001 GS001 OV001 TH001": "passed pass",
	} {
		for _, rule := range strings.Fields(rules) {
			if got := of(rule, report.Warn); got != want {
				t.Errorf("%s: %s, want %s", rule, got, want)
			}
			if got := of(rule, report.Error); got != want {
				t.Errorf("%s as an error: %s, want %s", rule, got, want)
			}
			if got := of(rule, report.Note); got != "passed pass" {
				t.Errorf("a note of %s: %s", rule, got)
			}
			if got := of(rule, report.Warn, Ignore{Rule: rule, Reason: "x"}); got != "passed pass" {
				t.Errorf("%s, ignored: %s", rule, got)
			}
		}
	}
}

// TestRanksThatDoNotMatter: a rank that is missing hinders nothing where no row depends on others and nobody
// has asked for all.
func TestRanksThatDoNotMatter(t *testing.T) {
	for config, want := range map[string]string{
		"budgets: {accumulation_steps: [error, {max: 1}]}":                               "passed",
		"job: {ranks: all}\nbudgets: {accumulation_steps: [error, {max: 1}]}":            "inconclusive",
		"job: {ranks: 8}\nbudgets: {accumulation_steps: [error, {max: 1}]}":              "inconclusive",
		"job: {ranks: 1}\nbudgets: {accumulation_steps: [error, {max: 1}]}":              "passed",
		"job: {ranks: all}\nbudgets: {accumulation_steps: [error, {max: 0}]}":            "failed",
		"budgets: {accumulation_steps: [error, {max: 1}], step.time: [warn, {max: 1s}]}": "passed",
	} {
		c, err := Parse("f", []byte("version: 1\n"+config), nil)
		if err != nil {
			t.Fatal(err)
		}
		r := Check(c, []*report.Report{made(tens(10, 1)...)}, nil, Options{})
		if string(r.Verdict) != want {
			t.Errorf("%s: %s: %s", config, r.Verdict, r.Summary)
		}
	}
}
