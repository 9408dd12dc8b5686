package render

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/gaprof/gaprof/analyze/compare"
	"github.com/gaprof/gaprof/analyze/gate"
	"github.com/gaprof/gaprof/analyze/report"
)

// GoBench writes each complete step as a run of a Go benchmark, so that benchstat and
// actions for benchmarks compare runs: BenchmarkStep for device time and
// BenchmarkHostStep where a trace has none. It is an error if no step is complete.
func GoBench(w io.Writer, r *report.Report, _ Options) error {
	return benchmarks(w, []*report.Report{r})
}

// CheckGoBench writes the same for the reports that a gate judged.
func CheckGoBench(w io.Writer, c Checked, _ Options) error { return benchmarks(w, c.Reports) }

func benchmarks(w io.Writer, reports []*report.Report) error {
	values := gate.StepValues(reports)
	if len(values) == 0 {
		return errors.New("no complete optimizer step to write: record at least two steps")
	}
	var b strings.Builder
	device := reports[0].Source.Device
	if device != "" && device != "unknown" {
		word := benchmarkWord(strings.Join(strings.Fields(device), "+"))
		fmt.Fprintf(&b, "device: %s\n", strings.ReplaceAll(word, "+", " "))
	}
	for _, m := range gate.Metrics() {
		if unit, better := m.Bench(); unit != "" {
			fmt.Fprintf(&b, "Unit %s better=%s\n", unit, better)
		}
	}
	for _, steps := range values {
		for _, step := range steps.Values {
			b.WriteString(benchmarkName(steps.Steps, step) + "\t1")
			for _, v := range step {
				unit, _ := v.Metric.Bench()
				if onHost(step) && unit == "host-ns/op" {
					unit = "ns/op"
				}
				fmt.Fprintf(&b, "\t%s %s", strconv.FormatFloat(math.Round(v.Value*1e6)/1e6, 'f', -1, 64), unit)
			}
			b.WriteString("\n")
		}
	}
	return flush(w, &b)
}

// onHost reports whether a step has no device time.
func onHost(step []gate.StepValue) bool {
	return len(step) == 0 || step[0].Metric.Name != "step.time"
}

// benchmarkName names a kind of step by its optimizers and their accumulation; the letters
// of a report count first appearances and differ between runs.
func benchmarkName(s compare.Steps, step []gate.StepValue) string {
	name := "BenchmarkStep"
	if onHost(step) {
		name = "BenchmarkHostStep"
	}
	name += "/kind=" + benchmarkWord(strings.ReplaceAll(s.Kind, " + ", "+"))
	counts := make([]string, len(s.Optimizers))
	for i, o := range s.Optimizers {
		if counts[i] = "_"; o.Accumulation != nil {
			counts[i] = strconv.Itoa(*o.Accumulation)
		}
	}
	if len(counts) > 0 && strings.Trim(strings.Join(counts, ""), "_") != "" {
		name += "/accum=" + strings.Join(counts, "+")
	}
	return name
}

// benchmarkWord keeps letters, digits and separators inside them: spaces end a name, slashes
// and equals signs split it, and -8 at its end would be a number of processors.
func benchmarkWord(s string) string {
	runes := []rune(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '+' || r == '.' {
			return r
		}
		return '_'
	}, s))
	return string(runes[:min(len(runes), maxName)])
}
