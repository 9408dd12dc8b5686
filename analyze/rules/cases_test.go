package rules_test

import (
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

// TestCases runs the hand-made traces of testdata/cases, which show what no recorded
// file does. Each says in comments what must be said of it: the lines of examples,
// and "# passes", "# optimizers" and "# sync".
func TestCases(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join("testdata", "cases", "*.txt"))
	if len(files) < 20 {
		t.Fatalf("%d cases", len(files))
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			checkCase(t, string(data), strings.Contains(file, "uniform"))
		})
	}
}

func checkCase(t *testing.T, source string, uniform bool) {
	t.Helper()
	tr, err := text.Read(strings.NewReader(source), "case")
	if err != nil {
		t.Fatal(err)
	}
	inputs := []analyze.Input{{File: "case", Trace: tr}}
	r := analyze.Run(inputs, analyze.Options{Rules: rules.All(), UniformTokens: uniform})
	checkReport(t, r)
	checkFindings(t, r, source)
	checkSaid(t, r, source)
	compare(t, "passes", passLines(r), wanted(source, "passes", ", "))
	compare(t, "optimizers", optimizerLines(r), wanted(source, "optimizers", ", "))
	sync := r.GradientSync[0]
	ranks := "unknown"
	if sync.Ranks != nil {
		ranks = fmt.Sprint(*sync.Ranks)
	}
	micro := "micro-batches " + orUnknown(r.Steps[len(r.Steps)-1].MicroBatches)
	compare(t, "sync", []string{sync.Pattern + " by " + ranks, micro}, wanted(source, "sync", ", "))
}

// checkSaid wants every line "# says OV008: TEXT" of a trace to be said by the finding of
// that rule, in its message, its reason or its fix.
func checkSaid(t *testing.T, r *report.Report, source string) {
	t.Helper()
	for _, line := range strings.Split(source, "\n") {
		rest, ok := strings.CutPrefix(line, "# says ")
		if !ok {
			continue
		}
		rule, text, _ := strings.Cut(rest, ": ")
		said := slices.ContainsFunc(r.Findings, func(f report.Finding) bool {
			return f.Rule == rule && strings.Contains(f.Message+"\n"+f.Why+"\n"+f.Fix, text)
		})
		if !said {
			t.Errorf("not said: %s; findings %+v", rest, r.Findings)
		}
	}
}

// passLines is "2 scale after_backward 25 needless": how many passes of a kind, where,
// over how many gradients, and the verdict.
func passLines(r *report.Report) []string {
	var lines []string
	for k, n := range passesOf(r, "scale", "clip", "unscale", "divide", "cast", "copy", "zero") {
		lines = append(lines, fmt.Sprintf("%d %s %s %d %s", n, k.kind, k.where, k.parameters, k.verdict))
	}
	return lines
}

// optimizerLines is each optimizer with its accumulation steps.
func optimizerLines(r *report.Report) []string {
	var lines []string
	for _, s := range r.Steps {
		for _, o := range s.Optimizers {
			if line := o.Name + " " + orUnknown(o.Accumulation); !slices.Contains(lines, line) {
				lines = append(lines, line)
			}
		}
	}
	return lines
}
