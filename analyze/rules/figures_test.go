package rules_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/report"
)

// figuresGolden is what each finding in examples and cases says and costs.
var figuresGolden = filepath.Join("testdata", "figures.golden")

// TestFigures holds the message, the reason, the cost, the bounds of the saving, the changed line and
// the evidence of each finding that examples and cases give: what a person reads and acts on, where
// TestExamples and TestCases hold only that it is there.
func TestFigures(t *testing.T) {
	got := allFigures(t)
	if *update {
		if err := os.WriteFile(figuresGolden, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(figuresGolden)
	if err != nil {
		t.Fatal(err)
	}
	is, was := strings.Split(got, "\n"), strings.Split(string(want), "\n")
	for i := range min(len(is), len(was)) {
		if is[i] != was[i] {
			t.Fatalf("%s:%d differs (-update writes it):\n got %s\nwant %s", figuresGolden, i+1, is[i], was[i])
		}
	}
	if len(is) != len(was) {
		t.Errorf("%s has %d lines instead of %d (-update writes it)", figuresGolden, len(was), len(is))
	}
}

// allFigures writes the findings of all examples and cases.
func allFigures(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	for _, pattern := range []string{
		filepath.Join("examples", "*", "*.txt"),
		filepath.Join("testdata", "cases", "*.txt"),
	} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, file := range files {
			r := runFile(t, file)
			if len(r.Findings) == 0 {
				continue
			}
			fmt.Fprintln(&b, strings.TrimPrefix(strings.TrimSuffix(filepath.ToSlash(file), ".txt"), "testdata/"))
			for i := range r.Findings {
				b.WriteString(written(&r.Findings[i]))
			}
		}
	}
	return b.String()
}

// written is a finding in text: its first line, then what else there is, each in a line.
func written(f *report.Finding) string {
	var b strings.Builder
	fmt.Fprintf(&b, "  %s %s: %s\n", f.Rule, f.Severity, f.Message)
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(&b, "    %s: %s\n", name, text)
		}
	}
	line("why", f.Why)
	if f.Cost != nil {
		cost := fmt.Sprintf("%d ns", *f.Cost)
		if s := f.Saving; s != nil {
			cost += fmt.Sprintf(", saves %d to %d", s.Low, s.High)
		}
		line("cost", cost)
	}
	if f.Change != nil {
		line("change", f.Change.Before+" => "+f.Change.After)
	}
	line("caveats", strings.Join(f.Caveats, "; "))
	if n := len(f.Evidence); n > 0 {
		e := f.Evidence[0]
		line("evidence", fmt.Sprintf("%d, first %s of rank %d at %d for %d", n, e.Name, e.Rank, e.Start, e.Duration))
	}
	return b.String()
}
