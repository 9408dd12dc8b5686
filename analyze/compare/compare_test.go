package compare

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/report"
)

// made is a report by hand: n complete steps of the given duration, by optimizers.
type made struct {
	*report.Report
}

func reportOf(ranks ...int64) made {
	return made{&report.Report{Schema: report.Schema, Version: "0.1",
		Source: report.Source{Files: []string{"f"}, Device: "GPU", Ranks: ranks, StepSource: "optimizer",
			Fingerprint: report.Fingerprint{Model: "m", Accumulation: []int{1}}}}}
}

// step adds a step of rank 0 and returns the report.
func (m made) step(kind string, duration int64, optimizers ...string) made {
	return m.stepOf(0, kind, duration, optimizers...)
}

func (m made) stepOf(rank int64, kind string, duration int64, optimizers ...string) made {
	s := report.Step{Rank: rank, Kind: kind, Complete: true, Duration: &duration, HostDuration: duration,
		Ledger: &report.Ledger{Compute: duration}}
	for i := range m.Steps {
		if m.Steps[i].Rank == rank {
			s.Index++
		}
	}
	for _, o := range optimizers {
		name, count, counted := strings.Cut(o, "/")
		one := report.Optimizer{Name: name}
		if counted {
			n := int(count[0] - '0')
			one.Accumulation = &n
		}
		s.Optimizers = append(s.Optimizers, one)
	}
	m.Steps = append(m.Steps, s)
	return m
}

// group adds collectives to the last step.
func (m made) group(collective, site, name string, bytes int64, kernels ...string) made {
	last := m.Steps[len(m.Steps)-1]
	g := report.CollectiveGroup{
		Rank:    last.Rank,
		Step:    &last.Index,
		Kind:    collective,
		Site:    site,
		Name:    name,
		Count:   len(kernels),
		Kernels: kernels,
	}
	if bytes >= 0 {
		g.Bytes = &bytes
	}
	m.Groups = append(m.Groups, g)
	return m
}

func (m made) finding(rule string, severity report.Severity, cost int64) made {
	m.Findings = append(m.Findings, report.Finding{Rule: rule, Severity: severity, Message: rule, Cost: &cost})
	return m
}

func between(base, new made) *Diff {
	return Between([]*report.Report{base.Report}, []*report.Report{new.Report}, "0.1")
}

// lines prints the structure of a difference, one change a line.
func lines(d *Diff) []string {
	var out []string
	for _, u := range d.Unlike {
		out = append(out, fmt.Sprintf("unlike %s %s|%s", u.What, u.Base, u.New))
	}
	for _, m := range d.Moves {
		word := "moved"
		if m.Stayed() {
			word = "stayed"
		}
		out = append(out,
			fmt.Sprintf("%s %s %v->%v %d|%d %v", word, m.Collective, m.From, m.To, m.Base, m.New, m.Kinds))
	}
	for _, c := range d.Collectives {
		out = append(out, fmt.Sprintf("%s %s %v %v %s", c.Change, c.Collective, c.Place, c.PerStep, c.Kind))
	}
	for _, o := range d.Orders {
		out = append(out, fmt.Sprintf("%s %s %v->%v %v", o.Change, o.Collective, o.Base, o.New, o.Kinds))
	}
	for _, p := range d.Passes {
		out = append(out, fmt.Sprintf("%s pass %s %s", p.Change, p.Pass, p.Where))
	}
	for _, s := range d.Settings {
		out = append(out, fmt.Sprintf("setting %s of %s: %s|%s", s.What, s.Of, s.Base, s.New))
	}
	for _, f := range d.Findings {
		out = append(out, f.Change+" "+f.Rule)
	}
	for _, k := range d.Kinds {
		what := fmt.Sprintf("only %q", k.Only)
		if k.Uncompared != "" {
			what = k.Uncompared
		}
		out = append(out, fmt.Sprintf("kind %s %d|%d %s", k.Name, k.BaseSteps, k.NewSteps, what))
	}
	return out
}

const (
	rs = "reduce_scatter"
	ag = "all_gather"
)

func TestStructure(t *testing.T) {
	plain := func() made { return reportOf(0).step("A", 100, "Adam/1") }
	kernels := func(names ...string) []string {
		for i, n := range names {
			names[i] = "nccl_RS_" + n + "_RING"
		}
		return names
	}
	passes := func(m made, kind string, verdict report.Verdict) made {
		m.GradientPasses = append(m.GradientPasses, report.GradientPass{
			Kind:    kind,
			Where:   "after_backward",
			Bytes:   10,
			Verdict: verdict,
		})
		return m
	}
	incomplete := plain()
	incomplete.Steps[0].Complete = false
	noSteps := reportOf(0)
	other := plain()
	world := int64(8)
	other.Source.Device, other.Source.WorldSize, other.Source.Fingerprint.Model = "TPU", &world, "unknown"
	skipping := plain()
	skipping.Skipped = []report.Skip{{Rule: "OV004", Reason: "no launches"}}
	micro, two := plain(), plain()
	two.Steps[0].MicroBatches, micro.Steps[0].MicroBatches = new(int), new(int)
	*two.Steps[0].MicroBatches, *micro.Steps[0].MicroBatches = 2, 4
	for _, test := range []struct {
		name      string
		base, new made
		want      string
	}{
		{"two empty reports", reportOf(), reportOf(), ""},
		{"an empty side", reportOf(), plain(), `kind Adam 0|1 base has no optimizer steps`},
		{"no steps", noSteps, noSteps, ""},
		{"no step of a kind is complete", incomplete, plain(), `kind Adam 0|1 base has incomplete ones only`},
		{"no step is complete", incomplete, incomplete, `kind Adam 0|0 none is complete`},
		{
			"the same report twice",
			plain().group(rs, "backward_hook", "", 8, "a"),
			plain().group(rs, "backward_hook", "", 8, "a"),
			`stayed reduce_scatter {backward_hook }->{backward_hook } 1|1 [{Adam 1}]; kind Adam 1|1 only ""`,
		},
		{
			"letters say nothing",
			reportOf(0).step("A", 1, "X").step("B", 1, "Y"),
			reportOf(0).step("A", 1, "Y").step("B", 1, "X"),
			`kind X 1|1 only ""; kind Y 1|1 only ""`,
		},
		{"a kind on one side", reportOf(0).step("A", 1, "X").step("B", 1, "X", "Y"), reportOf(0).step("A", 1, "X"),
			`kind X 1|1 only ""; kind X + Y 1|0 only "base"`},
		{"accumulation changed", reportOf(0).step("A", 1, "X/1"), reportOf(0).step("A", 1, "X/4"),
			`setting accumulation_steps of X: 1|4; kind X 1|1 only ""`},
		{
			"two kinds by accumulation",
			reportOf(0).step("A", 1, "X/1").step("B", 1, "X/2"),
			reportOf(0).step("A", 1, "X/2").step("B", 1, "X/1"),
			`kind X 1|1 only ""; kind X 1|1 only ""`,
		},
		{
			"accumulation known of one step of a kind",
			reportOf(0).step("A", 1, "X").step("A", 1, "X/2"),
			reportOf(0).step("A", 1, "X/2"),
			`kind X 2|1 only ""`,
		},
		{"micro-batches", two, micro, `setting micro_batches of Adam: 2|4; kind Adam 1|1 only ""`},
		{"micro-batches that one side does not know", plain(), micro, `kind Adam 1|1 only ""`},
		{
			"a move",
			plain().group(rs, "optimizer_step", "Adam", 8, "a", "a"),
			plain().group(rs, "backward_hook", "", 8, "a", "a"),
			`moved reduce_scatter {optimizer_step Adam}->{backward_hook } 2|2 [{Adam 2}]; kind Adam 1|1 only ""`,
		},
		{
			"a move among unequal numbers of steps",
			plain().group(rs, "optimizer_step", "Adam", 8, "a"),
			plain().group(rs, "backward_hook", "", 8, "a").
				step("A", 1, "Adam/1").group(rs, "backward_hook", "", 8, "a"),
			`moved reduce_scatter {optimizer_step Adam}->{backward_hook } 1|2 [{Adam 1}]; kind Adam 1|2 only ""`,
		},
		{
			"part of a place moves",
			plain().group(rs, "optimizer_step", "Adam", 8, "a", "a", "a"),
			plain().group(rs, "optimizer_step", "Adam", 8, "a").group(rs, "backward_hook", "", 8, "a", "a"),
			`moved reduce_scatter {optimizer_step Adam}->{backward_hook } 2|2 [{Adam 2}]; ` +
				`stayed reduce_scatter {optimizer_step Adam}->{optimizer_step Adam} 1|1 [{Adam 1}]; ` +
				`kind Adam 1|1 only ""`,
		},
		{
			"bytes tell two moves apart",
			plain().group(rs, "annotation", "x", 16, "a").group(rs, "annotation", "y", 8, "a"),
			plain().group(rs, "backward_hook", "", 8, "a").group(rs, "framework_hook", "FSDP", 16, "a"),
			`moved reduce_scatter {annotation x}->{framework_hook FSDP} 1|1 [{Adam 1}]; ` +
				`moved reduce_scatter {annotation y}->{backward_hook } 1|1 [{Adam 1}]; kind Adam 1|1 only ""`,
		},
		{
			"another collective is not a move",
			plain().group(rs, "backward_hook", "", 8, "a"),
			plain().group("all_reduce", "backward_hook", "", 8, "a"),
			`added all_reduce {backward_hook } 1 Adam; gone reduce_scatter {backward_hook } 1 Adam; ` +
				`kind Adam 1|1 only ""`,
		},
		{
			"more bytes",
			plain().group(ag, "backward_hook", "", 8, "a"),
			plain().group(ag, "backward_hook", "", 9, "a"),
			`stayed all_gather {backward_hook }->{backward_hook } 1|1 [{Adam 1}]; ` +
				`resized all_gather {backward_hook } 1 Adam; kind Adam 1|1 only ""`,
		},
		{
			"unknown bytes",
			plain().group(ag, "backward_hook", "", -1, "a"),
			plain().group(ag, "backward_hook", "", 9, "a"),
			`stayed all_gather {backward_hook }->{backward_hook } 1|1 [{Adam 1}]; kind Adam 1|1 only ""`,
		},
		{
			"another order",
			plain().group(rs, "backward_hook", "", 8, kernels("f32", "bf16", "bf16")...),
			plain().group(rs, "backward_hook", "", 8, kernels("bf16", "f32", "bf16")...),
			`stayed reduce_scatter {backward_hook }->{backward_hook } 3|3 [{Adam 3}]; ` +
				`order reduce_scatter [{f32 1} {bf16 2}]->[{bf16 1} {f32 1} {bf16 1}] [Adam]; ` +
				`kind Adam 1|1 only ""`,
		},
		{
			"other kernels",
			plain().group(rs, "backward_hook", "", 8, kernels("f32", "f32")...),
			plain().group(rs, "backward_hook", "", 8, kernels("bf16", "bf16")...),
			`stayed reduce_scatter {backward_hook }->{backward_hook } 2|2 [{Adam 2}]; ` +
				`kernels reduce_scatter [{f32 2}]->[{bf16 2}] [Adam]; kind Adam 1|1 only ""`,
		},
		{
			"gradient passes",
			passes(passes(plain(), "scale", "needless"), "clip", "required"),
			passes(passes(plain(), "scale", "avoidable"), "zero", "required"),
			`gone pass clip after_backward; changed pass scale after_backward; ` +
				`added pass zero after_backward; kind Adam 1|1 only ""`,
		},
		{"unlike things; unknown is no difference", plain(), other, `unlike device GPU|TPU; kind Adam 1|1 only ""`},
		{
			"findings",
			plain().finding("A1", report.Warn, 1).finding("A2", report.Warn, 1),
			plain().finding("A2", report.Note, 1).finding("A3", report.Warn, 1),
			`disappeared A1; appeared A3; stayed A2; kind Adam 1|1 only ""`,
		},
		{
			"a finding that the other side cannot judge",
			plain().finding("OV004", report.Warn, 1),
			skipping,
			`not_judged OV004; kind Adam 1|1 only ""`,
		},
	} {
		d := between(test.base, test.new)
		if got := strings.Join(lines(d), "; "); got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.name, got, test.want)
		}
		if d.Changed() != slices.ContainsFunc(lines(d), structural) {
			t.Errorf("%s: Changed is %v", test.name, d.Changed())
		}
	}
}

func structural(line string) bool {
	word, _, _ := strings.Cut(line, " ")
	return strings.Contains(line, ` only "base"`) || strings.Contains(line, ` only "new"`) ||
		slices.Contains([]string{"moved", "gone", "added", "resized", "order", "kernels", "changed", "setting"}, word)
}

func TestFigures(t *testing.T) {
	steps := func(durations ...int64) made {
		m := reportOf(0)
		for _, d := range durations {
			m.step("A", d, "Adam")
		}
		return m
	}
	for _, test := range []struct {
		name      string
		base, new made
		want      string
	}{
		{"one step", steps(100), steps(50), "100 [] 50 [] -50.0% p=1.00 significant=false low=true record=10"},
		{"a step of no duration", steps(0), steps(50), "0 [] 50 [] none p=1.00 significant=false low=true record=10"},
		{"nothing but zeros", steps(0, 0), steps(0, 0), "0 [] 0 [] none p=1.00 significant=false low=true record=10"},
		{
			"four against four",
			steps(1, 2, 3, 4),
			steps(5, 6, 7, 8),
			"3 [] 7 [] +133.3% p=0.03 significant=true low=true record=10",
		},
		{
			"six against six, apart",
			steps(10, 11, 12, 13, 14, 15),
			steps(20, 21, 22, 23, 24, 25),
			"13 [10 15] 23 [20 25] +76.9% p=0.00 significant=true low=false record=0",
		},
		{
			"six against six, mixed",
			steps(10, 21, 12, 23, 14, 25),
			steps(20, 11, 22, 13, 24, 15),
			"18 [10 25] 18 [11 24] +0.0% p=1.00 significant=false low=false record=0",
		},
		{
			"all equal",
			steps(7, 7, 7, 7, 7, 7),
			steps(7, 7, 7, 7, 7, 7),
			"7 [7 7] 7 [7 7] +0.0% p=1.00 significant=false low=false record=0",
		},
	} {
		d := between(test.base, test.new)
		f := d.Kinds[0].Figures[0]
		delta, record := "none", 0
		if f.Delta != nil {
			delta = fmt.Sprintf("%+.1f%%", *f.Delta*100)
		}
		if d.RecordSteps != nil {
			record = *d.RecordSteps
		}
		got := fmt.Sprintf("%d %v %d %v %s p=%.2f significant=%v low=%v record=%d", f.Base.Median, interval(f.Base),
			f.New.Median, interval(f.New), delta, *f.P, f.Significant, d.Kinds[0].LowConfidence, record)
		if got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.name, got, test.want)
		}
	}
}

func interval(s *Summary) []int64 {
	if s.Low == nil || s.High == nil {
		return []int64{}
	}
	return []int64{*s.Low, *s.High}
}

// Ranks of one run make one value a step; a rank that comes again is another run.
func TestRanksAndRuns(t *testing.T) {
	two := reportOf(0, 1)
	for range 2 {
		two.stepOf(0, "A", 100, "X").stepOf(1, "A", 300, "X")
	}
	d := Between([]*report.Report{two.Report}, []*report.Report{two.Report, two.Report}, "")
	k := d.Kinds[0]
	if k.BaseSteps != 2 || k.BaseRankSteps != 4 || k.NewSteps != 4 || k.Figures[0].Base.Median != 200 {
		t.Errorf("%+v", k)
	}
	if d.Base.Runs != 1 || d.New.Runs != 2 {
		t.Errorf("%+v %+v", d.Base, d.New)
	}
	one, other := reportOf(0).stepOf(0, "A", 100, "X"), reportOf(1).stepOf(1, "A", 300, "X")
	d = Between([]*report.Report{one.Report, other.Report}, []*report.Report{one.Report}, "")
	if d.Base.Runs != 1 || d.Kinds[0].BaseSteps != 1 || len(d.Unlike) != 1 || d.Unlike[0].Base != "0-1" {
		t.Errorf("%+v %+v", d.Base, d.Unlike)
	}
	clash := reportOf(0, 1).stepOf(0, "A", 100, "X").stepOf(1, "A", 300, "X")
	clash.Health.Problems = []report.Problem{{Rank: 1, Code: "rank_conflict", Severity: "warn"}}
	if d = between(clash, one); d.Base.Runs != 2 || d.Kinds[0].BaseSteps != 2 || d.Base.Warnings != 1 {
		t.Errorf("%+v", d.Base)
	}
}

func TestRecordSteps(t *testing.T) {
	mixed := reportOf(0)
	for range 6 {
		mixed.step("A", 1, "X").step("A", 1, "X").step("A", 1, "X").step("B", 1, "X", "Y")
	}
	few := reportOf(0).step("A", 1, "X").step("A", 1, "X").step("A", 1, "X").step("B", 1, "X", "Y")
	few.Steps[0].Complete = false
	if d := between(mixed, mixed); d.RecordSteps != nil {
		t.Errorf("%d steps to record where there are enough", *d.RecordSteps)
	}
	if d := between(mixed, few); d.RecordSteps == nil || *d.RecordSteps != 16 {
		t.Errorf("%+v, want 5 of a kind that is one in three, and the first is not complete", d.Kinds)
	}
}

func TestCommon(t *testing.T) {
	for _, test := range []struct{ names, want string }{
		{"", ""}, {"a", "a"}, {"a a", "a a"}, {"x_a x_b", "a b"}, {"x_a_y x_b_y", "a b"}, {"x_a_y x_a_y", "y y"},
		{"x_y x", "x_y x"}, {"x_1_y x_2_3_y", "1 2_3"}, {"_ __", " _"},
	} {
		names := strings.Split(test.names, " ")
		prefix, suffix := common(names)
		for i, n := range names {
			names[i] = n[prefix : len(n)-suffix]
		}
		if got := strings.Join(names, " "); got != test.want {
			t.Errorf("%s: %q, want %q", test.names, got, test.want)
		}
	}
}

// Equal reports give equal bytes, and are left as they were.
func TestPure(t *testing.T) {
	m := reportOf(0)
	m.step("A", 3, "X", "Y").group(rs, "backward_hook", "", 8, "b", "a").group(ag, "optimizer_step", "X", 8, "b")
	m.step("A", 1, "X", "Y").step("B", 2, "X").finding("A1", report.Warn, 3)
	before, _ := json.Marshal(m.Report)
	first := ""
	for range 20 {
		d, err := json.Marshal(between(m, reportOf(0).step("A", 1, "X")))
		if err != nil {
			t.Fatal(err)
		}
		if first == "" {
			first = string(d)
		}
		if string(d) != first {
			t.Fatalf("\n%s\n%s", first, d)
		}
	}
	if strings.Contains(first, "null,\"changes") || strings.Contains(first, `"figures":null`) {
		t.Errorf("a list is null: %s", first)
	}
	if after, _ := json.Marshal(m.Report); string(after) != string(before) {
		t.Error("the report was changed")
	}
}

// TestSchema: what is written is what the schema says, and lists are never null.
func TestSchema(t *testing.T) {
	s, err := JSONSchema()
	if err != nil {
		t.Fatal(err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	full := reportOf(0).step("A", 3, "X/2").group(rs, "backward_hook", "", 8, "b", "a").finding("A1", report.Warn, 3)
	for _, d := range []*Diff{
		between(reportOf(), reportOf()),
		between(full, reportOf(0).step("A", 3, "X/3")),
		between(full, full),
	} {
		data, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		var value any
		if err := json.Unmarshal(data, &value); err != nil {
			t.Fatal(err)
		}
		if err := resolved.Validate(value); err != nil {
			t.Errorf("%v: %s", err, data)
		}
	}
}
