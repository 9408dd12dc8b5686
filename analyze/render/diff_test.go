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
		switch {
		case name != "json" && strings.ContainsAny(out, "\x1b\x00\u202e"):
			t.Errorf("%s: a control character gets out: %q", name, out)
		case name == "md" &&
			(strings.Contains(out, "<script>") || strings.Contains(out, "[x](") || strings.Contains(out, "\nnext")):
			t.Errorf("md: %s", out)
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
			"MOVED all-reduces moved from backward hooks to the optimizer step of A: 1 a step of A, 2 in base and 3 " +
				"in new",
		},
		{
			"an unknown place is no place to move from",
			compare.Diff{
				Moves: []compare.Move{{Collective: "all_reduce", From: compare.Place{Site: "unknown"}, To: hook,
					Base: 2, New: 2, Kinds: []compare.MoveKind{{Kind: "A", PerStep: 0.5}}}},
			},
			"MOVED 2 all-reduces are launched from an unknown place in base and from backward hooks in new (0.5 a " +
				"step of A)",
		},
		{
			"gone",
			compare.Diff{
				Collectives: []compare.CollectiveChange{
					{Change: "gone", Kind: "A", Collective: "all_reduce", Place: hook, PerStep: 2, BaseBytes: &ten},
				},
			},
			"GONE 2 all-reduces a step of A from backward hooks (10.0 MB)",
		},
		{
			"added",
			compare.Diff{
				Collectives: []compare.CollectiveChange{
					{Change: "added", Kind: "A", Collective: "all_reduce", Place: hook, PerStep: 2},
				},
			},
			"ADDED 2 all-reduces a step of A from backward hooks",
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
			"ADDED 1 step of A, a kind that base has none of",
		},
		{
			"nothing",
			compare.Diff{},
			"UNKNOWN no complete steps on both sides: nothing of the structure could be compared",
		},
	} {
		list := diffSentences(&test.d)
		if got := list[2].head + " " + list[2].text; got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.name, got, test.want)
		}
	}
}
