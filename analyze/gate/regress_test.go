package gate

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/report"
)

// TestMoved: how far a value may be from the baseline. A bound itself is allowed; a share is
// of the size of the baseline's value; a least difference must be reached.
func TestMoved(t *testing.T) {
	share, by := func(v float64) *Change { return &Change{v, true} }, func(v float64) *Change {
		return &Change{v,
			false}
	}
	for _, c := range []struct {
		name      string
		g         Regression
		base, new float64
		want      bool
	}{
		{"nothing asked", Regression{}, 1, 100, false},
		{"10 % more", Regression{MaxIncrease: share(0.125)}, 8, 9, false},
		{"a little beyond", Regression{MaxIncrease: share(0.125)}, 8, 9.001, true},
		{"less is no increase", Regression{MaxIncrease: share(0.125)}, 8, 0, false},
		{"of a negative value", Regression{MaxIncrease: share(0.125)}, -8, -6.9, true},
		{"of a negative value, within", Regression{MaxIncrease: share(0.125)}, -8, -7.1, false},
		{"from zero any share is too much", Regression{MaxIncrease: share(0.5)}, 0, 1e-9, true},
		{"by a number", Regression{MaxIncrease: by(2)}, 8, 10, false},
		{"beyond a number", Regression{MaxIncrease: by(2)}, 8, 10.5, true},
		{"a decrease", Regression{MaxDecrease: by(2)}, 8, 6, false},
		{"beyond a decrease", Regression{MaxDecrease: by(2)}, 8, 5, true},
		{"more is no decrease", Regression{MaxDecrease: by(2)}, 8, 50, false},
		{"below the least difference", Regression{MaxIncrease: share(0), MinDelta: 3}, 8, 10.9, false},
		{"at the least difference", Regression{MaxIncrease: share(0), MinDelta: 3}, 8, 11, true},
		{"both ways, up", Regression{MaxIncrease: by(1), MaxDecrease: by(1)}, 8, 9.5, true},
		{"both ways, down", Regression{MaxIncrease: by(1), MaxDecrease: by(1)}, 8, 6.5, true},
		{"both ways, within", Regression{MaxIncrease: by(1), MaxDecrease: by(1)}, 8, 7.5, false},
	} {
		if got := c.g.moved(c.base, c.new); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// TestJudge: a change of times fails only if it is large and significant; too few steps
// decide nothing, and are not tolerated where what there is lies beyond the limits.
func TestJudge(t *testing.T) {
	around := func(n int, center float64) []float64 {
		var list []float64
		for i := range n {
			list = append(list, center+float64(i))
		}
		return list
	}
	for _, c := range []struct {
		name      string
		base, new []float64
		alpha     float64
		want      string
	}{
		{"no baseline", nil, around(9, 100), 0.05, "undecidable tolerated"},
		{"no steps", around(9, 100), nil, 0.05, "undecidable tolerated"},
		{"the same", around(9, 100), around(9, 100), 0.05, "pass 104 against 104 tolerated"},
		{"slower", around(9, 100), around(9, 200), 0.05, "fail 204 against 104"},
		{"faster", around(9, 200), around(9, 100), 0.05, "pass 104 against 204 tolerated"},
		{"a little slower, for sure", around(9, 1000), around(9, 1020), 0.05, "pass 1024 against 1004 tolerated"},
		{"four steps, slower", around(4, 100), around(9, 200), 0.05, "undecidable 204 against 101.5"},
		{"four steps, alike", around(9, 100), around(4, 100), 0.05, "undecidable 101.5 against 104 tolerated"},
		{"five steps", around(5, 100), around(5, 200), 0.05, "fail 202 against 102"},
		{"five steps, and a level that they cannot reach", around(5, 100), around(5, 200), 0.005,
			"undecidable 202 against 102"},
	} {
		g := Regression{MaxIncrease: &Change{0.05, true}, Alpha: c.alpha}
		row := g.judge(Row{Tolerated: true}, c.base, c.new)
		got := []string{string(row.Verdict)}
		if row.Value != nil {
			got = append(got, fmt.Sprintf("%g against %g", *row.Value, *row.BaselineValue))
		}
		if row.Tolerated {
			got = append(got, "tolerated")
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s: %s (%s), want %s", c.name, text, row.Reason, c.want)
		}
	}
}

// TestJudgeExact: the worst values are compared; where the baseline's own steps differ, all
// new ones have to be beyond all of its.
func TestJudgeExact(t *testing.T) {
	of := func(values ...float64) []sample {
		var list []sample
		for i, v := range values {
			list = append(list, sample{v, 0, int64(i)})
		}
		return list
	}
	up, down := Regression{MaxIncrease: &Change{}}, Regression{MaxDecrease: &Change{}}
	both := Regression{MaxIncrease: &Change{}, MaxDecrease: &Change{}}
	for _, c := range []struct {
		name      string
		g         Regression
		base, new []sample
		want      string
	}{
		{"the same", both, of(4, 4), of(4, 4), "pass 4 4"},
		{"one more in one step", up, of(4, 4), of(4, 5, 4), "fail 5 4 at 1"},
		{"one less in one step", down, of(4, 4), of(4, 3, 4), "fail 3 4 at 1"},
		{"one less, which is no increase", up, of(4, 4), of(3, 3), "pass 3 4"},
		{"a baseline that differs, within", up, of(4, 7), of(5, 7), "pass 5 7"},
		{"a baseline that differs, one beyond", up, of(4, 7), of(5, 9), "pass 5 7"},
		{"a baseline that differs, all beyond", up, of(4, 7), of(8, 9), "fail 8 7"},
		{"a baseline that differs, all below", down, of(4, 7), of(3, 2), "fail 3 4"},
		{"both ways, within", both, of(4, 7), of(5, 6), "pass 5 7"},
		{"both ways, up", both, of(4), of(6), "fail 6 4"},
		{"both ways, down", both, of(4), of(2), "fail 2 4"},
		{"nothing in the baseline", up, nil, of(4), "undecidable"},
		{"nothing here", up, of(4), nil, "undecidable"},
	} {
		c.g.Metric = &Metric{Missing: "missing"}
		row := c.g.judgeExact(Row{}, c.base, c.new)
		got := string(row.Verdict)
		if row.Value != nil {
			got += fmt.Sprintf(" %g %g", *row.Value, *row.BaselineValue)
			if *row.Step > 0 && row.Verdict == Fail {
				got += fmt.Sprintf(" at %d", *row.Step)
			}
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	for _, c := range []struct {
		base, new int
		want      string
	}{{0, 0, "m"}, {0, 1, "unknown in the baseline: m"}, {1, 0, "m"},
		{1, 1, "the sides have no kind of complete step in common"}} {
		if got := onlySide(c.base, c.new, "m"); got != c.want {
			t.Errorf("%d and %d: %s", c.base, c.new, got)
		}
	}
}

func TestLimits(t *testing.T) {
	timed, count := &Metric{Unit: Nanoseconds, timed: true}, &Metric{Unit: Count}
	for _, c := range []struct {
		g    Regression
		want string
	}{
		{Regression{Metric: count}, ""},
		{Regression{Metric: count, MaxIncrease: &Change{}}, "+0"},
		{Regression{Metric: count, MaxIncrease: &Change{2, false}, MaxDecrease: &Change{0.5, true}}, "+2, -50 %"},
		{Regression{Metric: timed, MaxIncrease: &Change{0.05, true}, MinDelta: 2e6, Alpha: 0.01},
			"+5 %, at least 2.000 ms, p < 0.01"},
	} {
		if got := c.g.limit(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	low, high := 1.0, 4.0
	for _, c := range []struct {
		b    Budget
		v    float64
		text string
		want bool
	}{
		{Budget{Metric: count, Max: &high}, 4, "max 4", true}, {Budget{Metric: count, Max: &high}, 4.1, "max 4", false},
		{Budget{Metric: count, Min: &low}, 1, "min 1", true}, {Budget{Metric: count, Min: &low}, 0.9, "min 1", false},
		{Budget{Metric: count, Min: &low, Max: &high}, 2, "min 1, max 4", true},
		{Budget{Metric: count, Min: &low, Max: &high}, 5, "min 1, max 4", false},
		{Budget{Metric: count, Min: &low, Max: &high}, 0, "min 1, max 4", false},
	} {
		if got := c.b.holds(c.v); got != c.want || c.b.limit() != c.text {
			t.Errorf("%v holds %s: %v (%s)", c.v, c.text, got, c.b.limit())
		}
	}
}

// TestDeclaredAccumulation: what the configuration declares is compared with every step; the
// value shown is the greatest.
func TestDeclaredAccumulation(t *testing.T) {
	for declared, want := range map[int]string{2: "passed 0\naccumulation_steps pass 2",
		3: "passed 0\naccumulation_steps pass 3",
		4: "passed 0\naccumulation_steps pass 4", 9: "failed 1\naccumulation_steps fail 3 (" + otherJob + ")"} {
		c, err := Parse("f", []byte(fmt.Sprintf("version: 1\njob: {accum: %d}\n", declared)), ruleIDs)
		if err != nil {
			t.Fatal(err)
		}
		if got := summary(Check(c, []*report.Report{twoRanks()}, nil, some(0, 0))); got != want {
			t.Errorf("%d: %s, want %s", declared, got, want)
		}
	}
}

// TestAnotherExperiment: a baseline of another one asks for a new baseline.
func TestAnotherExperiment(t *testing.T) {
	c, err := Parse("f", []byte("version: 1\nregressions: {step.time: [error, {max_increase: 1%}]}\n"), ruleIDs)
	if err != nil {
		t.Fatal(err)
	}
	other := made(tens(9, 1)...)
	other.Source.Device = "another"
	r := Check(c, []*report.Report{made(tens(9, 1)...)}, []*report.Report{other}, some(0, 0))
	if len(r.Rows) != 1 || !strings.HasPrefix(r.Rows[0].Next, "make a new baseline: ") ||
		r.Rows[0].Verdict != Undecidable {
		t.Errorf("%+v", r.Rows)
	}
}

// TestStepsToAskFor: with too few steps at least ten are asked for, with enough none.
func TestStepsToAskFor(t *testing.T) {
	for _, text := range []string{"budgets: {step.time: [error, {max: 1s}]}",
		"regressions: {step.time: [error, {max_increase: 1%}]}"} {
		c, err := Parse("f", []byte("version: 1\n"+text+"\n"), ruleIDs)
		if err != nil {
			t.Fatal(err)
		}
		for steps, want := range map[int]bool{2: true, 4: true, 9: false} {
			list := []*report.Report{made(tens(steps, 1)...)}
			r := Check(c, list, list, some(0, 0))
			if (r.Record != nil) != want || want && *r.Record < leastRecorded {
				t.Errorf("%s, %d steps: %v", text, steps, r.Record)
			}
		}
	}
}

// TestNoValues: what is no value of its metric, and a list where a mapping is wanted, is an
// error and not a crash.
func TestNoValues(t *testing.T) {
	for _, text := range []string{
		"regressions: {step.time: [error, {max_increase: soon}]}",
		"regressions: {rs.overlap.ratio: [error, {max_decrease: a%}]}",
		"regressions: {step.time: [error, {max_increase: -1%}]}",
		"regressions: {step.time: [error, {min_delta: much}]}",
		"budgets: {step.time: [error, {max: soon}]}", "budgets: [a]", "budgets: a", "job: [a]", "select: a",
		"regressions: 3",
	} {
		if _, err := Parse("f", []byte("version: 1\n"+text+"\n"), ruleIDs); err == nil {
			t.Errorf("%s is a configuration", text)
		}
	}
	for _, text := range []string{"budgets:", "job:", "select:", "regressions:", "ignore:"} {
		if _, err := Parse("f", []byte("version: 1\n"+text+"\n"), ruleIDs); err != nil {
			t.Errorf("%s is empty: %v", text, err)
		}
	}
}
