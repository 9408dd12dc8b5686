package gate

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/report"
)

// ofRanks is a report of a world of four, with as many complete steps and device events in each of them
// as each rank has, from rank 0 on.
func ofRanks(ranks ...[2]int) *report.Report {
	world := int64(4)
	r := &report.Report{Source: report.Source{WorldSize: &world}}
	for rank, has := range ranks {
		r.Source.Ranks = append(r.Source.Ranks, int64(rank))
		for step := range has[0] {
			one := report.Step{Rank: int64(rank), Index: step, Complete: true, LinkedEvents: has[1]}
			r.Steps = append(r.Steps, one, one) // of two devices
		}
		r.Steps = append(r.Steps, report.Step{Rank: int64(rank), Index: has[0], LinkedEvents: 1})
	}
	return r
}

// TestLacking: who is missing, or there without anything to judge, and how many were asked for.
func TestLacking(t *testing.T) {
	well := [2]int{4, 10}
	unknown := ofRanks(well)
	unknown.Source.WorldSize = nil
	for _, test := range []struct {
		r     *report.Report
		least int
		want  string
	}{
		{ofRanks(well, well, well, well), 0, ""},
		{unknown, 0, ""},
		{unknown, 1, ""},
		{unknown, 2, "there are traces of 1 of the 2 ranks asked for"},
		{ofRanks(well, well, well), 0, "there are traces of 3 of the 4 ranks in the run"},
		{ofRanks(well, well, well), 3, ""},
		{ofRanks(well, well, well, [2]int{2, 10}), 0, ""},
		{ofRanks(well, well, well, [2]int{1, 10}), 0,
			"3 of the 4 ranks in the run can be judged: rank 3 has 1 of 4 complete steps"},
		{ofRanks([2]int{0, 0}, well, well, [2]int{4, 0}), 0, "2 of the 4 ranks in the run can be judged: " +
			"rank 0 has 0 of 4 complete steps, rank 3 has no device activity in complete steps"},
		{ofRanks([2]int{4, 0}, [2]int{4, 0}, [2]int{4, 0}, [2]int{4, 0}), 0, ""},
	} {
		if got := lacking(test.r, test.least); got != test.want {
			t.Errorf("%d steps, %d asked for: got %q, want %q", len(test.r.Steps), test.least, got, test.want)
		}
	}
}

// TestMissingRanks: nothing passes that depends on ranks that are not there, on either side; it says
// what to do, unless those that there are stand for all.
func TestMissingRanks(t *testing.T) {
	c, err := Parse("f", []byte("version: 1\nbudgets: {step.time: [error, {max: 2ms}]}"), ruleIDs)
	if err != nil {
		t.Fatal(err)
	}
	one := made(tens(10, 1)...)
	all := with(made(tens(10, 1)...), func(r *report.Report) {
		for rank := int64(1); rank < 8; rank++ {
			r.Source.Ranks = append(r.Source.Ranks, rank)
			for _, step := range made(tens(10, 1)...).Steps {
				step.Rank = rank
				r.Steps = append(r.Steps, step)
			}
		}
	})
	const missing = "there are traces of 1 of the 8 ranks in the run"
	for _, test := range []struct {
		new, base *report.Report
		any       bool
		want      string
	}{
		{one, nil, false, "inconclusive: " + missing + ": 1 of 1 check cannot be decided: step.time (" + missing + ")"},
		{all, one, false, "inconclusive: the baseline: " + missing + ": 1 of 1 check cannot be decided: step.time (" +
			"the baseline: " + missing + ")"},
		{one, nil, true, "passed: 1 of 1 check passed ()"},
		{all, nil, false, "passed: 1 of 1 check passed ()"},
	} {
		var base []*report.Report
		if test.base != nil {
			base = append(base, test.base)
		}
		r := Check(c, []*report.Report{test.new}, base, Options{AnyRanks: test.any})
		got := fmt.Sprintf("%s (%s)", r.Exit.Reason, r.Rows[0].Reason)
		if got != test.want {
			t.Errorf("got %s\nwant %s", got, test.want)
		}
		says := strings.Contains(r.Rows[0].Next, "pass the traces of all ranks")
		if wants := strings.HasPrefix(test.want, "inconclusive"); says != wants {
			t.Errorf("%s: what to do next is %q", got, r.Rows[0].Next)
		}
	}
}

// TestSingleRank: a run of one rank, recorded without a device, reduces nothing and differs from nobody. With a
// second rank, or where nobody knows how many there are, neither is known, as with a collective of unknown place.
func TestSingleRank(t *testing.T) {
	c, err := Parse("f", []byte("version: 1\nbudgets: {rs.launched_in_optimizer.per_step: [error, {max: 0}], "+
		"collectives.mismatched: [error, {max: 0}]}"), ruleIDs)
	if err != nil {
		t.Fatal(err)
	}
	unknown := []report.LaunchSite{{Site: "unknown", Count: 1}}
	unplaced := []report.Collectives{{Kind: "reduce_scatter", Sites: unknown}}
	for _, test := range []struct {
		world       *int64
		collectives []report.Collectives
		want        string
	}{
		{pick(int64(1)), nil, "pass pass"},
		{pick(int64(1)), unplaced, "undecidable pass"},
		{pick(int64(2)), nil, "undecidable undecidable"},
		{nil, nil, "undecidable undecidable"},
	} {
		r := with(made(tens(10, 1)...), func(r *report.Report) {
			r.Source.WorldSize, r.Collectives, r.Groups, r.Health.DeviceEvents = test.world, test.collectives, nil, nil
		})
		checked := Check(c, []*report.Report{r}, nil, Options{AnyRanks: true})
		if got := fmt.Sprint(checked.Rows[0].Verdict, " ", checked.Rows[1].Verdict); got != test.want {
			t.Errorf("%v, %d kinds of collectives: %s, want %s", test.world, len(test.collectives), got, test.want)
		}
	}
}

// TestBench: a step's value is the mean of its ranks, of each kind of step, under the unit of benchmarks.
func TestBench(t *testing.T) {
	r := made(1000, 1000)
	other := with(made(3000, 5000), func(r *report.Report) {
		for i := range r.Steps {
			r.Steps[i].Rank = 1
		}
	})
	r.Source.Ranks, r.Steps = []int64{0, 1}, append(r.Steps, other.Steps...)
	var got []string
	for _, kind := range StepValues([]*report.Report{r}) {
		for i, step := range kind.Values {
			for _, v := range step {
				if strings.HasSuffix(v.Metric.Name, ".time") && v.Value > 0 {
					got = append(got, fmt.Sprintf("%d %s %.0f", i, v.Metric.bench, v.Value))
				}
			}
		}
	}
	want := "0 ns/op 2000; 0 compute-ns/op 1800; 0 comm-exposed-ns/op 200; 0 rs-exposed-ns/op 200; " +
		"1 ns/op 3000; 1 compute-ns/op 2700; 1 comm-exposed-ns/op 300; 1 rs-exposed-ns/op 300"
	if text := strings.Join(got, "; "); text != want {
		t.Errorf("got %s\nwant %s", text, want)
	}
}

// TestHostTime: where no device was recorded, the preset's limit of the time of a step is that of the host's;
// a limit that was written down stays what it says.
func TestHostTime(t *testing.T) {
	hostOnly := func(of int64) *report.Report {
		return with(made(tens(10, 1)...), func(r *report.Report) {
			for i := range r.Steps {
				r.Steps[i].Duration, r.Steps[i].Ledger = nil, nil
				r.Steps[i].HostDuration = of + int64(i)
			}
		})
	}
	for _, test := range []struct{ config, want string }{
		{"regressions: {step.time: [error, {max_increase: 3%}]}", "step.time undecidable"},
		{"extends: gaprof:recommended", "step.host_time fail"},
	} {
		c, err := Parse("f", []byte("version: 1\n"+test.config), ruleIDs)
		if err != nil {
			t.Fatal(err)
		}
		r := Check(c, []*report.Report{hostOnly(2_000_000)}, []*report.Report{hostOnly(1_000_000)},
			Options{AnyRanks: true})
		var got []string
		for _, row := range r.Rows {
			if row.Check == "regression" && strings.HasPrefix(row.Metric, "step.") {
				got = append(got, row.Metric+" "+string(row.Verdict))
			}
		}
		if text := strings.Join(got, "; "); text != test.want {
			t.Errorf("%s: got %s, want %s", test.config, text, test.want)
		}
	}
}

// TestProven: the log's weight error is not believed where a finding shows that tokens do not count alike.
func TestProven(t *testing.T) {
	c, err := Parse("f", []byte("version: 1\nbudgets: {norm.max_weight_error: [error, {max: 0.1}]}"), ruleIDs)
	if err != nil {
		t.Fatal(err)
	}
	for rule, want := range map[string]string{
		"NM001 warn": "fail NM001 warn: NM001 costs", "CL004 error": "undecidable CL004 error: CL004 costs",
		"NM001 note": "undecidable ", "OV004 warn": "undecidable ",
	} {
		id, severity, _ := strings.Cut(rule, " ")
		r := Check(c, []*report.Report{with(made(1), found(id, report.Severity(severity), 1))}, nil,
			Options{AnyRanks: true})
		if got := string(r.Rows[0].Verdict) + " " + r.Rows[0].Finding; got != want {
			t.Errorf("%s: got %q, want %q", rule, got, want)
		}
	}
}

// TestExactly: a budget whose least is its most says how many, and both sides of it fail.
func TestExactly(t *testing.T) {
	c, err := Parse("f", []byte("version: 1\nbudgets: {rs.per_step: [error, {min: 2, max: 2}]}"), ruleIDs)
	if err != nil {
		t.Fatal(err)
	}
	for count, want := range map[int]Verdict{1: Fail, 2: Pass, 3: Fail} {
		r := Check(c, []*report.Report{with(made(1, 1), func(r *report.Report) {
			for i := range r.Groups {
				r.Groups[i].Count = count
			}
		})}, nil, Options{AnyRanks: true})
		if got := r.Rows[0]; got.Verdict != want || got.Limit != "min 2, max 2" {
			t.Errorf("%d: %s by %q, want %s", count, got.Verdict, got.Limit, want)
		}
	}
}

// TestWorked: of steps in which neither a backward pass nor a device is recorded, nothing is known.
func TestWorked(t *testing.T) {
	for _, test := range []struct {
		step report.Step
		want bool
	}{
		{report.Step{Complete: true}, false},
		{report.Step{Complete: true, MicroBatches: pick(0)}, false},
		{report.Step{Complete: true, Optimizers: []report.Optimizer{{}, {Accumulation: pick(0)}}}, false},
		{report.Step{Complete: true, MicroBatches: pick(1)}, true},
		{report.Step{Complete: true, LinkedEvents: 1}, true},
		{report.Step{Complete: true, Optimizers: []report.Optimizer{{}, {Accumulation: pick(1)}}}, true},
		{report.Step{LinkedEvents: 1, MicroBatches: pick(1)}, false},
	} {
		r := &report.Report{Steps: []report.Step{{}, test.step}}
		r.Source.WorldSize = pick(int64(1))
		if got := worked([]*report.Report{{}, r}); got != test.want {
			t.Errorf("%+v: %v, want %v", test.step, got, test.want)
		}
		if v := (&view{report: r}); v.single() != test.want {
			t.Errorf("%+v: a run of one rank: %v, want %v", test.step, v.single(), test.want)
		}
	}
}
