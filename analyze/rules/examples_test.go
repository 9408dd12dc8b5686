package rules_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/rules"
	"github.com/gaprof/gaprof/trace/text"
)

// TestExamples runs every rule's examples through all rules and compares the
// findings and the skipped rules with what the example says.
func TestExamples(t *testing.T) {
	for _, rule := range rules.All() {
		for _, which := range []rules.Which{rules.Fires, rules.Silent, rules.Skipped} {
			t.Run(rule.ID+"/"+string(which), func(t *testing.T) {
				example, ok := rules.Example(rule.ID, which)
				if !ok {
					if which == rules.Skipped && len(rule.Needs) == 0 {
						return
					}
					t.Fatalf("rule %s has no example that shows it %s", rule.ID, which)
				}
				checkExample(t, rule.ID, which, example)
			})
		}
	}
}

func checkExample(t *testing.T, id string, which rules.Which, example string) {
	t.Helper()
	tr, err := text.Read(strings.NewReader(example), "example")
	if err != nil {
		t.Fatal(err)
	}
	report := analyze.Run([]analyze.Input{{File: "example", Trace: tr}}, analyze.Options{Rules: rules.All()})
	checkFindings(t, report, example)
	found, skipped := findings(report), skippedRules(report)
	fired := slices.ContainsFunc(found, func(s string) bool { return strings.HasPrefix(s, id) })
	if fired != (which == rules.Fires) || slices.Contains(skipped, id) != (which == rules.Skipped) {
		t.Errorf("example of %s %s: found %v, skipped %v", id, which, found, skipped)
	}
}

// checkFindings compares a report with the lines "# want", "# also" and "# skip" of
// the trace that it is of.
func checkFindings(t *testing.T, r *report.Report, example string) {
	t.Helper()
	var also []string
	for _, f := range r.Findings {
		for _, rule := range f.Also {
			also = append(also, f.Rule+" "+rule)
		}
		if f.Cost != nil && f.Saving != nil && f.Saving.High > *f.Cost {
			t.Errorf("%s saves more than it costs", f.Rule)
		}
	}
	compare(t, "findings", findings(r), wanted(example, "want", ", "))
	compare(t, "also", also, wanted(example, "also", ", "))
	compare(t, "skipped", skippedRules(r), wanted(example, "skip", " "))
}

// findings lists rule and severity of what a report found.
func findings(r *report.Report) []string {
	var list []string
	for _, f := range r.Findings {
		list = append(list, f.Rule+" "+string(f.Severity))
	}
	return list
}

// skippedRules lists the rules that could not be judged.
func skippedRules(r *report.Report) []string {
	var list []string
	for _, s := range r.Skipped {
		list = append(list, s.Rule)
	}
	return list
}

// wanted reads the line "# word a, b" of an example.
func wanted(example, word, sep string) []string {
	for _, line := range strings.Split(example, "\n") {
		if rest, ok := strings.CutPrefix(line, "# "+word); ok {
			if rest = strings.TrimSpace(rest); rest == "" {
				return nil
			}
			return strings.Split(rest, sep)
		}
	}
	return nil
}

func compare(t *testing.T, what string, got, want []string) {
	t.Helper()
	for i := range want {
		want[i] = strings.TrimSpace(want[i])
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}
