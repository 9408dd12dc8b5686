package render

import (
	"bytes"
	"encoding/xml"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/report"
)

// TestHistory: what came, what went and how long the steps took, oldest first; names of runs
// and of findings are text.
func TestHistory(t *testing.T) {
	cost := int64(2e6)
	finding := func(rule string) report.Finding {
		return report.Finding{Rule: rule, Severity: report.Warn, Title: "title of " + rule, Message: "m", Cost: &cost}
	}
	run := func(idle int64, f ...report.Finding) *report.Report {
		r := partsReport(f, causes{KernelGap: idle * 1e6},
			part{What: "compute", Mean: 90}, part{What: "idle", Mean: idle})
		r.Time.Count = 4
		return r
	}
	runs := []Run{{"monday", run(10, finding("OV001"))}, {nasty, run(30, finding("OV001"), finding("OP001"))},
		{"wednesday", run(20, finding("OP001"))}}
	var b bytes.Buffer
	if err := HistoryHTML(&b, runs, Options{}); err != nil {
		t.Fatal(err)
	}
	harmless(t, b.String())
	words := elements(t, b.String(), func(xml.StartElement) {})
	for _, want := range []string{
		"3 runs: monday to wednesday", "Gone since the run before: OV001 title of OV001.",
		"OP001\ntitle of OP001\n-\n2.00\n2.00\n", "OV001\ntitle of OV001\n2.00\n2.00\n-\n",
		"idle: 20.00 ms", "+20.0 %", "-8.3 %",
	} {
		if !strings.Contains(words, want) {
			t.Errorf("no %q in:\n%s", want, words)
		}
	}
	if strings.Contains(words, "New in the last run") {
		t.Error("nothing is new in the last run")
	}
}

// TestWhatIfHTML: predictions as a page; names are text.
func TestWhatIfHTML(t *testing.T) {
	w := &report.WhatIf{Files: []string{nasty}, Edits: []report.WhatIfEdit{
		{Edit: "bucket", Title: nasty, How: "h", Legal: true, Gain: &report.WhatIfRange{Mean: 3e6, High: 4e6}},
		{Edit: "free", Legal: true, Bound: true, Gain: &report.WhatIfRange{Mean: 6e6}},
		{Edit: "none", Reason: nasty},
	}}
	var b bytes.Buffer
	if err := WhatIfHTML(&b, w, Options{}); err != nil {
		t.Fatal(err)
	}
	harmless(t, b.String())
	words := elements(t, b.String(), func(xml.StartElement) {})
	for _, want := range []string{"What a change gains, ms per step", "free (bound)", "GAIN"} {
		if !strings.Contains(words, want) {
			t.Errorf("no %q in:\n%s", want, words)
		}
	}
}

// TestRunName: what the names of files have in common.
func TestRunName(t *testing.T) {
	for _, test := range []struct{ files, want string }{
		{"", ""}, {"a/b.json.gz", "b.json.gz"}, {`c:\x\b.json`, "b.json"},
		{"r/rank0.json r/rank1.json", "r/rank*.json (2 files)"},
		{"./rank0.json ./rank1.json", "rank*.json (2 files)"}, {"../../rank0 ../../rank1", "rank* (2 files)"},
		{`c:\x\rank0 c:\x\rank1`, "x/rank* (2 files)"},
		{"/a/b/r0 /a/c/r0", "r0* (2 files)"}, {"ab.json.gz ac.pt", "a* (2 files)"},
		{"x y z", "x and others (3 files)"}, {"aa.json aaa.json", "aa*.json (2 files)"}, {"x x", "x* (2 files)"},
	} {
		if got := runName(strings.Fields(test.files)); got != test.want {
			t.Errorf("%q: %q, not %q", test.files, got, test.want)
		}
	}
}
