package rules_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/rules"
	"github.com/gaprof/gaprof/trace/text"
)

var update = flag.Bool("update", false, "write the golden files")

// skippedGolden lists, for every example and case, the rules that are not judged in it.
var skippedGolden = filepath.Join("testdata", "skipped.golden")

// TestExamples runs every rule's examples through all rules and compares the
// findings with what the example says.
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

// checkFindings compares a report with the lines "# want" and "# also" of the trace that
// it is of.
func checkFindings(t *testing.T, r *report.Report, example string) {
	t.Helper()
	var also []string
	for _, f := range r.Findings {
		for _, rule := range f.Also {
			also = append(also, f.Rule+" "+rule)
		}
		if s := f.Saving; f.Cost != nil && s != nil && (s.Low < 0 || s.Low > s.High || s.High > *f.Cost) {
			t.Errorf("%s costs %d and saves %d to %d", f.Rule, *f.Cost, s.Low, s.High)
		}
	}
	compare(t, "findings", findings(r), wanted(example, "want", ", "))
	compare(t, "also", also, wanted(example, "also", ", "))
}

// TestSkipped holds which rules are not judged in each example and case, in one file, so
// that a new rule adds its id there (with -update) and to no example.
func TestSkipped(t *testing.T) {
	var got strings.Builder
	traces, err := filepath.Glob(filepath.Join("examples", "*", "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	cases, _ := filepath.Glob(filepath.Join("testdata", "cases", "*.txt"))
	for _, file := range append(traces, cases...) {
		name := strings.TrimPrefix(strings.TrimSuffix(filepath.ToSlash(file), ".txt"), "testdata/")
		fmt.Fprintf(&got, "%s: %s\n", name, strings.Join(skippedRules(runFile(t, file)), " "))
	}
	if *update {
		if err := os.WriteFile(skippedGolden, []byte(got.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(skippedGolden)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("%s differs (-update writes it), got\n%s", skippedGolden, &got)
	}
}

// runFile reads a trace of trace/text and runs all rules on it.
func runFile(t *testing.T, file string) *report.Report {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	tr, err := text.Read(strings.NewReader(string(data)), file)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	uniform := strings.Contains(file, "uniform")
	return analyze.Run([]analyze.Input{{File: file, Trace: tr}},
		analyze.Options{Rules: rules.All(), UniformTokens: uniform})
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
