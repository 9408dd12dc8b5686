package calibration_test

import (
	"path/filepath"
	"testing"

	"github.com/gaprof/gaprof/analyze/calibration"
	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/tracefile"
)

// TestReal holds figures of traces of 8 x H100 to what was measured in them by other means: one rank alone, and all
// eight of a later run, whose hosts are not ahead of their devices.
func TestReal(t *testing.T) {
	for pattern, want := range map[string]map[string][2]int64{
		"nanogpt-current": {"launch": {5800, 6500}, "gap": {1400, 1600}, "eager": {13_600, 16_500}},
		"normuon-rank*":   {"launch": {5800, 6500}, "gap": {1400, 1700}, "start": {8500, 10_000}},
	} {
		files, err := tracefile.Expand([]string{filepath.Join("../../../shared/traces/gpu", pattern+".json.gz")})
		if err != nil {
			t.Skipf("NOT TESTED: %v", err)
		}
		var traces []*trace.Trace
		for _, file := range files {
			list, err := tracefile.Read(file, tracefile.Options{})
			if err != nil {
				t.Fatal(err)
			}
			traces = append(traces, list...)
		}
		m := together(traces)
		for _, x := range m.Times {
			if of, held := want[x.Name]; held && (x.NS < of[0] || x.NS > of[1]) {
				t.Errorf("%s: %s is %d ns (%s), want %v", pattern, x.Name, x.NS, x.Why, of)
			}
			if x.Name == "start" && pattern == "nanogpt-current" && x.Why == "" {
				t.Errorf("start is %d ns, though the device is never idle at a launch", x.NS)
			}
		}
		testWork(t, pattern, m)
	}
}

func testWork(t *testing.T, pattern string, m *calibration.Measured) {
	for _, v := range m.Moves {
		rate := float64(v.Bytes) / float64(v.NS)
		between := map[string][2]float64{"aten::add_": {2980, 3100}, calibration.Strided: {500, 800}}[v.Op]
		if rate < between[0] || rate > between[1] {
			t.Errorf("%s: %+v: %.0f GB/s", pattern, v, rate)
		}
	}
	large := 0
	for _, p := range m.Products {
		flops := 2 * float64(p.Rows) * float64(p.Columns) * float64(p.Inner)
		if speed := flops / float64(p.NS) / 1e3; flops > 1e10 {
			large++
			if speed < 440 || speed > 800 {
				t.Errorf("%s: %+v: %.0f TFLOP/s", pattern, p, speed)
			}
		}
	}
	if large != 8 || len(m.Moves) != 3 || len(m.Transfers) != 10 {
		t.Errorf("%s: %d large products, %d moves, %d transfers", pattern, large, len(m.Moves), len(m.Transfers))
	}
	alone := pattern == "nanogpt-current"
	l := m.Lines[0]
	if alone && (l.Kind != "reduce_scatter" || l.Bus < 285e9 || l.Bus > 305e9 || l.Alpha < 20e3 || l.Alpha > 35e3) {
		t.Errorf("%+v, want 285 to 305 GB/s and about 28 us", l)
	}
	if u := m.Uneven; alone != (u.Why == "") || alone && (u.Factor < 0.01 || u.Factor > 0.02) {
		t.Errorf("%s: %+v", pattern, u)
	}
}
