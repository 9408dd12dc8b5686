package gate

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/choice"
)

// made is a report by hand of one rank, with a step for each duration in ns.
func made(durations ...int64) *report.Report {
	world := int64(8)
	r := &report.Report{
		Schema: report.Schema,
		Source: report.Source{
			Files:       []string{"f"},
			Format:      "kineto",
			Device:      "GPU",
			WorldSize:   &world,
			Ranks:       []int64{0},
			StepSource:  "optimizer",
			Fingerprint: report.Fingerprint{Model: "m", Accumulation: []int{1}},
		},
	}
	r.Health.DeviceEvents = []report.DeviceEvents{{Count: 100, Unlinked: 20, Edge: 20}}
	for i, d := range durations {
		one, step := 1, i
		r.Steps = append(r.Steps, report.Step{
			Index:        i,
			Kind:         "A",
			Complete:     true,
			Duration:     &d,
			HostStart:    int64(i * 1000),
			HostDuration: 1000,
			MicroBatches: &one,
			Optimizers:   []report.Optimizer{{Name: "Adam", Accumulation: &one}},
			Ledger:       &report.Ledger{Compute: d - d/10, ReduceScatter: d / 10},
		})
		r.Groups = append(r.Groups, report.CollectiveGroup{
			Step:  &step,
			Kind:  "reduce_scatter",
			Site:  "optimizer_step",
			Count: 2,
			Busy:  10,
			Over:  4,
		})
	}
	r.Collectives = []report.Collectives{
		{
			Kind: "reduce_scatter",
			Sites: []report.LaunchSite{
				{Site: "optimizer_step", Count: 2 * len(durations)},
				{Site: "backward_hook", Count: 3},
				{Site: "unknown", Count: 5},
			},
		},
	}
	r.GradientSync = []report.GradientSync{{Pattern: "last_micro_batch", PerMicroBatch: []int{0, 0, 4}}}
	return r
}

// with changes a report.
func with(r *report.Report, change func(*report.Report)) *report.Report {
	change(r)
	return r
}

// idles makes every step of a millisecond idle for so long, a part of it for batches and
// the rest for a host that waits.
func idles(all, loading int64) func(*report.Report) {
	return func(r *report.Report) {
		for i := range r.Steps {
			s := &r.Steps[i]
			duration, gaps, bound, stall := int64(1_000_000), 4, int64(60_000), int64(20_000)
			s.Duration, s.Ledger = &duration, &report.Ledger{Compute: duration - all, Idle: all}
			s.Idle = &report.IdleCauses{DataLoading: loading, Synchronization: all - loading}
			s.LaunchGaps, s.LaunchBound, s.HostStall = &gaps, &bound, &stall
		}
	}
}

func problem(code, severity string) func(*report.Report) {
	return func(r *report.Report) {
		r.Health.Problems = append(r.Health.Problems, report.Problem{Code: code, Severity: severity, Message: code})
	}
}

// tens are n durations around 1000 ns; sets of the same n do not differ.
func tens(n int, factor float64) []int64 {
	var list []int64
	for i := range n {
		list = append(list, int64(factor*float64(1_000_000+1000*((i*7)%5))))
	}
	return list
}

func summary(r *Result) string {
	lines := []string{fmt.Sprintf("%s %d", r.Verdict, r.Exit.Code)}
	for _, row := range r.Rows {
		value := "-"
		if row.Value != nil {
			value = row.Unit.Format(*row.Value)
		}
		line := fmt.Sprintf("%s %s %s", row.Metric, row.Verdict, value)
		if row.Kind != "" {
			line += " of " + row.Kind
		}
		if row.Reason != "" {
			line += " (" + row.Reason + ")"
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// some are the options of a gate at a time of 1 March 2027, to which any ranks will do.
func some(hour, minute int) Options {
	return Options{AnyRanks: true, Now: time.Date(2027, 3, 1, hour, minute, 0, 0, time.UTC)}
}

func TestCheck(t *testing.T) {
	const (
		launched = "budgets: {rs.launched_in_optimizer: [error, {max: 16}]}"
		slower   = "regressions: {step.time: [error, {max_increase: 3%, min_delta: 10us, alpha: 0.01}]}"
		hostOnly = "budgets: {accumulation_steps: [error, {max: 1}]}"
	)
	ten, less := tens(10, 1), tens(4, 1)
	for _, test := range []struct {
		name, config string
		new, base    *report.Report
		want         string
	}{
		{"nothing in the report", launched, &report.Report{}, nil,
			"inconclusive 4\n" +
				"rs.launched_in_optimizer undecidable - (launch sites are unknown: record with " +
				"ProfilerActivity.CPU and CUDA, through optimizer.step())"},
		{
			"causes of idle time",
			"budgets: {idle.time: [error, {max: 0ms}], idle.ratio: [error, {max: 0.30}], " +
				"idle.data_loading.time: [error, {max: 0.2ms}], idle.synchronization.time: [error, {max: 0.1ms}], " +
				"idle.unlinked.time: [error, {max: 0ms}], launch_bound.time: [warn, {max: 0.05ms}], " +
				"host_stall.time: [error, {max: 0.02ms}]}",
			with(made(ten...), idles(300_000, 200_000)), nil,
			"failed 1\nidle.time fail 0.300 ms of Adam\nidle.ratio pass 30.00 % of Adam\n" +
				"idle.data_loading.time pass 0.200 ms of Adam\nidle.synchronization.time pass 0.100 ms of Adam\n" +
				"idle.unlinked.time pass 0.000 ms of Adam\n" +
				"launch_bound.time fail 0.060 ms of Adam\nhost_stall.time pass 0.020 ms of Adam",
		},
		{
			"a report without causes", "budgets: {idle.kernel_gap.time: [error, {max: 0ms}]}", made(ten...), nil,
			"inconclusive 4\nidle.kernel_gap.time undecidable - (" + missIdle + ")",
		},
		{"structure within", launched, made(tens(8, 1)...), nil, "passed 0\nrs.launched_in_optimizer pass 16"},
		{"structure beyond", launched, made(tens(9, 1)...), nil, "failed 1\nrs.launched_in_optimizer fail 18"},
		{
			"structure beyond, a warning", strings.ReplaceAll(launched, "error", "warn"), made(tens(9, 1)...), nil,
			"passed 0\nrs.launched_in_optimizer fail 18",
		},
		{
			"per step", "budgets: {rs.launched_in_optimizer.per_step: [error, {max: 2}]}", made(ten...), nil,
			"passed 0\nrs.launched_in_optimizer.per_step pass 2",
		},
		{
			"no launch site is known", launched,
			with(made(ten...), func(r *report.Report) { r.Collectives[0].Sites = r.Collectives[0].Sites[2:] }), nil,
			"inconclusive 4\nrs.launched_in_optimizer undecidable - (" + missSites + ")",
		},
		{
			"steps that are not those of an optimizer", launched,
			with(made(ten...), func(r *report.Report) { r.Source.StepSource = "profiler_step" }), nil,
			"inconclusive 4\nrs.launched_in_optimizer undecidable - (" + missSites + ")",
		},
		{"a truncated trace", launched, with(made(less...), problem("truncated", "warn")), nil,
			"inconclusive 4\nrs.launched_in_optimizer undecidable - (the trace is unhealthy: truncated)"},
		{
			"repaired damage", launched, with(made(less...), problem("bad_escape", "note")), nil,
			"passed 0\nrs.launched_in_optimizer pass 8",
		},
		{
			"damage that nobody knows", launched, with(made(less...), problem("eaten", "error")), nil,
			"inconclusive 4\nrs.launched_in_optimizer undecidable - (the trace is unhealthy: eaten)",
		},
		{
			"dropped device events do not touch the host", hostOnly,
			with(made(ten...), problem("dropped_device_events", "warn")), nil, "passed 0\naccumulation_steps pass 1",
		},
		{
			"but hide an error",
			"budgets: {accumulation_steps: [error, {max: 1}], rs.launched_in_optimizer: [error, {max: 16}]}",
			with(made(ten...), problem("dropped_device_events", "warn")), nil,
			"inconclusive 4\naccumulation_steps pass 1\n" +
				"rs.launched_in_optimizer undecidable - (the trace is unhealthy: dropped_device_events)",
		},
		{
			"durations that cannot be true touch overlap, and no launch sites",
			"budgets: {rs.overlap.ratio: [error, {min: 0.1}], rs.launched_in_optimizer: [error, {max: 20}]}",
			with(made(ten...), problem("overlong_device_event", "warn")), nil,
			"inconclusive 4\nrs.overlap.ratio undecidable - (the trace is unhealthy: overlong_device_event)\n" +
				"rs.launched_in_optimizer pass 20",
		},
		{
			"a failure is one whatever else is hidden",
			"budgets: {accumulation_steps: [error, {max: 0}], rs.launched_in_optimizer: [error, {max: 16}]}",
			with(made(ten...), problem("dropped_device_events", "warn")), nil,
			"failed 1\naccumulation_steps fail 1\n" +
				"rs.launched_in_optimizer undecidable - (the trace is unhealthy: dropped_device_events)",
		},
		{
			"launches were lost", launched,
			with(made(ten...), func(r *report.Report) { r.Health.DeviceEvents[0].Edge = 19 }), nil,
			"inconclusive 4\n" +
				"rs.launched_in_optimizer undecidable - (the trace is unhealthy: 1.0 % of the device events of rank " +
				"0 have no launch in the recording)",
		},
		{
			"times of ten steps", "budgets: {step.time: [error, {max: 1ms}], rs.overlap.ratio: [error, {min: 0.4}]}",
			made(ten...), nil,
			"failed 1\nstep.time fail 1.002 ms of Adam\nrs.overlap.ratio pass 40.00 % of Adam",
		},
		{"times of four steps do not gate", "budgets: {step.time: [error, {max: 1us}]}", made(less...), nil,
			"inconclusive 4\nstep.time undecidable 1.002 ms of Adam (low confidence: 4 steps of at least 5)"},
		{
			"few steps beside what is exact",
			"budgets: {step.time: [error, {max: 1us}], rs.per_step: [error, {max: 2}]}", made(less...), nil,
			"inconclusive 4\nstep.time undecidable 1.002 ms of Adam (low confidence: 4 steps of at least 5)\n" +
				"rs.per_step pass 2",
		},
		{
			"the last steps", "select: {steps: 'last:6', aggregate: max}\nbudgets: {step.time: [error, {max: 5ms}]}",
			made(append([]int64{9e6, 9e6}, tens(6, 1)...)...), nil, "passed 0\nstep.time pass 1.004 ms of Adam",
		},
		{
			"the greatest", "select: {aggregate: max}\nbudgets: {step.time: [error, {max: 5ms}]}",
			made(append([]int64{9e6, 9e6}, tens(6, 1)...)...), nil, "failed 1\nstep.time fail 9.000 ms of Adam",
		},
		{
			"without warm-up", "select: {skip_warmup: 2, aggregate: max}\nbudgets: {step.time: [error, {max: 5ms}]}",
			made(append([]int64{9e6, 9e6}, tens(6, 1)...)...), nil, "passed 0\nstep.time pass 1.004 ms of Adam",
		},
		{
			"steps that there are not", "select: {steps: '50:60'}\nbudgets: {reductions.per_step: [error, {max: 1}]}",
			made(ten...), nil, "inconclusive 4\nreductions.per_step pass 1",
		},
		{
			"a failure without a step", "select: {steps: '50:60'}\nbudgets: {reductions.per_step: [error, {max: 0}]}",
			made(ten...), nil, "failed 1\nreductions.per_step fail 1",
		},
		{
			"nothing behind the warm-up",
			"select: {skip_warmup: 10}\nbudgets: {reductions.per_step: [error, {max: 1}]}", made(ten...), nil,
			"inconclusive 4\nreductions.per_step pass 1",
		},
		{
			"warm-up that was found", "select: {aggregate: max}\nbudgets: {step.time: [error, {max: 5ms}]}",
			with(made(append([]int64{9e6, 9e6}, tens(6, 1)...)...), func(r *report.Report) {
				r.Findings = []report.Finding{
					{
						Rule:     "TH006",
						Severity: "warn",
						Evidence: []report.Evidence{{Start: 10}, {Start: 1500}, {Start: 6500}},
					},
				}
			}), nil, "passed 0\nstep.time pass 1.004 ms of Adam",
		},
		{"no device", "budgets: {step.time: [error, {max: 5ms}]}", with(made(ten...), func(r *report.Report) {
			for i := range r.Steps {
				r.Steps[i].Duration = nil
			}
		}), nil, "inconclusive 4\nstep.time undecidable - (" + hostless + ")"},
		{
			"no parameters, no passes", "budgets: {grad.scale.needless: [error, {max: 0}]}",
			with(made(ten...), func(r *report.Report) { r.Source.Fingerprint.Model = "unknown" }), nil,
			"inconclusive 4\ngrad.scale.needless undecidable - (" + missShapes + ")",
		},
		{
			"a needless pass", "budgets: {grad.scale.needless: [error, {max: 0}]}",
			with(made(ten...), func(r *report.Report) {
				r.GradientPasses = []report.GradientPass{{Step: 3, Kind: "scale", Verdict: "needless", Span: 10}}
			}), nil, "failed 1\ngrad.scale.needless fail 1",
		},
		{
			"reduced in every micro-batch",
			"budgets: {reductions.per_step: [error, {max: 1}], reductions.collectives_per_step: [error, {max: 4}]}",
			with(made(ten...), func(r *report.Report) {
				r.GradientSync[0].PerMicroBatch = []int{4, 4}
			}), nil, "failed 1\nreductions.per_step fail 2\nreductions.collectives_per_step fail 8",
		},
		{
			"weights of tokens", "budgets: {norm.max_weight_error: [error, {max: 1e-3}]}",
			with(made(ten...), func(r *report.Report) {
				r.Normalization = report.Normalization{
					Mode:  "micro_mean",
					Basis: "gradients",
					Ratio: &report.WeightRatio{Min: 0.25, Max: 1.5},
				}
			}), nil, "failed 1\nnorm.max_weight_error fail 75.00 %",
		},
		{
			"the user's word is no proof",
			"job: {norm: global}\nbudgets: {norm.max_weight_error: [error, {max: 1e-3}]}",
			with(made(ten...), func(r *report.Report) {
				r.Normalization = report.Normalization{
					Mode:  "global",
					Basis: "declared",
					Ratio: &report.WeightRatio{Min: 1, Max: 1},
				}
			}), nil, "inconclusive 4\nnorm.max_weight_error undecidable - (" + choice.Name(missTokens, nil) + ")",
		},
		{"another way of normalising", "job: {norm: global}\n" + hostOnly, with(made(ten...), func(r *report.Report) {
			r.Normalization = report.Normalization{Mode: "per_rank", Basis: "loss log"}
		}), nil, "failed 1\nnormalization fail - (it is per_rank, by the loss log)\naccumulation_steps pass 1"},
		{
			"another job", "job: {accum: 4}\n" + hostOnly, made(ten...), nil,
			"failed 1\naccumulation_steps fail 1 (the trace is of a different job than the configuration declares)\n" +
				"accumulation_steps pass 1",
		},
		{
			"findings", "budgets: {findings.warn: [error, {max: 0}]}",
			with(made(ten...), func(r *report.Report) {
				r.Findings = []report.Finding{{Rule: "GS002", Severity: "warn"}}
			}), nil, "failed 1\nfindings.warn fail 1",
		},
		{
			"an ignored finding",
			"budgets: {findings.warn: [error, {max: 0}]}\nignore: [{rule: GS002, reason: later, until: 2027-03-01}]",
			with(made(ten...), func(r *report.Report) {
				r.Findings = []report.Finding{{Rule: "GS002", Severity: "warn"}}
			}), nil, "passed 0\nfindings.warn pass 0",
		},
		{
			"an ignore that expired",
			"budgets: {findings.warn: [error, {max: 0}]}\nignore: [{rule: GS002, reason: later, until: 2027-02-28}]",
			with(made(ten...), func(r *report.Report) {
				r.Findings = []report.Finding{{Rule: "GS002", Severity: "warn"}}
			}), nil, "failed 1\nfindings.warn fail 1",
		},
		{
			"an ignored metric", launched + "\nignore: [{rule: rs.launched_in_optimizer, reason: later}]",
			made(tens(9, 1)...), nil, "passed 0\nrs.launched_in_optimizer ignored 18 (later)",
		},

		{"the same twice", slower, made(ten...), made(ten...), "passed 0\nstep.time pass 1.002 ms of Adam"},
		{"slower", slower, made(tens(10, 1.1)...), made(ten...), "failed 1\nstep.time fail 1.102 ms of Adam"},
		{
			"slower by less than the share", slower, made(tens(10, 1.02)...), made(ten...),
			"passed 0\nstep.time pass 1.022 ms of Adam",
		},
		{
			"slower by less than the least", strings.ReplaceAll(slower, "10us", "1ms"), made(tens(10, 1.1)...),
			made(ten...), "passed 0\nstep.time pass 1.102 ms of Adam",
		},
		{
			"slower, but not significantly", slower, made(1e6, 1e6, 1e6, 2e6, 2e6, 2e6, 2e6),
			made(1e6, 1e6, 1e6, 1e6, 2e6, 2e6, 2e6), "passed 0\nstep.time pass 2.000 ms of Adam",
		},
		{"faster", slower, made(tens(10, 0.5)...), made(ten...), "passed 0\nstep.time pass 0.501 ms of Adam"},
		{
			"overlap that shrinks", "regressions: {rs.overlap.ratio: [error, {max_decrease: 10%}]}",
			with(made(ten...), func(r *report.Report) {
				for i := range r.Groups {
					r.Groups[i].Over = 3
				}
			}), made(ten...), "failed 1\nrs.overlap.ratio fail 30.00 % of Adam",
		},
		{
			"few steps on one side", slower, made(ten...), made(less...),
			"inconclusive 4\nstep.time undecidable 1.002 ms of Adam (low confidence: 4 against 10 steps of at least 5)",
		},
		{
			"a significance that so few steps cannot reach",
			"regressions: {step.time: [error, {max_increase: 1%, alpha: 0.001}]}", made(tens(5, 2)...),
			made(tens(5, 1)...),
			"inconclusive 4\nstep.time undecidable 2.004 ms of Adam (5 against 5 steps cannot reach p < 0.001)",
		},
		{"another device", slower, made(ten...), with(made(ten...), func(r *report.Report) { r.Source.Device = "CPU" }),
			"inconclusive 4\n" +
				"step.time undecidable - (the baseline is of a different experiment: device: CPU in the baseline, " +
				"GPU here)"},
		{
			"a model that one side does not know", slower, made(ten...),
			with(made(ten...), func(r *report.Report) { r.Source.Fingerprint.Model = "unknown" }),
			"inconclusive 4\n" +
				"step.time undecidable - (the baseline is of a different experiment: model: unknown in the baseline, " +
				"m here)",
		},
		{
			"another accumulation, and budgets that pass", hostOnly, made(ten...),
			with(made(ten...), func(r *report.Report) { r.Source.Fingerprint.Accumulation = []int{4} }),
			"inconclusive 4\naccumulation_steps pass 1",
		},
		{"a damaged baseline", slower, made(ten...), with(made(ten...), problem("truncated", "warn")),
			"inconclusive 4\nstep.time undecidable - (in the baseline, the trace is unhealthy: truncated)"},
		{
			"more collectives", "regressions: {rs.per_step: [error, {max_increase: 0}]}",
			with(made(less...), func(r *report.Report) { r.Groups[2].Count = 3 }), made(less...),
			"failed 1\nrs.per_step fail 3",
		},
		{
			"fewer collectives", "regressions: {rs.per_step: [error, {max_increase: 1, max_decrease: 0}]}",
			with(made(less...), func(r *report.Report) { r.Groups[2].Count = 1 }), made(less...),
			"failed 1\nrs.per_step fail 1",
		},
		{"a kind on one side", slower, with(made(ten...), func(r *report.Report) {
			for i := range r.Steps {
				r.Steps[i].Optimizers[0].Name = "SGD"
			}
		}), made(ten...),
			"inconclusive 4\n" +
				"step.time undecidable - of Adam (no complete step of this kind, which the baseline has)\n" +
				"step.time undecidable - of SGD (the baseline has no complete step of this kind)"},
		{
			"a regression without a baseline", hostOnly + "\n" + slower, made(ten...), nil,
			"passed 0\naccumulation_steps pass 1",
		},
	} {
		c, err := Parse("f", []byte("version: 1\n"+test.config), ruleIDs)
		if err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		var base []*report.Report
		if test.base != nil {
			base = append(base, test.base)
		}
		before, _ := json.Marshal(test.new)
		r := Check(c, []*report.Report{test.new}, base, some(23, 59))
		if got := summary(r); got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.name, got, test.want)
		}
		if after, _ := json.Marshal(test.new); string(after) != string(before) {
			t.Errorf("%s: the report was changed", test.name)
		}
		again := Check(c, []*report.Report{test.new}, base, some(23, 59))
		if fmt.Sprint(again.Summary, again.Notes) != fmt.Sprint(r.Summary, r.Notes) {
			t.Errorf("%s: twice is not the same", test.name)
		}
	}
}

// Several traces a side are pooled by kind: three of two steps are six.
func TestPooled(t *testing.T) {
	c, err := Parse("f", []byte("version: 1\nbudgets: {step.time: [error, {max: 2ms}]}"), ruleIDs)
	if err != nil {
		t.Fatal(err)
	}
	one := made(tens(2, 1)...)
	r := Check(c, []*report.Report{one, one, one}, nil, Options{AnyRanks: true})
	if got := summary(r); got != "passed 0\nstep.time pass 1.001 ms of Adam" || r.Rows[0].Steps != 6 {
		t.Errorf("%s, %d steps", got, r.Rows[0].Steps)
	}
	r = Check(c, []*report.Report{one, one}, nil, Options{AnyRanks: true})
	if r.Record == nil || *r.Record != 10 || r.Exit.Code != 4 {
		t.Errorf("%+v", r)
	}
}

func TestNotes(t *testing.T) {
	c, err := Parse("f",
		[]byte("version: 1\nbudgets: {accumulation_steps: [error, {max: 1}]}\n"+
			"regressions: {step.time: [error, {max_increase: 0}]}\nignore:\n"+
			"- {rule: GS001, reason: a, until: 2027-02-28}\n- {rule: GS002, reason: b}\n"), ruleIDs)
	if err != nil {
		t.Fatal(err)
	}
	r := Check(c, []*report.Report{made(1, 2)}, nil, some(0, 0))
	want := "1 regression not judged: no baseline\n" +
		"f:5:4: the ignore of GS001 expired on 2027-02-28 and no longer has any effect: a\n" +
		"f:6:4: the ignore of GS002 matches nothing"
	if got := strings.Join(r.Notes, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// What differs between two sides of one experiment is said.
func TestUnlikeRanks(t *testing.T) {
	c, err := Parse("f", []byte("version: 1\nbudgets: {accumulation_steps: [error, {max: 1}]}"), ruleIDs)
	if err != nil {
		t.Fatal(err)
	}
	r := Check(c, []*report.Report{made(1)},
		[]*report.Report{with(made(1), func(r *report.Report) { r.Source.Ranks = []int64{0, 1} })},
		Options{AnyRanks: true})
	got := strings.Join(r.Notes, "\n")
	if got != "the baseline differs in its ranks: 0-1, here 0\n"+
		"0 regressions configured: nothing is compared with the baseline" || r.Exit.Code != exitOK {
		t.Errorf("exit %d: %s", r.Exit.Code, got)
	}
}

// A count of findings that is too great quotes them.
func TestQuoted(t *testing.T) {
	c, err := Parse("f", []byte("version: 1\nbudgets: {findings.warn: [error, {max: 0}]}"), ruleIDs)
	if err != nil {
		t.Fatal(err)
	}
	r := with(made(1, 2), found("OV004", "note", 1))
	for _, rule := range []string{"A", "B", "C", "D", "E"} {
		found(rule, "warn", 1)(r)
	}
	got := Check(c, []*report.Report{r}, nil, Options{AnyRanks: true}).Rows[0].Finding
	if want := "A warn: A costs; B warn: B costs; C warn: C costs; and 2 more"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Findings gate where the command asks for it.
func TestFailOn(t *testing.T) {
	r := with(made(1), func(r *report.Report) {
		r.Findings = []report.Finding{
			{Rule: "OV004", Severity: "warn", Message: "m"},
			{Rule: "GS002", Severity: "note"},
		}
	})
	for severity, want := range map[report.Severity]string{
		"off": "passed 0", "error": "passed 0", "warn": "failed 1\nOV004 fail - (warn: m)",
		"note": "failed 1\nOV004 fail - (warn: m)\nGS002 fail - (note: )",
	} {
		o := Options{AnyRanks: true, FailOn: severity}
		if got := summary(Check(Config{}, []*report.Report{r}, nil, o)); got != want {
			t.Errorf("%s: got %s, want %s", severity, got, want)
		}
	}
}

func TestLeastP(t *testing.T) {
	for _, c := range []struct {
		n, m int
		want float64
	}{{4, 4, 2.0 / 70}, {5, 5, 2.0 / 252}, {1, 1, 1}, {3, 10, 2.0 / 286}} {
		if got := leastP(c.n, c.m); got < c.want*0.999 || got > c.want*1.001 {
			t.Errorf("%d against %d: %v, want %v", c.n, c.m, got, c.want)
		}
	}
}

func TestValues(t *testing.T) {
	for _, c := range []struct {
		unit Unit
		text string
		want float64
		ok   bool
	}{
		{Nanoseconds, "5ms", 5e6, true}, {Nanoseconds, "0", 0, true}, {Nanoseconds, "0.5 us", 500, true},
		{Nanoseconds, "1s", 1e9, true}, {Nanoseconds, "7ns", 7, true}, {Nanoseconds, "5", 0, false},
		{Nanoseconds, "5%", 0, false}, {Ratio, "80%", 0.8, true}, {Ratio, "1e-6", 1e-6, true},
		{Ratio, "0x1p3", 0, false}, {Ratio, "NaN", 0, false}, {Bytes, "4MB", 4e6, true}, {Bytes, "12", 12, true},
		{Bytes, "40GB", 4e10, true}, {Bytes, "1.5 GiB", 1.5 * (1 << 30), true}, {Bytes, "2TB", 2e12, true},
		{Bytes, "8 MiB", 8 << 20, true}, {Bytes, "4GHz", 0, false},
		{Count, "16", 16, true}, {Count, "", 0, false}, {Count, "1_000", 0, false}, {Count, "1e999", 0, false},
	} {
		if got, ok := c.unit.value(c.text); ok != c.ok || ok && (got < c.want*0.999 || got > c.want*1.001) {
			t.Errorf("%s %q: %v %v", c.unit, c.text, got, ok)
		}
	}
}
