package render

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/gate"
	"github.com/gaprof/gaprof/analyze/report"
)

// checked is a gate's result with a row of every outcome and a finding of every state.
func checked() Checked {
	value, cost := 2.0, int64(1500)
	r := &report.Report{Source: report.Source{
		Files:     []string{"a b.json", "b.json"},
		RankFiles: []report.RankFile{{Rank: 0, File: "a b.json"}, {Rank: 1, File: "b.json"}},
	}}
	r.Findings = []report.Finding{
		{Rule: "OV004", Severity: report.Error, Message: "late [x](y)", Fix: "hook", Cost: &cost,
			Saving: &report.Range{High: 9}, Change: &report.Change{Before: "step()", After: "hook()"},
			Evidence: []report.Evidence{
				{Rank: 1, Name: "nccl"}, {Rank: 1, Name: "nccl", Code: "dir/train.py(57): step"},
				{Rank: 1, Name: "nccl", Code: "dir/train.py(57): step"}, {Rank: 0, Name: "n", Code: "loop.py(3): f"},
			}},
		{Rule: "GS002", Severity: report.Note, Message: "fold", Evidence: []report.Evidence{{Rank: 1, Name: "k"}}},
		{Rule: "AC001", Severity: report.Warn, Message: "sync"},
		{Rule: "AC001", Severity: report.Warn, Message: "less"},
	}
	offset := int64(77)
	r.Health.Problems = []report.Problem{{File: "b.json", Severity: "warn", Message: "cut", Offset: &offset}}
	c := &gate.Result{Version: "9", Verdict: gate.Failed, Summary: "1 of 5 checks failed",
		Baseline: []string{"main.json"},
		Exit:     report.Exit{Code: 1, Reason: "failed: 1"}, Findings: gate.FoundIn([]*report.Report{r})}
	for i, s := range []gate.State{gate.New, gate.Unchanged, gate.Absent, gate.New} {
		c.Findings[i].State = s
	}
	c.Findings[3].Ignored = "known"
	row := func(v gate.Verdict, s report.Severity, tolerated bool) gate.Row {
		return gate.Row{Check: "budget", Metric: "m", Verdict: v, Severity: s, Value: &value, Limit: "max 1",
			Reason: "why", Next: "do", Tolerated: tolerated}
	}
	c.Rows = []gate.Row{
		row(gate.Pass, report.Error, false), row(gate.Fail, report.Error, false), row(gate.Fail, report.Warn, false),
		row(gate.Undecidable, report.Error, false), row(gate.Undecidable, report.Error, true),
		row(gate.Undecidable, report.Warn, false), row(gate.Ignored, report.Error, false),
	}
	return Checked{Result: c, Reports: []*report.Report{r}}
}

// TestSARIF holds what the standard requires, and what GitHub does beyond it.
func TestSARIF(t *testing.T) {
	var b bytes.Buffer
	rule := func(id string) (RuleText, bool) {
		return RuleText{Title: "t " + id, Why: "w", Fix: "f", Before: "b"}, true
	}
	if err := CheckSARIF(&b, checked(), Options{Rule: rule}); err != nil {
		t.Fatal(err)
	}
	var log sarifLog
	if err := json.Unmarshal(b.Bytes(), &log); err != nil || log.Version != "2.1.0" || len(log.Runs) != 1 {
		t.Fatalf("%v\n%s", err, b.String())
	}
	run := log.Runs[0]
	var got []string
	for _, r := range run.Results {
		l := r.Locations[0]
		got = append(got, fmt.Sprintf("%s %s %s %q %d %s:%d %d", r.Rule, r.State, r.Level, r.Kind, len(r.Locations),
			l.Physical.Artifact.URI, l.Physical.Region.Line, len(r.Suppressions)))
		of := run.Tool.Driver.Rules[r.Index]
		if of.ID != r.Rule || of.Short.Text == "" || of.Help.Text == "" || !strings.HasSuffix(of.URI, r.Rule+".md") ||
			r.Message.Text == "" || len(r.Fingerprints["gaprof/v1"]) != 16 ||
			r.Fingerprints["primaryLocationLineHash"] == "" {
			t.Errorf("%+v of %+v", r, of)
		}
	}
	want := []string{
		`OV004 new error "fail" 2 dir/train.py:57 0`, `AC001 unchanged warning "fail" 1 a%20b.json:1 0`,
		`AC001 absent none "pass" 1 a%20b.json:1 0`, `GS002 new note "fail" 1 b.json:1 1`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if run.Results[0].Message.Text != `late \[x\](y). Fix: hook` || len(run.Tool.Driver.Rules) != 3 {
		t.Errorf("%+v", run.Results[0].Message)
	}
	ended := run.Invocations[0]
	levels := ""
	for _, n := range ended.Notes {
		levels += n.Level + " "
	}
	last := ended.Notes[len(ended.Notes)-1].Locations[0].Physical
	if !ended.Successful || ended.Code != 1 || levels != "note error warning warning note warning warning " ||
		*last.Region.Offset != 77 || last.Artifact.URI != "b.json" {
		t.Errorf("%s: %+v", levels, ended)
	}
}

func TestFileURI(t *testing.T) {
	for file, want := range map[string]string{
		"a/b.json": "a/b.json", "./a.json": "a.json", "/x y/a.json": "file:///x%20y/a.json", "": "stdin", "-": "stdin",
		"a:b.json": "./a:b.json", "C:/t/a.json": "file:///C:/t/a.json", "a\n\x1b.json": "a%0A%1B.json",
	} {
		if got := fileURI(file); got != want {
			t.Errorf("%q: %s, want %s", file, got, want)
		}
	}
}

// Outcomes become those of test cases; what is inconclusive alone is an error of its own.
func TestJUnit(t *testing.T) {
	type suites struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Errors   int `xml:"errors,attr"`
		Suite    struct {
			Skipped int `xml:"skipped,attr"`
			Cases   []struct {
				Inner string `xml:",innerxml"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	read := func(c Checked) (s suites, outcomes string) {
		var b bytes.Buffer
		if err := CheckJUnit(&b, c, Options{}); err != nil {
			t.Fatal(err)
		}
		if err := xml.Unmarshal(b.Bytes(), &s); err != nil {
			t.Fatalf("%v\n%s", err, b.String())
		}
		for _, one := range s.Suite.Cases {
			name, _, _ := strings.Cut(strings.TrimPrefix(one.Inner, "<"), " ")
			name, _, _ = strings.Cut(name, ">")
			outcomes += name + ","
		}
		return s, outcomes
	}
	c := checked()
	s, outcomes := read(c)
	if outcomes != ",failure,system-out,error,skipped,skipped,skipped," || s.Tests != 7 || s.Failures != 1 ||
		s.Errors != 1 || s.Suite.Skipped != 3 {
		t.Errorf("%s %+v", outcomes, s)
	}
	c.Result.Exit.Code = 0 // it is allowed
	if _, outcomes := read(c); outcomes != ",failure,system-out,skipped,skipped,skipped,skipped," {
		t.Error(outcomes)
	}
	none := Checked{Result: &gate.Result{Verdict: gate.Inconclusive, Exit: report.Exit{Code: 4}, Summary: "no step"}}
	if s, outcomes := read(none); outcomes != "error," || s.Errors != 1 {
		t.Error(outcomes)
	}
}

// TestComment holds the frame of a comment, and that it is never longer than one may be.
func TestComment(t *testing.T) {
	var b bytes.Buffer
	c := checked()
	if err := CheckComment(&b, c, Options{}); err != nil {
		t.Fatal(err)
	}
	const want = "<!-- gaprof check -->\n**gaprof: failed** 1 of 5 checks failed\n\n" +
		"| verdict | what | baseline | now | change | limit |\n| --- | --- | --- | --- | --- | --- |\n" +
		"| FAIL | m |  | 2 |  | max 1 |\n| WARN | m |  | 2 |  | max 1 |\n\n### New findings\n\n" +
		"- **OV004 error** late \\[x\\](y)\n  - in: dir/train.py(57): step, loop.py(3): f\n" +
		"  - before: step()\n  - after: hook()\n\n1 finding in the baseline too: AC001\n\n" +
		"1 finding of the baseline gone: AC001\n\n<details><summary>All 7 checks</summary>\n\n"
	if got := b.String(); !strings.HasPrefix(got, want) || !strings.HasSuffix(got, "|\n\n</details>\n") {
		t.Errorf("got\n%s", got)
	}
	long := strings.Repeat("@a #1 GH-2 ", 500)
	for range 400 {
		row := c.Result.Rows[1]
		row.Metric, row.Reason, row.Limit, row.Kind = long, long, long, long
		c.Result.Rows = append(c.Result.Rows, row)
		one := c.Result.Findings[0]
		one.Message = long
		c.Result.Findings = append(c.Result.Findings, one)
	}
	b.Reset()
	if err := CheckComment(&b, c, Options{}); err != nil {
		t.Fatal(err)
	}
	if got := b.String(); len(got) > 65536 || !strings.HasSuffix(got, "65,536 characters)\n\n</details>\n") ||
		strings.Count(got, "<details>") != 1 ||
		strings.Contains(got, "@a") || strings.Contains(got, "#1") || strings.Contains(got, "GH-2") {
		t.Errorf("%d bytes: %.3000s", len(got), got)
	}
}
