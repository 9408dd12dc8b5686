package render

import (
	"bytes"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/report"
)

// TestGoBenchValues: times are whole nanoseconds and ratios keep six places; a step without
// device time is a benchmark of the host.
func TestGoBenchValues(t *testing.T) {
	duration, step, accumulation := int64(1_234_567), 0, 4
	r := &report.Report{
		Source: report.Source{Device: "NVIDIA H100 80GB-8", Ranks: []int64{0}, StepSource: "optimizer"},
		Steps: []report.Step{{Kind: "A", Complete: true, Duration: &duration, HostDuration: 999,
			Optimizers: []report.Optimizer{{Name: "Adam W", Accumulation: &accumulation}, {Name: "SGD"}},
			Ledger:     &report.Ledger{Compute: 1_000_000, ReduceScatter: 234_567}}},
		Groups: []report.CollectiveGroup{
			{Step: &step, Kind: "reduce_scatter", Count: 1, Busy: 3, Over: 1},
			{Step: &step, Kind: "all_gather", Count: 1, Busy: 7, Over: 7},
			{Step: &step, Kind: "all_reduce", Count: 1, Busy: 8, Over: 0},
		},
	}
	var b bytes.Buffer
	if err := GoBench(&b, r, Options{}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	last := lines[len(lines)-1]
	for _, want := range []string{
		"BenchmarkStep/kind=Adam_W+SGD/accum=4+_\t1\t", "\t1234567 ns/op", "\t1000000 compute-ns/op",
		"\t234567 rs-exposed-ns/op",
		"\t0.333333 rs-overlap", "\t1 ag-overlap", "\t0 ar-overlap", "\t999 host-ns/op",
	} {
		if !strings.Contains(last+"\t", strings.TrimSuffix(want, "\t")+"\t") {
			t.Errorf("not %q in %q", want, last)
		}
	}
	if lines[0] != "device: NVIDIA H100 80GB_8" || !strings.Contains(b.String(), "Unit rs-overlap better=higher\n") ||
		!strings.Contains(b.String(), "Unit ns/op better=lower\n") {
		t.Errorf("%s", b.String())
	}
	b.Reset()
	r.Steps[0].Duration, r.Steps[0].Ledger = nil, nil
	if err := GoBench(&b, r, Options{}); err != nil || !strings.Contains(b.String(),
		"BenchmarkHostStep/kind=Adam_W+SGD/accum=4+_\t1\t999 ns/op") {
		t.Errorf("%v %s", err, b.String())
	}
}
