package gate

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/trace"
)

// kinds of damage by name, in the order of their bits.
var damageNames = []struct {
	bit  damage
	name string
}{{hostEvents, "host"}, {deviceEvents, "device"}, {clocks, "clocks"}, {streams, "streams"}, {links, "links"}}

func (d damage) names() string {
	var list []string
	for _, n := range damageNames {
		if d&n.bit != 0 {
			list = append(list, n.name)
		}
	}
	return strings.Join(list, " ")
}

// TestTouched: what damage makes a metric worth nothing. Times need devices, clocks and
// launches; what hides what needs streams; counts of the host's side need its events.
func TestTouched(t *testing.T) {
	const device, hidden, launched = "device clocks links", "device clocks streams links", "host device links"
	want := map[string][]string{
		device: {"step.time", "compute.time", "memory.time", "idle.time", "idle.ratio", "idle.data_loading.time",
			"idle.synchronization.time", "idle.memory_management.time", "idle.compilation.time", "idle.optimizer.time",
			"idle.host_operators.time", "idle.no_operator.time", "idle.launch_latency.time", "idle.kernel_gap.time",
			"idle.profiler.time", "idle.queued_wait.time", "idle.unlinked.time", "launch_bound.time",
			"host_stall.time"},
		hidden: {"comm.exposed.time", "rs.exposed.time", "ag.exposed.time", "ar.exposed.time", "rs.overlap.ratio",
			"ag.overlap.ratio", "ar.overlap.ratio"},
		"host clocks":              {"step.host_time"},
		"device clocks streams":    {"comm.overlap.ratio"},
		"device clocks":            {"wait.max", "wait.caused.max"},
		"host device clocks links": {"grad.scale.time", "grad.clip.time", "grad.passes.time", "findings.new"},
		"host": {"grad.scale.passes", "grad.scale.needless", "grad.clip.passes", "accumulation_steps", "micro_batches",
			"reductions.per_step", "reductions.collectives_per_step", "token_all_reduce.per_step",
			"norm.max_weight_error",
			"memory.peak", "memory.reserved.peak", "memory.held.peak"},
		launched: {"rs.launched_in_optimizer", "reductions.missing", "rs.launched_in_optimizer.per_step",
			"ar.launched_in_optimizer.per_step", "rs.per_step", "ag.per_step", "ar.per_step", "collectives.per_step",
			"comm.bytes.per_step", "device.events.per_step", "collectives.mismatched"},
		"host device":                      {"trace.unlinked.ratio"},
		"host device clocks streams links": {"findings.error", "findings.warn", "findings.note"},
	}
	for _, m := range Metrics() {
		if !slices.Contains(want[m.touched.names()], m.Name) {
			t.Errorf("%s is touched by damage to %q", m.Name, m.touched.names())
		}
	}
}

// TestUnhealthy: what each problem touches. Those that the table does not list touch
// everything if they are more than a note, and nothing if they are.
func TestUnhealthy(t *testing.T) {
	touches := func(r *report.Report) string {
		var d damage
		for _, n := range damageNames {
			if unhealthy([]*report.Report{r}, n.bit) != "" {
				d |= n.bit
			}
		}
		return d.names()
	}
	for _, c := range []struct {
		code, severity, want string
	}{
		{"truncated", "warn", "host device clocks streams links"}, {"truncated", "error",
			"host device clocks streams links"},
		{"truncated", "note", ""},
		{string(trace.DuplicateLaunch), "warn", "links"}, {string(trace.CommOnCompute), "warn", "streams"},
		{string(trace.SuspectUnit), "warn", "clocks"}, {string(trace.RankConflict), "warn", ""},
		{string(trace.LostLaunches), "warn", "device clocks streams links"},
		{string(trace.LostHost), "warn", "host clocks links"}, {string(trace.ClockOffset), "warn", "clocks"},
		{string(trace.TimeGap), "warn", "host device clocks streams links"},
		{string(trace.ThreadClocks), "warn", "host clocks links"}, {string(trace.SwappedRanks), "warn", ""},
		{string(trace.CopiedRank), "warn", "host device clocks streams links"},
		{string(trace.CrossedLaunches), "warn", "links"}, {string(trace.Overlapping), "warn", "clocks streams"},
		{string(trace.CrossingSpans), "warn", "host clocks links"},
		{string(trace.UnreadDuration), "warn", "clocks streams"},
		{string(trace.ZeroDuration), "warn", "clocks streams"},
		{string(trace.OverlongDevice), "warn", "clocks streams"},
		{string(trace.MissingDuration), "warn", "host clocks links"},
		{string(trace.LostDevice), "warn", "device clocks streams"},
		{string(trace.RepeatedDevice), "warn", "device clocks streams"},
		{string(trace.NegativeDuration), "warn", "clocks"}, {string(trace.DeviceClock), "warn", "clocks"},
		{string(trace.ImpossibleDevice), "warn", "device clocks links"}, {string(trace.DroppedDevice), "warn",
			"device"},
	} {
		r := &report.Report{}
		r.Health.Problems = []report.Problem{{Code: c.code, Severity: c.severity, Message: "m"}}
		if got := touches(r); got != c.want {
			t.Errorf("%s %s touches %q, want %q", c.severity, c.code, got, c.want)
		}
	}
	for _, c := range []struct {
		count, unlinked, edge int
		want                  string
	}{{1000, 10, 0, "links"}, {1000, 9, 0, ""}, {10000, 99, 0, ""},
		{1000, 30, 21, ""}, {1000, 30, 20, "links"}, {0, 0, 0, ""}} {
		r := &report.Report{}
		r.Health.DeviceEvents = []report.DeviceEvents{{Count: c.count, Unlinked: c.unlinked, Edge: c.edge}}
		if got := touches(r); got != c.want {
			t.Errorf("%+v touches %q", c, got)
		}
	}
	two := &report.Report{}
	two.Health.Problems = []report.Problem{{Code: "a", Severity: "warn", Message: "m"}, {Code: "b", Severity: "warn",
		Message: "m"}, {Code: "c", Severity: "warn", Message: "n"}}
	if got := Damage([]*report.Report{two, two}); got != "the trace is unhealthy: m; n" {
		t.Errorf("%q", got)
	}
	if got := Damage([]*report.Report{{}}); got != "" {
		t.Errorf("%q", got)
	}
}

// TestMismatch: what must agree for times to be compared, with what each side says.
func TestMismatch(t *testing.T) {
	of := func(device string, accumulation ...int) *report.Report {
		r := made(1)
		r.Source.Device, r.Source.Fingerprint.Accumulation = device, accumulation
		return r
	}
	for _, c := range []struct {
		name      string
		base, new []*report.Report
		want      string
	}{
		{"the same", []*report.Report{of("A", 2)}, []*report.Report{of("A", 2)}, ""},
		{"of several ranks", []*report.Report{of("A", 2), of("A", 2)}, []*report.Report{of("A", 2)}, ""},
		{"another device", []*report.Report{of("A")}, []*report.Report{of("B")}, "device: A in the baseline, B here"},
		{"one that is not known", []*report.Report{of("")}, []*report.Report{of("B")},
			"device: unknown in the baseline, B here"},
		{"two devices", []*report.Report{of("A"), of("B")}, []*report.Report{of("B")},
			"device: A or B in the baseline, B here"},
		{"two things", []*report.Report{of("A", 2)}, []*report.Report{of("B", 2, 4)},
			"device: A in the baseline, B here; accumulation steps: [2] in the baseline, [2 4] here"},
	} {
		if got := mismatch(c.base, c.new); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestCountRows: what rows decide together.
func TestCountRows(t *testing.T) {
	e, w := report.Error, report.Warn
	for _, c := range []struct {
		name string
		rows []Row
		want string // passed failed warned undecided ignored, hidden, open, idle, can fail
	}{
		{"none", nil, "0 0 0 0 0 [] [] false 0"},
		{"passed", []Row{{Severity: e, Verdict: Pass}}, "1 0 0 0 0 [] [] false 1"},
		{"failed", []Row{{Severity: e, Verdict: Fail}}, "0 1 0 0 0 [] [] false 1"},
		{"a warning", []Row{{Severity: w, Verdict: Fail}}, "0 0 1 0 0 [] [] false 1"},
		{"undecided", []Row{{Severity: e, Verdict: Undecidable, Metric: "m"}}, "0 0 0 1 0 [] [m] true 1"},
		{"undecided, which is tolerated", []Row{{Severity: e, Verdict: Undecidable, Metric: "m", Tolerated: true}},
			"0 0 0 1 0 [] [] true 1"},
		{"hidden by damage, whatever is tolerated",
			[]Row{{Severity: e, Verdict: Undecidable, Metric: "m", Tolerated: true, BadData: true}},
			"0 0 0 1 0 [m] [] true 1"},
		{"an undecided warning alone", []Row{{Severity: w, Verdict: Undecidable}}, "0 0 0 1 0 [] [] true 1"},
		{"an undecided warning, and one that passed",
			[]Row{{Severity: w, Verdict: Undecidable}, {Severity: w, Verdict: Pass}}, "1 0 0 1 0 [] [] false 2"},
		{"an undecided warning, and one that failed",
			[]Row{{Severity: w, Verdict: Undecidable}, {Severity: w, Verdict: Fail}}, "0 0 1 1 0 [] [] false 2"},
		{"an undecided error, and a warning that passed",
			[]Row{{Severity: e, Verdict: Undecidable, Metric: "m"}, {Severity: w, Verdict: Pass}},
			"1 0 0 1 0 [] [m] true 1"},
		{"ignored", []Row{{Severity: e, Verdict: Ignored}}, "0 0 0 0 1 [] [] false 0"},
	} {
		n := countRows(c.rows)
		got := fmt.Sprint(n.passed, n.failed, n.warned, n.undecided, n.ignored, n.hidden, n.open, n.idle(), n.canFail())
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	for names, want := range map[string]string{
		"a": "a", "a a b": "a, b", "a b c": "a, b, c", "a b c d": "a, b, c and 1 more",
		"a a b c d e": "a, b, c and 2 more",
	} {
		if got := firstNames(strings.Fields(names)); got != want {
			t.Errorf("%s: %s", names, got)
		}
	}
}

// TestIgnoresAreUsed: an ignore that matched a finding or a metric is not said to match
// nothing, be it the first of the list; a new finding that it matches is no row.
func TestIgnoresAreUsed(t *testing.T) {
	c, err := Parse("f", []byte("version: 1\nregressions: {findings.new: [error, {max_increase: 0}]}\nignore:\n"+
		"- {rule: OV001, reason: a}\n- {rule: GS001, reason: b}\n"), ruleIDs)
	if err != nil {
		t.Fatal(err)
	}
	base, now := made(tens(6, 1)...), with(made(tens(6, 1)...), found("OV001", report.Error, 10))
	r := Check(c, []*report.Report{now}, []*report.Report{base}, some(0, 0))
	if got := strings.Join(r.Notes, "\n"); !strings.Contains(got, "OV001 is ignored: a") ||
		!strings.Contains(got, "the ignore of GS001 matches nothing") {
		t.Error(got)
	}
	if got := summary(r); !strings.HasPrefix(got, "passed 0\n") || strings.Contains(got, "OV001") {
		t.Error(got)
	}
	o := some(0, 0)
	o.FailOn = report.Error // which the finding reaches, and then one that it does not
	c.Regressions = nil
	if notes := strings.Join(Check(c, []*report.Report{now}, nil, o).Notes, "\n"); !strings.Contains(notes,
		"OV001 is ignored") {
		t.Error(notes)
	}
	now.Findings[0].Severity = report.Warn
	notes := strings.Join(Check(c, []*report.Report{now}, nil, o).Notes, "\n")
	if !strings.Contains(notes, "OV001 is ignored") {
		t.Error(notes)
	}
}

// TestSummaryCounts: of rows that pass, warn and are undecided.
func TestSummaryCounts(t *testing.T) {
	c, err := Parse("f", []byte("version: 1\nbudgets:\n  accumulation_steps: [error, {max: 1}]\n"+
		"  micro_batches: [error, {max: 1}]\n  rs.launched_in_optimizer: [warn, {max: 1}]\n"+
		"  norm.max_weight_error: [warn, {max: 1}]\n"), ruleIDs)
	if err != nil {
		t.Fatal(err)
	}
	r := Check(c, []*report.Report{made(tens(6, 1)...)}, nil, some(0, 0))
	if r.Summary != "2 of 4 checks passed, 1 with a warning, 1 undecidable" {
		t.Error(r.Summary)
	}
}

// TestNesting: brackets anywhere, and marks at the beginning of one line.
func TestNesting(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "a": 0, "[": 1, "[[]]": 2, "[][]": 1, "{[": 2, "- - -": 3, "- a - b": 1, "-\n-": 1, "- -\n-": 2,
		"? -": 2,
		"a-b": 0, "  - a": 1, "\t?": 1, "\r- -": 2, "a\n- - b": 2, "]]": 0,
	} {
		if got := nesting(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}
