package gate

import (
	"fmt"
	"math"
	"testing"

	"github.com/gaprof/gaprof/analyze/compare"
	"github.com/gaprof/gaprof/analyze/report"
)

// TestValuesWithUnits: every suffix means what it says, and nothing else is a value.
func TestValuesWithUnits(t *testing.T) {
	for _, c := range []struct {
		unit Unit
		text string
		want float64 // NaN: none
	}{
		{Nanoseconds, "5ns", 5}, {Nanoseconds, "5us", 5e3}, {Nanoseconds, "5 µs", 5e3}, {Nanoseconds, "5ms", 5e6},
		{Nanoseconds, " 1.5 s ", 1.5e9}, {Nanoseconds, "0", 0}, {Nanoseconds, "5", math.NaN()},
		{Nanoseconds, "5m", math.NaN()}, {Nanoseconds, "ms", math.NaN()}, {Nanoseconds, "", math.NaN()},
		{Ratio, "80%", 0.8}, {Ratio, "0.8", 0.8}, {Ratio, "0 %", 0}, {Ratio, "0x1%", math.NaN()}, {Ratio, "1e-3", 1e-3},
		{Bytes, "1KiB", 1024}, {Bytes, "1MiB", 1 << 20}, {Bytes, "1GiB", 1 << 30}, {Bytes, "2TiB", 2 << 40},
		{Bytes, "1kB", 1e3}, {Bytes, "1KB", 1e3}, {Bytes, "1MB", 1e6}, {Bytes, "1GB", 1e9}, {Bytes, "1TB", 1e12},
		{Bytes, "7B", 7}, {Bytes, "7", 7}, {Bytes, "7 ms", math.NaN()},
		{Count, "16", 16}, {Count, "-1", -1}, {Count, "1_0", math.NaN()}, {Count, "Inf", math.NaN()},
		{Count, "NaN", math.NaN()}, {Count, "1e400", math.NaN()}, {Count, "5B", math.NaN()},
	} {
		v, ok := c.unit.value(c.text)
		if ok == math.IsNaN(c.want) || ok && math.Abs(v-c.want) > 1e-9*math.Abs(c.want) {
			t.Errorf("%q in %s is %v %v, want %v", c.text, c.unit, v, ok, c.want)
		}
	}
}

func TestFormat(t *testing.T) {
	for _, c := range []struct {
		unit Unit
		v    float64
		want string
	}{
		{Nanoseconds, 1234567, "1.235 ms"}, {Nanoseconds, 400, "0.000 ms"}, {Nanoseconds, 500, "0.001 ms"},
		{Nanoseconds, -2e6, "-2.000 ms"}, {Nanoseconds, 0, "0.000 ms"},
		{Ratio, 0.2895, "28.95 %"}, {Ratio, 0, "0.00 %"}, {Ratio, 0.0001, "0.01 %"}, {Ratio, 0.00005, "5e-05"},
		{Ratio, 0.0000123456, "1.23e-05"},
		{Ratio, -0.00005, "-5e-05"}, {Ratio, 1.5, "150.00 %"},
		{Bytes, 99_999, "99999 B"}, {Bytes, 1e5, "0.1 MB"}, {Bytes, 999_900_000, "999.9 MB"}, {Bytes, 1e9, "1.000 GB"},
		{Bytes, 12_345_678_901, "12.346 GB"}, {Bytes, 0, "0 B"}, {Bytes, -2e9, "-2.000 GB"}, {Bytes, -2e5, "-0.2 MB"},
		{Count, 3, "3"}, {Count, 2.66666, "2.667"}, {Count, 0.0004, "0"},
	} {
		if got := c.unit.Format(c.v); got != c.want {
			t.Errorf("%v %s is %q, want %q", c.v, c.unit, got, c.want)
		}
	}
}

// TestWorst: of equals the first, whose step is the one to look at.
func TestWorst(t *testing.T) {
	all := []sample{{2, 0, 0}, {5, 0, 1}, {1, 0, 2}, {5, 1, 3}, {1, 1, 4}}
	if most, least := worst(all, true), worst(all, false); most.step != 1 || least.step != 2 {
		t.Errorf("%+v and %+v", most, least)
	}
	if one := worst(all[:1], true); one != all[0] {
		t.Errorf("%+v", one)
	}
}

func TestAggregate(t *testing.T) {
	odd, even := []float64{9, 1, 4}, []float64{9, 1, 4, 2}
	for _, c := range []struct {
		how    string
		values []float64
		want   float64
	}{
		{"max", odd, 9}, {"mean", odd, 14.0 / 3}, {"median", odd, 4}, {"", even, 3}, {"mean", even, 4}, {"max", even,
			9},
		{"median", []float64{7}, 7}, {"max", []float64{-3, -7}, -3},
	} {
		if got := aggregate(c.how, c.values); got != c.want {
			t.Errorf("%s of %v: %v, want %v", c.how, c.values, got, c.want)
		}
	}
	if odd[0] != 9 || even[0] != 9 {
		t.Error("the values are sorted in place")
	}
}

// TestLeastP: two of the ways to mix two samples are the extreme ones.
func TestLeastPOfTwo(t *testing.T) {
	for _, c := range []struct {
		n, m int
		want float64
	}{{1, 1, 1}, {2, 2, 1.0 / 3}, {3, 3, 0.1}, {4, 4, 2.0 / 70}, {1, 5, 1.0 / 3}, {5, 1, 1.0 / 3}} {
		if got := leastP(c.n, c.m); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%d and %d: %v, want %v", c.n, c.m, got, c.want)
		}
	}
}

// TestRanges: a range holds its first step and not its last bound, and an analysis takes
// the same steps.
func TestRanges(t *testing.T) {
	for _, c := range []struct {
		r    Range
		want string // of steps 0 to 5
	}{
		{Range{}, "012345"}, {Range{From: 1, To: 3}, "12"}, {Range{From: 0, To: 1}, "0"}, {Range{From: 4, To: 9}, "45"},
		{Range{From: 7, To: 9}, ""}, {Range{Last: 2}, "45"}, {Range{Last: 9}, "012345"}, {Range{Last: 1}, "5"},
	} {
		held, windowed := "", ""
		for i := range 6 {
			if c.r.holds(i, 5) {
				held += fmt.Sprint(i)
			}
		}
		if w := c.r.Window(); w != nil {
			from, to := w(6)
			for i := from; i < to; i++ {
				windowed += fmt.Sprint(i)
			}
		} else {
			windowed = "012345"
		}
		if held != c.want || windowed != c.want {
			t.Errorf("%+v holds %s, its window %s, want %s", c.r, held, windowed, c.want)
		}
		if asked := (&Select{Steps: c.r}).asked(); asked != (c.r != Range{}) {
			t.Errorf("%+v: asked %v", c.r, asked)
		}
	}
	if !(&Select{Warmup: 1}).asked() || (&Select{}).asked() {
		t.Error("a warm-up that is asked for")
	}
}

// TestWarmup: the leading steps that compile are left out, and no later ones; a number that
// the user gives counts from the first step of the recording.
func TestWarmup(t *testing.T) {
	steps := []report.Step{}
	for i := range 5 {
		steps = append(steps, report.Step{Index: i + 2, HostStart: int64(i) * 100, HostDuration: 100})
	}
	compiles := func(starts ...int64) []report.Finding {
		f := report.Finding{Rule: "TH006"}
		for _, at := range starts {
			f.Evidence = append(f.Evidence, report.Evidence{Start: at})
		}
		return []report.Finding{f}
	}
	for _, c := range []struct {
		name     string
		findings []report.Finding
		warmup   int
		want     int
	}{
		{"nothing", nil, AutoWarmup, 2},
		{"the first", compiles(0), AutoWarmup, 3},
		{"the first, by its last instant", compiles(99), AutoWarmup, 3},
		{"the first two", compiles(50, 150), AutoWarmup, 4},
		{"the second alone", compiles(100), AutoWarmup, 2},
		{"the first and the third", compiles(0, 200), AutoWarmup, 3},
		{"before all steps", compiles(-1), AutoWarmup, 2},
		{"another rule", []report.Finding{{Rule: "TH001", Evidence: []report.Evidence{{Start: 0}}}}, AutoWarmup, 2},
		{"by number", compiles(0), 2, 4},
		{"none, by number", compiles(0), 0, 2},
	} {
		k := &check{config: Config{Select: Select{Warmup: c.warmup}}, result: &Result{}}
		if got := k.warmup(&report.Report{Steps: steps, Findings: c.findings}); got != c.want {
			t.Errorf("%s: step %d, want %d", c.name, got, c.want)
		}
	}
}

// TestNewFindings: what counts as new since a baseline.
func TestNewFindings(t *testing.T) {
	cost := func(n int64) *int64 { return &n }
	f := func(s report.Severity, c *int64) *report.Finding {
		return &report.Finding{Rule: "OV001", Severity: s, Cost: c}
	}
	for _, c := range []struct {
		name string
		was  *report.Finding
		now  *report.Finding
		want bool
	}{
		{"a warning", nil, f(report.Warn, cost(1)), true},
		{"a note", nil, f(report.Note, cost(9)), false},
		{"as severe", f(report.Warn, cost(1)), f(report.Warn, cost(9)), false},
		{"less severe", f(report.Error, cost(1)), f(report.Warn, cost(9)), false},
		{"more severe, and three times as costly", f(report.Warn, cost(10)), f(report.Error, cost(30)), true},
		{"more severe, and a little less", f(report.Warn, cost(10)), f(report.Error, cost(29)), false},
		{"more severe without a cost", f(report.Note, cost(10)), f(report.Error, nil), true},
		{"more severe than one without a cost", f(report.Note, nil), f(report.Warn, cost(1)), true},
	} {
		if got := since(c.was, c.now); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// TestFindingsByRule: of several runs that counts which has most of a rule, of as many the
// worse; within a rule the worst stands first, and rules are in that order.
func TestFindingsByRule(t *testing.T) {
	cost := func(n int64) *int64 { return &n }
	of := func(list ...report.Finding) *report.Report { return &report.Report{Findings: list} }
	f := func(rule string, s report.Severity, c *int64) report.Finding {
		return report.Finding{Rule: rule, Severity: s, Cost: c}
	}
	by := findingsByRule([]*report.Report{
		of(f("A", report.Warn, cost(5)), f("A", report.Warn, nil), f("A", report.Error, cost(1)), f("B", report.Note,
			cost(7))),
		of(f("A", report.Error, cost(99)), f("B", report.Note, cost(8)), f("C", report.Warn, nil)),
		of(f("B", report.Note, cost(8)), f("C", report.Warn, cost(0))),
	})
	got := ""
	for _, list := range inOrder(by) {
		for _, one := range list {
			got += one.Rule + " " + string(one.Severity)
			if one.Cost != nil {
				got += fmt.Sprint(" ", *one.Cost)
			}
			got += "; "
		}
	}
	const want = "A error 1; A warn 5; A warn; C warn 0; B note 8; "
	if got != want {
		t.Errorf("%s, want %s", got, want)
	}
	skip := func(rule, why string) *report.Report {
		return &report.Report{Skipped: []report.Skip{{Rule: rule, Reason: why}}}
	}
	if why := compare.Skipped([]*report.Report{skip("A", "one"), skip("A", "two")})["A"]; why != "two" {
		t.Errorf("skipped by all: %q", why)
	}
	if why := compare.Skipped([]*report.Report{skip("A", "one"), skip("B", "two")})["A"]; why != "" {
		t.Errorf("judged by one: %q", why)
	}
}
