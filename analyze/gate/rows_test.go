package gate

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/report"
)

// rowsGolden is what a person reads of results: the verdict, what was noted, and every row.
var rowsGolden = filepath.Join("testdata", "rows.golden")

// said writes a result: its verdict, its notes, and of each row everything that it says.
func said(r *Result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "  %s %d %s: %s\n", r.Verdict, r.Exit.Code, r.Extends, r.Summary)
	if r.Record != nil {
		fmt.Fprintf(&b, "  record %d steps\n", *r.Record)
	}
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "  note: %s\n", n)
	}
	for i := range r.Rows {
		b.WriteString(saidOf(&r.Rows[i]))
	}
	return b.String()
}

func saidOf(r *Row) string {
	var b strings.Builder
	fmt.Fprintf(&b, "  %s %s %s %s", r.Severity, r.Check, r.Metric, r.Verdict)
	say := func(format string, v any) {
		if s := fmt.Sprint(v); s != "" && s != "0" && s != "false" {
			fmt.Fprintf(&b, format, v)
		}
	}
	say(" of %s", r.Kind)
	if r.Value != nil {
		fmt.Fprintf(&b, " %s", r.Unit.Format(*r.Value))
	}
	if r.BaselineValue != nil {
		fmt.Fprintf(&b, " against %s", r.Unit.Format(*r.BaselineValue))
	}
	if r.P != nil {
		fmt.Fprintf(&b, " p=%.2g", *r.P)
	}
	say(" (%s)", r.Limit)
	say(" in %d steps", r.Steps)
	say(" against %d", r.BaselineSteps)
	if r.Rank != nil {
		fmt.Fprintf(&b, " at rank %d", *r.Rank)
	}
	if r.Step != nil {
		fmt.Fprintf(&b, " at step %d", *r.Step)
	}
	say(" bad data %v", r.BadData)
	say(" tolerated %v", r.Tolerated)
	b.WriteByte('\n')
	for _, line := range [][2]string{{"where", r.Where}, {"reason", r.Reason}, {"next", r.Next}, {"found", r.Finding}} {
		if line[1] != "" {
			fmt.Fprintf(&b, "    %s: %s\n", line[0], line[1])
		}
	}
	return b.String()
}

// judgedCase is a configuration and two sides.
type judgedCase struct {
	name, config string
	new, base    *report.Report
	options      Options // any ranks will do unless its FailOn is "ranks"
}

// TestRowsText holds whole results of all kinds of rows in one file.
func TestRowsText(t *testing.T) {
	var b strings.Builder
	for _, c := range judgedCases() {
		config, err := Parse("f", []byte("version: 1\n"+c.config), ruleIDs)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		var base []*report.Report
		if c.base != nil {
			base = append(base, c.base)
		}
		o := c.options
		if o.AnyRanks = o.FailOn != "ranks"; !o.AnyRanks {
			o.FailOn = ""
		}
		o.Now = some(0, 0).Now
		fmt.Fprintf(&b, "%s\n%s", c.name, said(Check(config, []*report.Report{c.new}, base, o)))
	}
	sameGolden(t, rowsGolden, b.String())
}

func sameGolden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	g, w := strings.Split(got, "\n"), strings.Split(string(want), "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			t.Fatalf("%s:%d differs (-update writes it):\n got %s\nwant %s", file, i+1, g[i], w[i])
		}
	}
	if len(g) != len(w) {
		t.Errorf("%s has %d lines instead of %d (-update writes it)", file, len(w), len(g))
	}
}

// eachStep changes every step.
func eachStep(change func(i int, s *report.Step)) func(*report.Report) {
	return func(r *report.Report) {
		for i := range r.Steps {
			change(i, &r.Steps[i])
		}
	}
}

// eventsOf says how many device events each step has, and how many each of four kernels.
func eventsOf(events, kernel int) func(*report.Report) {
	return func(r *report.Report) {
		eachStep(func(_ int, s *report.Step) { s.LinkedEvents = events })(r)
		for _, name := range []string{"a", "b", "c", "d"} {
			r.Kernels = append(r.Kernels, report.Kernel{Name: name, Count: kernel * len(r.Steps)})
		}
	}
}

// inParts gives a mean step parts, such as "idle 50" in us; a rule claims those with a mark.
func inParts(rule string, parts ...string) func(*report.Report) {
	return func(r *report.Report) {
		r.Time = &report.Time{Of: "step", Count: len(r.Steps)}
		for _, text := range parts {
			var p report.Part
			text, claimed := strings.CutSuffix(text, "!")
			fmt.Sscanf(text, "%s %d", &p.What, &p.Mean)
			p.Mean *= 1000
			if claimed {
				p.Claims = []report.PartClaim{{Rule: rule, Mean: p.Mean}}
			}
			r.Time.Parts = append(r.Time.Parts, p)
		}
	}
}

func judgedCases() []judgedCase {
	ten := func() *report.Report { return made(tens(10, 1)...) }
	four := func() *report.Report { return made(tens(4, 1)...) }
	ranks := Options{FailOn: "ranks"}
	healthy := func() *report.Report {
		return with(twoRanks(), func(r *report.Report) { r.Health.DeviceEvents[0].Edge = 29 })
	}
	const (
		slower = "regressions: {step.time: [error, {max_increase: 3%, min_delta: 10us}]}"
		isNew  = "regressions: {findings.new: [error, {max_increase: 0}]}"
		accum  = "budgets: {accumulation_steps: [error, {max: 1}]}"
	)
	return []judgedCase{
		{"the worst step of the worst rank", "budgets: {device.events.per_step: [error, {max: 100}]}", healthy(), nil,
			Options{}},
		{"the least against a minimum", "budgets: {device.events.per_step: [warn, {min: 41}]}", healthy(), nil,
			Options{}},
		{"below a range", "budgets: {device.events.per_step: [error, {min: 41, max: 2000}]}", healthy(), nil,
			Options{}},
		{"the greatest of a range that holds", "budgets: {device.events.per_step: [error, {min: 40, max: 1140}]}",
			healthy(), nil, Options{}},
		{"of ranks, in few steps", "budgets: {wait.max: [error, {max: 1s}], wait.caused.max: [error, {max: 1ns, " +
			"unknown: ok}]}", healthy(), nil, Options{}},
		{"of ranks, in few steps, tolerated", "budgets: {wait.max: [error, {max: 35ns, unknown: ok}]}", healthy(), nil,
			Options{}},
		{"of ranks, in enough steps", "budgets: {wait.max: [error, {max: 1us}], comm.overlap.ratio: [error, {min: " +
			"0.6}]}", with(ten(), func(r *report.Report) {
			r.Ranks = []report.RankWaits{{Wait: pick(int64(20_000))}}
			r.Communication = []report.Communication{{Overlap: report.Overlap{Ratio: pick(0.5)}}}
		}), nil, Options{}},
		{"few steps", "budgets: {step.time: [error, {max: 2ms}]}", four(), nil, Options{}},
		{"few steps, tolerated", "budgets: {step.time: [error, {max: 2ms, unknown: ok}]}", four(), nil, Options{}},
		{"few steps, beyond, not tolerated", "budgets: {step.time: [error, {max: 1us, unknown: ok}]}", four(), nil,
			Options{}},
		{"five steps", "budgets: {step.time: [error, {max: 1us}]}", made(tens(5, 1)...), nil, Options{}},
		{"one step tolerates nothing", "budgets: {collectives.mismatched: [error, {max: 0, unknown: ok}]}", made(1e6),
			nil, Options{}},
		{"two steps do", "budgets: {collectives.mismatched: [error, {max: 0, unknown: ok}]}", made(1e6, 1e6), nil,
			Options{}},
		{"a time that fails, and the rule that explains it",
			"budgets: {rs.exposed.time: [error, {max: 10us}]}",
			with(with(ten(), found("OV001", "note", 3)), found("GS001", "warn", 3)), nil, Options{}},
		{"a count of warnings, one ignored",
			"budgets: {findings.warn: [error, {max: 0}]}\nignore: [{rule: GS001, reason: later}]",
			with(with(with(ten(), found("OV001", "warn", 3)), found("GS001", "warn", 3)), found("OV004", "note", 1)),
			nil, Options{}},
		{"four findings are quoted as three", "budgets: {findings.warn: [error, {max: 0}]}",
			with(with(with(with(ten(), found("A", "warn", 3)), found("B", "warn", 3)), found("C", "warn", 1)),
				found("D", "warn", 1)), nil, Options{}},
		{"three findings are quoted", "budgets: {findings.warn: [error, {max: 0}]}",
			with(with(with(ten(), found("A", "warn", 3)), found("B", "warn", 3)), found("C", "warn", 1)), nil,
			Options{}},
		{"findings that may not be there", accum, with(with(ten(), found("OV001", "error", 3000)), found("GS001",
			"warn", 0)), nil, Options{FailOn: "error"}},
		{"findings that may be there", accum, with(ten(), found("OV001", "error", 3000)), nil, Options{FailOn: "off"}},

		{"nothing is compared", accum, ten(), ten(), Options{}},
		{"no baseline yet", slower, ten(), nil, Options{FirstRun: true}},
		{"no baseline, and nothing of the file's to compare", accum, ten(), nil, Options{}},
		{"no baseline, and two to compare", accum + "\nregressions: {step.time: [error, {max_increase: 3%}], " +
			"micro_batches: [error, {max_increase: 0}]}", ten(), nil, Options{}},
		{"slower", slower, made(tens(10, 1.2)...), ten(), Options{}},
		{"slower, few steps", slower, made(tens(4, 1.2)...), ten(), Options{}},
		{"slower, few steps of the baseline", slower, ten(), made(tens(2, 1.2)...), Options{}},
		{"not slower, few steps, tolerated",
			"regressions: {step.time: [error, {max_increase: 3%, unknown: ok}]}", four(), ten(), Options{}},
		{"slower, few steps, not tolerated",
			"regressions: {step.time: [error, {max_increase: 3%, unknown: ok}]}", made(tens(4, 1.2)...), ten(),
			Options{}},
		{"another experiment", slower, ten(), with(ten(), func(r *report.Report) { r.Source.Device = "CPU" }),
			Options{}},
		{"of an unknown world", slower, ten(), with(ten(), func(r *report.Report) { r.Source.WorldSize = nil }),
			Options{}},
		{"a damaged side", slower, with(ten(), problem("truncated", "warn")), ten(), Options{}},
		{"a damaged baseline", slower, ten(), with(ten(), problem("truncated", "warn")), Options{}},
		{"more collectives, and a rule that explains it",
			"regressions: {rs.launched_in_optimizer.per_step: [error, {max_increase: 0}], collectives.per_step: " +
				"[error, {max_increase: 10%}]}", with(with(ten(), func(r *report.Report) { r.Groups[4].Count = 3 }),
				found("OV004", "warn", 7)), ten(), Options{}},
		{"of two kinds of step", "regressions: {device.events.per_step: [error, {max_increase: 0}]}",
			with(ten(), eachStep(func(i int, s *report.Step) {
				s.Optimizers[0].Name, s.LinkedEvents = []string{"A", "B"}[i%2], 5+i%2
			})), with(ten(), eachStep(func(i int, s *report.Step) {
				s.Optimizers[0].Name, s.LinkedEvents = []string{"A", "B"}[i%2], 5
			})), Options{}},
		{"of two kinds, one step of each in the baseline",
			"regressions: {device.events.per_step: [error, {max_increase: 0}]}",
			with(made(1, 1, 1), eachStep(func(i int, s *report.Step) {
				s.Optimizers[0].Name, s.LinkedEvents = []string{"A", "B", "B"}[i], []int{5, 7, 7}[i]
			})), with(made(1, 1), eachStep(func(i int, s *report.Step) {
				s.Optimizers[0].Name, s.LinkedEvents = []string{"A", "B"}[i], 5
			})), Options{}},
		{"memory of a recording without steps", "budgets: {memory.peak: [error, {max: 1GB}]}",
			&report.Report{Memory: []report.Memory{{Rank: 2, Kind: "cuda", Device: "0", PeakAllocated: 41e9}}}, nil,
			Options{}},
		{"of no kind in common", "regressions: {device.events.per_step: [error, {max_increase: 0}]}",
			with(ten(), eachStep(func(_ int, s *report.Step) { s.Optimizers[0].Name = "B" })), ten(), Options{}},
		{"of the run", "regressions: {reductions.missing: [error, {max_increase: 0}]}",
			with(ten(), func(r *report.Report) { r.GradientSync[0].Pattern = "none" }), ten(), Options{}},
		{"a third fewer device events", slower, with(ten(), eventsOf(69, 20)), with(ten(), eventsOf(100, 20)),
			Options{}},
		{"exactly seven tenths", slower, with(ten(), eventsOf(70, 20)), with(ten(), eventsOf(100, 20)), Options{}},
		{"a few less of each kernel", slower, with(ten(), eventsOf(94, 18)), with(ten(), eventsOf(100, 20)), Options{}},
		{"less of each kernel, but not fewer", slower, with(ten(), eventsOf(95, 18)), with(ten(), eventsOf(100, 20)),
			Options{}},
		{"no collective on the device any more", slower, with(ten(), func(r *report.Report) { r.Collectives = nil }),
			with(ten(), func(r *report.Report) { r.Collectives[0].Count = 1 }), Options{}},
		{"no collective, and nothing reduced", slower, with(ten(), func(r *report.Report) {
			r.Collectives, r.GradientSync[0].Pattern = nil, "none"
		}), with(ten(), func(r *report.Report) { r.Collectives[0].Count = 1 }), Options{}},
		{"nothing new", isNew, ten(), ten(), Options{}},
		{"a new finding about the recording", isNew, with(ten(), found("TH001", "error", 0)), ten(), Options{}},
		{"three times the cost", isNew, with(ten(), found("OV001", "error", 3000)), with(ten(), found("OV001", "warn",
			1000)), Options{}},
		{"idle time that moved", isNew, with(with(ten(), found("ID005", "warn", 5)), inParts("ID005", "compute 9",
			"idle 50!")), with(ten(), inParts("ID001", "compute 9", "idle 50!")), Options{}},
		{"idle time and communication", isNew, with(with(ten(), found("ID005", "warn", 5)), inParts("ID005",
			"all_gather 9!", "idle 50!")), with(ten(), inParts("ID001", "all_gather 10", "idle 60!")), Options{}},
		{"all-gathers that moved", isNew, with(with(ten(), found("OV009", "warn", 5)), inParts("OV009",
			"all_gather 9!", "idle 50")), with(ten(), inParts("ID001", "all_gather 10", "idle 60!")), Options{}},
		{"of no step", isNew, with(with(ten(), found("OV009", "warn", 5)), inParts("OV009", "all_gather 9!")),
			with(ten(), func(r *report.Report) { r.Time = &report.Time{Of: "recording", Count: 1} }), Options{}},

		{"a rank of eight", "budgets: {step.time: [error, {max: 2ms}], micro_batches: [error, {max: 1}]}", ten(), nil,
			ranks},
		{"a rank of eight, too slow", "budgets: {step.time: [error, {max: 1ns}]}", ten(), nil, ranks},
		{"a rank of eight, in few steps", "budgets: {step.time: [error, {max: 2ms, unknown: ok}]}", four(), nil, ranks},
		{"a rank of eight, all asked for", "job: {ranks: all}\n" + accum, ten(), nil, ranks},
		{"a rank, two asked for", "job: {ranks: 2}\n" + accum, ten(), nil, ranks},
		{"a rank, one asked for", "job: {ranks: 1}\nbudgets: {step.time: [error, {max: 2ms}]}", ten(), nil, ranks},
		{"a rank, any asked for", "job: {ranks: any}\nbudgets: {step.time: [error, {max: 2ms}]}", ten(), nil, ranks},
		{"a rank without a step", "job: {ranks: all}\n" + accum, with(ten(), eachStep(func(_ int, s *report.Step) {
			s.Complete = false
		})), nil, ranks},

		{"another accumulation", "job: {accum: 3}\n" + accum, with(ten(), eachStep(func(i int, s *report.Step) {
			s.Optimizers[0].Accumulation = pick(1 + i%2)
		})), nil, Options{}},
		{"accumulation by forward passes", "job: {accum: 3}", with(ten(), eachStep(func(_ int, s *report.Step) {
			s.MicroBatches = pick(3)
		})), nil, Options{}},
		{"an accumulation that is not known", "job: {accum: 3}", with(ten(), eachStep(func(_ int, s *report.Step) {
			s.Optimizers[0].Accumulation = nil
		})), nil, Options{}},
		{"accumulation in a damaged trace", "job: {accum: 3}", with(ten(), problem("truncated", "warn")), nil,
			Options{}},
		{"an ignore does not touch the job",
			"job: {accum: 3}\nbudgets: {accumulation_steps: [error, {max: 0}]}\n" +
				"ignore: [{rule: accumulation_steps, reason: later, until: 2027-03-01}]", ten(), nil, Options{}},
		{"another normalization", "job: {norm: global}", with(ten(), func(r *report.Report) {
			r.Normalization = report.Normalization{Mode: "per_rank", Basis: "trace"}
		}), nil, Options{}},
		{"the declared normalization", "job: {norm: global}", with(ten(), func(r *report.Report) {
			r.Normalization = report.Normalization{Mode: "global", Basis: "trace"}
		}), nil, Options{}},
		{"weights of some steps", "budgets: {norm.max_weight_error: [error, {max: 1e-3, unknown: ok}]}",
			with(parametric(tens(10, 1)...), func(r *report.Report) { r.Normalization.UnknownSteps = 2 }), nil,
			Options{}},
		{"wrong weights of some steps", "budgets: {norm.max_weight_error: [error, {max: 1e-3}]}",
			with(parametric(tens(10, 1)...), func(r *report.Report) {
				r.Normalization.UnknownSteps, r.Normalization.Ratio.Min = 2, 0.5
			}), nil, Options{}},
		{"weights that a finding contradicts", "budgets: {norm.max_weight_error: [error, {max: 1e-3, unknown: ok}]}",
			with(parametric(tens(10, 1)...), found("CL004", "warn", 0)), nil, Options{}},
		{"weights that an ignored finding contradicts",
			"budgets: {norm.max_weight_error: [error, {max: 1e-3}]}\nignore: [{rule: GS001, reason: x}]",
			with(parametric(tens(10, 1)...), found("GS001", "warn", 0)), nil, Options{}},
		{"a preset without anything", "extends: gaprof:off", ten(), nil, Options{}},
		{"strict", "extends: gaprof:strict", healthy(), nil, Options{}},
	}
}
