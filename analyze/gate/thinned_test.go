package gate

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/report"
)

// running is a report of five steps whose kernels are so many per step, in the form "gemm 8, adam 1".
func running(kernels string) *report.Report {
	r := made(10, 10, 10, 10, 10)
	all := 0
	for _, part := range strings.Split(kernels, ", ") {
		var k report.Kernel
		fmt.Sscanf(part, "%s %d", &k.Name, &k.Count)
		all += k.Count
		k.Count *= 5
		r.Kernels = append(r.Kernels, k)
	}
	for i := range r.Steps {
		r.Steps[i].LinkedEvents = all
	}
	return r
}

// TestThinned: fewer of all kernels were lost; a program that was changed has other kernels, or as
// many as before of most.
func TestThinned(t *testing.T) {
	const before = "gemm 40, add 40, mul 20, norm 10, adam 5, fill 2"
	for _, test := range []struct {
		name, after string
		doubt       bool
	}{
		{"as before", before, false},
		{"a quarter of all", "gemm 30, add 30, mul 15, norm 8, adam 4, fill 2", true},
		{"a tenth of all", "gemm 36, add 36, mul 18, norm 9, adam 4, fill 2", true},
		{"a fiftieth of all", "gemm 39, add 39, mul 19, norm 9, adam 4, fill 2", false},
		{"one sort was fused away", "gemm 40, add 15, mul 20, norm 10, adam 5, fill 2", false},
		{"fused into others", "gemm 30, add 30, fused 12, norm 8, adam 4, other 1", false},
		{"half", "gemm 40, add 15, fill 2", true}, // too few to be compared, whatever they are
		{"more", "gemm 50, add 50, mul 30, norm 10, adam 5, fill 2", false},
	} {
		got := fewerEvents([]*report.Report{running(before)}, []*report.Report{running(test.after)})
		if (got != "") != test.doubt {
			t.Errorf("%s: %q", test.name, got)
		}
	}
	few, fewer := running("gemm 40, add 40"), running("gemm 30, add 30")
	if got := fewerEvents([]*report.Report{few}, []*report.Report{fewer}); got != "" {
		t.Errorf("two kernels do not tell: %q", got)
	}
}

// TestThinnedHidesWhatItTouches: lost device events hide what is counted or timed on devices, and nothing else.
func TestThinnedHidesWhatItTouches(t *testing.T) {
	hidden := map[bool]int{}
	for _, m := range Metrics() {
		k, row := &check{fewer: "a tenth is lost"}, Row{Metric: m.Name, Verdict: Pass}
		byDevice := m.touched&deviceEvents != 0
		if got := k.spoiled(&row, m, nil); got != byDevice || row.BadData != byDevice ||
			(row.Verdict == Undecidable) != byDevice || strings.Contains(row.Next, "keep-report") != byDevice {
			t.Errorf("%s: hidden %v, %+v", m.Name, got, row)
		}
		hidden[byDevice]++
	}
	if hidden[true] == 0 || hidden[false] == 0 {
		t.Errorf("hidden and not: %v", hidden)
	}
}
