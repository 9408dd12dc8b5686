package agent

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/gate"
	"github.com/gaprof/gaprof/analyze/report"
)

// same calls a choice what the library calls it.
func same(text string) string { return text }

// large is a report with n of everything, each text of so many times a piece.
func large(n, times int, piece string) *report.Report {
	text := strings.Repeat(piece, times)
	r := &report.Report{Version: "0.1", Time: &report.Time{Of: "step", Count: 3, Length: 9}}
	r.Source.Device = text
	for i := range n {
		name := fmt.Sprint(i) + text
		r.Source.Files = append(r.Source.Files, name)
		r.Source.Ranks = append(r.Source.Ranks, int64(i))
		r.Source.RankFiles = append(r.Source.RankFiles, report.RankFile{Rank: int64(i), File: name})
		r.Time.Parts = append(r.Time.Parts, report.Part{What: name, Mean: 1 << 60})
		r.Skipped = append(r.Skipped, report.Skip{Rule: name, Reason: name}, report.Skip{Rule: name, Reason: text})
		f := report.Finding{Rule: name, Severity: report.Severity(name), Message: text, Why: text, Fix: text,
			Change: &report.Change{Before: text, After: text}}
		for range n {
			f.Caveats = append(f.Caveats, text)
			f.Evidence = append(f.Evidence, report.Evidence{Rank: int64(i), Name: text, Track: text})
		}
		r.Findings = append(r.Findings, f)
	}
	return r
}

// An answer is never longer than asked for, and says how much is missing.
func TestBound(t *testing.T) {
	for _, piece := range []string{"x", "\x1b", "\u202e", "\\", "é", "\xff"} {
		for _, n := range []int{0, 1, 12} {
			for _, times := range []int{1, 30, 300} {
				r := large(n, times, piece)
				for _, most := range []int{0, Bytes, 1 << 16} {
					text, err := OfReport(r, strings.Repeat(piece, times), Inputs{r.Source.Files, same}).Within(most)
					if err != nil {
						t.Fatal(err)
					}
					checkAnswer(t, text, max(most, Bytes), n)
				}
			}
		}
	}
}

func checkAnswer(t *testing.T, text []byte, most, findings int) {
	t.Helper()
	if len(text) > most {
		t.Fatalf("%d bytes, more than %d: %.200s", len(text), most, text)
	}
	var a Answer
	if err := json.Unmarshal(text, &a); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if n := len(a.Findings) + a.LeftOut.Findings; n != findings {
		t.Errorf("%d findings here and left out, of %d", n, findings)
	}
	if findings > 0 && len(a.Findings) == 0 {
		t.Error("no finding is left")
	}
}

// What fits is whole.
func TestNothingIsCutThatFits(t *testing.T) {
	r := large(1, 3, "abc")
	text, err := OfReport(r, "v", Inputs{[]string{"a b.json"}, same}).Within(0)
	if err != nil {
		t.Fatal(err)
	}
	var a Answer
	if err := json.Unmarshal(text, &a); err != nil {
		t.Fatal(err)
	}
	if a.LeftOut != (LeftOut{}) {
		t.Errorf("left out: %+v", a.LeftOut)
	}
	if got := a.Findings[0].Evidence[0].File; got != "0abcabcabc" {
		t.Errorf("the evidence is in %q", got)
	}
	want := []string{"gaprof explain 0abcabcabc", "gaprof report 'a b.json' -o report.html"}
	if !slices.Equal(a.Next, want) {
		t.Errorf("next: %q, want %q", a.Next, want)
	}
}

// Rows that failed come before those that could not be decided, errors first; what passed is
// counted.
func TestOfCheck(t *testing.T) {
	row := func(metric string, v gate.Verdict, s report.Severity) gate.Row {
		return gate.Row{Metric: metric, Verdict: v, Severity: s}
	}
	c := &gate.Result{Verdict: gate.Failed, Summary: "two fail", Rows: []gate.Row{
		row("a", gate.Pass, report.Error), row("b", gate.Undecidable, report.Error), row("c", gate.Fail, report.Warn),
		row("d", gate.Fail, report.Error),
	}}
	a := OfCheck(c, nil, Inputs{})
	var order []string
	for _, k := range a.Checks {
		order = append(order, k.Metric)
	}
	if got := strings.Join(order, " "); got != "d c b" || a.Verdict != "failed: two fail; 1 check passed" {
		t.Errorf("%s: %s", got, a.Verdict)
	}
}

// Commands are for a shell, or are left out.
func TestCommand(t *testing.T) {
	for _, test := range []struct {
		inputs []string
		want   string
	}{
		{[]string{"a.json", "b/c.json"}, "gaprof x a.json b/c.json -q {c}"},
		{[]string{"it's *"}, `gaprof x 'it'\''s *' -q {c}`},
		{[]string{"-o"}, "gaprof x ./-o -q {c}"},
		{[]string{""}, "gaprof x '' -q {c}"},
		{[]string{"-"}, ""},
		{[]string{"a\nb"}, ""},
		{nil, ""},
		{make([]string, mostInputs+1), ""},
	} {
		if got := strings.Join(Inputs{test.inputs, same}.command("x", "-q", "{c}"), "|"); got != test.want {
			t.Errorf("%q: %s, want %s", test.inputs, got, test.want)
		}
	}
}

// An edit that says what a change gains is better than a bound, whatever the bound.
func TestBest(t *testing.T) {
	gain := &report.WhatIfRange{Mean: 1}
	w := &report.WhatIf{Edits: []report.WhatIfEdit{
		{Edit: "no"}, {Edit: "bound", Legal: true, Bound: true, Gain: gain}, {Edit: "yes", Legal: true, Gain: gain},
	}}
	if e := Best(w); e == nil || e.Edit != "yes" {
		t.Errorf("best is %+v", e)
	}
	if e := Best(&report.WhatIf{Edits: w.Edits[:2]}); e == nil || e.Edit != "bound" {
		t.Errorf("best of bounds is %+v", e)
	}
	if e := Best(&report.WhatIf{Edits: w.Edits[:1]}); e != nil {
		t.Errorf("best of nothing is %+v", e)
	}
}
