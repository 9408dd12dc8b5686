package render

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/report"
)

// nasty is a name that tries to command a terminal, a browser, a sheet and Markdown.
const nasty = "=cmd|' /C calc'!A1 <script>alert(1)</script> \x1b[31mred\x1b[0m \u202eright [x](javascript:1) | `a` " +
	"*b*\nnext\x00"

// nastyReport has the nasty name wherever a trace can put a name.
func nastyReport() *report.Report {
	n, ratio := int64(7), 0.5
	return &report.Report{
		Version: "0.1",
		Source:  report.Source{Device: nasty, Ranks: []int64{0}, Files: []string{nasty}},
		Health: report.Health{
			Problems: []report.Problem{
				{Code: "bad", Severity: "warn", Message: nasty, File: nasty, Count: 1, Offset: &n},
			},
		},
		Steps: []report.Step{
			{Kind: "A", Complete: true, Optimizers: []report.Optimizer{{Name: nasty}}, Duration: &n, Start: &n,
				Ledger: &report.Ledger{Compute: 7}},
		},
		Collectives: []report.Collectives{
			{Kind: "reduce_scatter", Count: 1, Overlap: report.Overlap{Busy: 2, Overlapped: 1, Ratio: &ratio},
				Sites: []report.LaunchSite{{Site: "annotation", Name: nasty, Count: 1}}},
		},
		Groups: []report.CollectiveGroup{
			{Kind: "reduce_scatter", Site: "annotation", Name: nasty, Count: 1, Kernels: []string{nasty}},
		},
		Ranks: []report.RankWaits{{Rank: 0, Wait: &n, WaitCaused: &n}, {Rank: 1}},
		Matching: report.Matching{
			Matched: 1,
			Notes:   []string{nasty},
			Groups:  []report.MatchedGroup{{Name: nasty, Status: "matched", Reason: nasty}},
		},
		Kernels: []report.Kernel{{Name: nasty, Cat: "kernel", Count: 1, Busy: 7}},
		Findings: []report.Finding{
			{Rule: "OV004", Severity: report.Warn, Message: nasty, Why: nasty, Fix: nasty, Caveats: []string{nasty},
				Evidence: []report.Evidence{{Name: nasty, Track: nasty}}},
		},
		Skipped: []report.Skip{{Rule: "OV001", Reason: nasty}},
		Time: &report.Time{Of: "step", Count: 1, Length: 9, Parts: []report.Part{
			{What: nasty, Mean: 2, Share: 0.2, Claims: []report.PartClaim{{Rule: nasty, Mean: 1}}},
			{What: "compute", Mean: 7, Share: 0.8},
		}},
	}
}

// TestNastyNames: no format lets a name out of its cell.
func TestNastyNames(t *testing.T) {
	for _, name := range Reports.Names() {
		f, err := Reports.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := f.Write(&b, nastyReport(), Options{Show: Sections()}); err != nil {
			t.Fatal(err)
		}
		out := b.String()
		if name != "json" && strings.ContainsAny(out, "\x1b\x00\u202e") {
			t.Errorf("%s: a control character gets out: %q", name, out)
		}
		switch name {
		case "json":
			if strings.Contains(out, "<script>") || !json.Valid(b.Bytes()) {
				t.Errorf("json: %s", out)
			}
		case "md":
			if strings.Contains(out, "<script>") || strings.Contains(out, "[x](") || strings.Contains(out, "\n next") {
				t.Errorf("md: %s", out)
			}
		case "csv":
			checkCSV(t, out)
		}
	}
}

func checkCSV(t *testing.T, out string) {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		for _, c := range row {
			if c != "" && strings.ContainsRune("=+@\t\r", rune(c[0])) {
				t.Errorf("csv: a sheet takes %q for a formula", c)
			}
		}
	}
}

func TestShort(t *testing.T) {
	long := strings.Repeat("x", 500)
	if got := short(long); len([]rune(got)) != maxName || !strings.Contains(got, "…") {
		t.Errorf("%d characters: %q", len([]rune(got)), got)
	}
}

func TestWrap(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"", ""}, {"one", "one"}, {"one two", "one two"}, {"one two three", "one two/three"},
		{"averyverylongword x", "averyverylongword/x"},
	} {
		if got := strings.Join(wrap(test.text, 8), "/"); got != test.want {
			t.Errorf("%q: %q, want %q", test.text, got, test.want)
		}
	}
}

func TestMicros(t *testing.T) {
	for ns, want := range map[int64]string{0: "0.000", 5: "0.005", 1234567: "1234.567", -1500: "-1.500"} {
		if got := micros(ns); got != want {
			t.Errorf("%d: %s, want %s", ns, got, want)
		}
	}
}

// TestManySteps: means of the complete steps of a kind, by rank.
func TestManySteps(t *testing.T) {
	r := &report.Report{}
	for i := range 20 {
		d := int64(1_000_000 * (1 + i%2))
		r.Steps = append(r.Steps, report.Step{
			Index:    i,
			Kind:     string(rune('A' + i%2)),
			Complete: i > 0,
			Duration: &d,
			Ledger:   &report.Ledger{Compute: d},
		})
	}
	table := stepTable(r)
	if len(table.rows) != 2 {
		t.Fatalf("%v", table.rows)
	}
	got := strings.Join(table.rows[0], " ") + "; " + strings.Join(table.rows[1], " ")
	if got != "0 10 B  2.000 2.000; 0 9 A  1.000 1.000" {
		t.Error(got)
	}
}

// TestEmptyReport: nothing to say is said without a panic.
func TestEmptyReport(t *testing.T) {
	for _, name := range Reports.Names() {
		f, _ := Reports.ByName(name)
		var b bytes.Buffer
		err := f.Write(&b, &report.Report{}, Options{Show: Sections()})
		// without a step there is nothing to measure
		if (err != nil) != (name == "gobench") || (b.Len() == 0) != (err != nil) {
			t.Errorf("%s: %v, %d bytes", name, err, b.Len())
		}
	}
	if _, err := Reports.ByName("pdf"); err == nil {
		t.Error("pdf is a format")
	}
}

// Of several ranks one line says who is waited for, or why that is unknown.
func TestRanksLine(t *testing.T) {
	ns := func(n int64) *int64 { return &n }
	two := report.Report{Source: report.Source{Ranks: []int64{0, 1}}, Ranks: []report.RankWaits{
		{Rank: 0, Collectives: 9, Matched: 9, Wait: ns(2_000_000), WaitCaused: ns(500_000)},
		{Rank: 1, Collectives: 9, Matched: 9, Wait: ns(500_000), WaitCaused: ns(2_000_000)}}}
	for _, c := range []struct {
		change func(r *report.Report)
		want   string
	}{
		{func(r *report.Report) { r.Matching.Matched, r.Straggler = 9, ns(1) },
			"9 collectives matched on 2 ranks, which wait 0.500 to 2.000 ms in them; rank 1 causes most: 80 % of " +
				"what they wait for the last one"},
		{
			func(r *report.Report) { r.Matching.Matched = 9 },
			"9 collectives matched on 2 ranks; none waits for one other alone",
		},
		{func(r *report.Report) {
			r.Matching.Matched, r.Matching.Notes = 9, []string{"the clocks differ"}
			r.Ranks = []report.RankWaits{{}, {Rank: 1}}
		}, "9 collectives matched, but who waits is unknown: the clocks differ"},
		{
			func(r *report.Report) { r.Ranks = []report.RankWaits{{}, {Rank: 1}} },
			"who waits for whom is unknown: the ranks have no collectives in common",
		},
	} {
		r := two
		c.change(&r)
		if got := waitText(&r); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestRanges(t *testing.T) {
	for want, list := range map[string][]int64{"": nil, "3": {3}, "0-3,6": {0, 1, 2, 3, 6}, "1,3,5-6": {1, 3, 5, 6}} {
		if got := ranges(list); got != want {
			t.Errorf("%v: %q, want %q", list, got, want)
		}
	}
}

// The steps of several ranks do not add up.
func TestStepsText(t *testing.T) {
	step := func(rank int64, index int) report.Step { return report.Step{Rank: rank, Index: index, Kind: "A"} }
	for _, c := range []struct {
		ranks []int64
		steps []report.Step
		want  string
	}{
		{[]int64{0}, nil, "no optimizer steps"},
		{[]int64{0}, []report.Step{step(0, 0)}, "1 step"},
		{[]int64{0}, []report.Step{step(0, 0), step(0, 0)}, "1 step"}, // of two devices
		{[]int64{0, 1}, []report.Step{step(0, 0), step(1, 0)}, "1 step each"},
		{[]int64{0, 1}, []report.Step{step(0, 0), step(0, 1), step(1, 0)}, "1 to 2 steps each"},
		{[]int64{0, 1}, []report.Step{step(1, 0), step(1, 1)}, "0 to 2 steps each"},
	} {
		if got := stepsText(&report.Report{Source: report.Source{Ranks: c.ranks}, Steps: c.steps}); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
