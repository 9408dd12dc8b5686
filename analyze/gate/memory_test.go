package gate

import (
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/report"
)

// recorded adds the memory of a device to every step of a report: the peaks in bytes, the
// last of them of any further step.
func recorded(r *report.Report, kind string, peaks ...int64) *report.Report {
	for i := range r.Steps {
		s := &r.Steps[i]
		peak := peaks[min(i, len(peaks)-1)]
		reserved, held := 2*peak, peak/2
		r.Memory = append(r.Memory, report.Memory{Rank: s.Rank, Device: "0", Kind: kind, Step: &s.Index,
			Complete: s.Complete, PeakAllocated: peak, PeakReserved: &reserved, Held: &held})
	}
	return r
}

func TestMemory(t *testing.T) {
	const (
		budget = "budgets: {memory.peak: [error, {max: 40GB}]}"
		three  = "budgets: {memory.peak: [error, {max: 1MB}], memory.reserved.peak: [error, {max: 1MB}], " +
			"memory.held.peak: [error, {max: 1MB}]}"
		grown = "regressions: {memory.peak: [error, {max_increase: 2%}]}"
	)
	relative := recorded(made(tens(3, 1)...), "cuda", 5e9)
	for i := range relative.Memory {
		relative.Memory[i].Relative = true
	}
	incomplete := recorded(made(tens(3, 1)...), "cuda", 50e9, 30e9)
	incomplete.Steps[0].Complete = false
	whole := &report.Report{Memory: []report.Memory{{Kind: "cuda", Device: "0", PeakAllocated: 41e9}}}
	for _, test := range []struct {
		name, config string
		new, base    *report.Report
		want         string
	}{
		{"within", budget, recorded(made(tens(3, 1)...), "cuda", 39e9, 40e9), nil,
			"passed 0\nmemory.peak pass 40.000 GB"},
		{"beyond", budget, recorded(made(tens(3, 1)...), "hip", 39e9, 40e9+1e6), nil,
			"failed 1\nmemory.peak fail 40.001 GB"},
		{"not recorded", budget, made(tens(3, 1)...), nil,
			"inconclusive 4\nmemory.peak undecidable - (" + missMemory + ")"},
		{"host memory is not that of a device", budget, recorded(made(tens(3, 1)...), "cpu", 50e9), nil,
			"inconclusive 4\nmemory.peak undecidable - (" + missMemory + ")"},
		{"without totals only a lower bound is known", budget, relative, nil,
			"inconclusive 4\nmemory.peak undecidable - (" + missMemory + ")"},
		{"incomplete steps do not count", budget, incomplete, nil, "passed 0\nmemory.peak pass 30.000 GB"},
		{"steps that are not selected do not count", "select: {steps: \"last:1\"}\n" + budget,
			recorded(made(tens(3, 1)...), "cuda", 50e9, 50e9, 30e9), nil, "passed 0\nmemory.peak pass 30.000 GB"},
		{"no steps", budget, whole, nil, "failed 1\nmemory.peak fail 41.000 GB"},
		{"all three", three, recorded(made(tens(2, 1)...), "cuda", 8e5), nil,
			"failed 1\nmemory.peak pass 0.8 MB\nmemory.reserved.peak fail 1.6 MB\nmemory.held.peak pass 0.4 MB"},
		{"grown by a tenth", grown, recorded(made(tens(3, 1)...), "cuda", 11e9),
			recorded(made(tens(3, 1)...), "cuda", 10e9), "failed 1\nmemory.peak fail 11.000 GB"},
		{"grown by less than allowed", grown, recorded(made(tens(3, 1)...), "cuda", 10.1e9),
			recorded(made(tens(3, 1)...), "cuda", 10e9), "passed 0\nmemory.peak pass 10.100 GB"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, err := Parse("f", []byte("version: 1\n"+test.config), ruleIDs)
			if err != nil {
				t.Fatal(err)
			}
			var base []*report.Report
			if test.base != nil {
				base = append(base, test.base)
			}
			got := summary(Check(c, []*report.Report{test.new}, base, Options{AnyRanks: true}))
			if !strings.HasPrefix(got, test.want) {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}
