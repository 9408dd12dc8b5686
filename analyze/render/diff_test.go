package render

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gaprof/gaprof/analyze/compare"
	"github.com/gaprof/gaprof/analyze/report"
)

// nastyDiff is a difference with the nasty name wherever a trace can put one.
func nastyDiff() *compare.Diff {
	side := func(site string, cost int64) *report.Report {
		r := nastyReport()
		r.Steps[0].Index, r.Groups[0].Step = 0, new(int)
		r.Steps = append(r.Steps, r.Steps[0])
		r.Groups[0].Site = site
		r.Groups[0].Kernels = []string{nasty + site}
		r.Findings[0].Cost = &cost
		r.GradientPasses = []report.GradientPass{{Kind: nasty, Where: nasty, Optimizer: nasty + site}}
		return r
	}
	return compare.Between([]*report.Report{side("annotation", 1)}, []*report.Report{side("framework_hook", 2)}, "0.1")
}

func TestDiffNastyNames(t *testing.T) {
	for _, name := range Differences.Names() {
		f, err := Differences.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := f.Write(&b, nastyDiff(), Options{}); err != nil {
			t.Fatal(err)
		}
		out := b.String()
		if name == "html" {
			out = withoutScripts(t, out)
		}
		switch {
		case name != "json" && strings.ContainsAny(out, "\x1b\x00\u202e"):
			t.Errorf("%s: a control character gets out: %q", name, out)
		case name == "md" &&
			(strings.Contains(out, "<script>") || strings.Contains(out, "[x](") || strings.Contains(out, "\nnext")):
			t.Errorf("md: %s", out)
		case name == "html" && (strings.Contains(out, "<script") || strings.Contains(out, "<b>x")):
			t.Errorf("html: %s", out)
		case name == "json" && (strings.Contains(out, "<script>") || !json.Valid(b.Bytes())):
			t.Errorf("json: %s", out)
		case !strings.Contains(out, "moved") && name != "json":
			t.Errorf("%s does not say what moved: %s", name, out)
		}
	}
	if _, err := Differences.ByName("csv"); err == nil {
		t.Error("csv is a format of differences")
	}
}

// An empty difference, and one of long names, fit the width.
func TestDiffWidth(t *testing.T) {
	long := nastyDiff()
	long.Kinds[0].Name, long.Base.Files[0] = strings.Repeat("Optimizer + ", 20), "/"+strings.Repeat("folder/", 40)
	for _, d := range []*compare.Diff{compare.Between(nil, nil, "0.1"), long} {
		var b bytes.Buffer
		if err := DiffText(&b, d, Options{}); err != nil || b.Len() == 0 {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > diffWidth {
				t.Errorf("%d columns: %s", n, line)
			}
		}
	}
}

func TestDiffSentences(t *testing.T) {
	step := compare.Place{Site: "optimizer_step", Name: "A"}
	hook := compare.Place{Site: "backward_hook"}
	ten := int64(10_000_000)
	for _, test := range []struct {
		name string
		d    compare.Diff
		want string
	}{
		{
			"unequal numbers of steps",
			compare.Diff{Moves: []compare.Move{{Collective: "all_reduce", From: hook, To: step, Base: 2, New: 3,
				Kinds: []compare.MoveKind{{Kind: "A", PerStep: 1}}}}},
			"MOVED all-reduces moved from backward hooks to the optimizer step of A: 1 per step of A, 2 in base and " +
				"3 in new",
		},
		{
			"an unknown place is no place to move from",
			compare.Diff{
				Moves: []compare.Move{{Collective: "all_reduce", From: compare.Place{Site: "unknown"}, To: hook,
					Base: 2, New: 2, Kinds: []compare.MoveKind{{Kind: "A", PerStep: 0.5}}}},
			},
			"MOVED 2 all-reduces are launched from an unknown place in base and from backward hooks in new (0.5 per " +
				"step of A)",
		},
		{
			"gone",
			compare.Diff{
				Collectives: []compare.CollectiveChange{
					{Change: "gone", Kind: "A", Collective: "all_reduce", Place: hook, PerStep: 2, BaseBytes: &ten},
				},
			},
			"GONE 2 all-reduces per step of A from backward hooks (10.0 MB)",
		},
		{
			"added",
			compare.Diff{
				Collectives: []compare.CollectiveChange{
					{Change: "added", Kind: "A", Collective: "all_reduce", Place: hook, PerStep: 2},
				},
			},
			"ADDED 2 all-reduces per step of A from backward hooks",
		},
		{
			"a setting",
			compare.Diff{
				Settings: []compare.Setting{{What: "gradient_sync", Of: "A", Base: "every_micro_batch", New: "none"}},
			},
			"SETTING gradient sync of A: every micro-batch -> none",
		},
		{
			"a kind on one side",
			compare.Diff{Kinds: []compare.Kind{{Name: "A", Only: "new", NewSteps: 1}}},
			"ADDED 1 step of A, a kind that is missing in base",
		},
		{
			"nothing",
			compare.Diff{},
			"UNKNOWN no complete steps on both sides: structure could not be compared",
		},
	} {
		list := diffSentences(&test.d)
		if got := list[3].head + " " + list[3].text; got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.name, got, test.want)
		}
	}
}

// The change of step time comes first, in every format, with its size and what the test says of
// it; what few steps cannot show is said with how many would.
func TestStepSentences(t *testing.T) {
	ratio := func(v float64) *float64 { return &v }
	ten := 10
	third := compare.StepTime{Kind: "Adam", Of: "device", BaseSteps: 3, NewSteps: 1, Base: 3e6, New: 4e6, Change: 1e6,
		Delta: ratio(1. / 3), P: 0.5, LowConfidence: true}
	firm := third
	firm.BaseSteps, firm.NewSteps, firm.P, firm.Significant, firm.LowConfidence = 9, 9, 0.0004, true, false
	loose := firm
	loose.P, loose.Significant = 0.2, false
	same := loose
	same.New, same.Change, same.Delta, same.P = 3e6, 0, ratio(0), 1
	host := firm
	host.Of = "host"
	const record = "RECORD fewer than 5 steps of a kind on a side: no change of times is certain"
	for _, test := range []struct {
		name string
		d    compare.Diff
		want []string
	}{
		{"nothing", compare.Diff{},
			[]string{"STEP unknown: the sides have no kind of complete step in common"}},
		{"few", compare.Diff{StepTimes: []compare.StepTime{third}, RecordSteps: &ten}, []string{
			"STEP Adam: 3.000 -> 4.000 ms, +1.000 ms (+33.33 %), not significant (p 0.500), low confidence: " +
				"3 against 1 step",
			record + "; record at least 10 steps, schedule(active=10)",
		}},
		{"significant", compare.Diff{StepTimes: []compare.StepTime{firm}}, []string{
			"STEP Adam: 3.000 -> 4.000 ms, +1.000 ms (+33.33 %), p < 0.001"}},
		{"not significant", compare.Diff{StepTimes: []compare.StepTime{loose}}, []string{
			"STEP Adam: 3.000 -> 4.000 ms, +1.000 ms (+33.33 %), not significant (p 0.200)"}},
		{"the same", compare.Diff{StepTimes: []compare.StepTime{same}}, []string{
			"STEP Adam: 3.000 -> 3.000 ms, no change"}},
		{"host", compare.Diff{StepTimes: []compare.StepTime{host}}, []string{
			"STEP Adam: host time 3.000 -> 4.000 ms, +1.000 ms (+33.33 %), p < 0.001"}},
	} {
		var got []string
		for _, s := range diffSentences(&test.d)[:len(test.want)] {
			got = append(got, s.head+" "+s.text)
		}
		if strings.Join(got, "\n") != strings.Join(test.want, "\n") {
			t.Errorf("%s:\n got %q\nwant %q", test.name, got, test.want)
		}
	}
	d := compare.Diff{Version: "0.1", StepTimes: []compare.StepTime{third}, Findings: []compare.FindingChange{},
		Settings: []compare.Setting{{What: "gradient_sync", Base: "none", New: "unknown"}}}
	for name, lead := range map[string]string{"text": "\nSTEP ", "md": "\n- **STEP** ", "html": ">STEP<",
		"json": `"step_time": [`} {
		f, err := Differences.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := f.Write(&b, &d, Options{}); err != nil {
			t.Fatal(err)
		}
		at, rest := strings.Index(b.String(), lead), strings.Index(b.String(), "SETTING")
		if name == "json" {
			rest = strings.Index(b.String(), `"base": {`)
		}
		if at < 0 || rest < at || !strings.Contains(b.String(), "33.33") && name != "json" {
			t.Errorf("%s: the step is at %d, what is compared at %d\n%s", name, at, rest, b.String())
		}
	}
}
