package render

import (
	"bytes"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/gate"
)

func TestInert(t *testing.T) {
	for text, want := range map[string]string{
		"at::native::add": "at::native::add", "::error::x": `\x3a:error::x`, "a ::error::x": `a \x3a:error::x`, "##[add-mask]x": `#\x23[add-mask]x`, "a\n::error::": `a\n::error::`,
	} {
		if got := inert(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// No format of check lets a name out of its place, also where lines are wrapped.
func TestCheckNasty(t *testing.T) {
	value, word := 2.0, strings.Repeat(nasty+" ::error::x ##[y] ", 20)
	c := Checked{Reports: []*analyze.Report{nastyReport()}, Result: &gate.Result{Config: word, Baseline: []string{word}, Notes: []string{word}, Summary: word, Verdict: gate.Failed}}
	for _, v := range []gate.Verdict{gate.Fail, gate.Undecidable, gate.Pass, gate.Ignored} {
		c.Result.Rows = append(c.Result.Rows, gate.Row{Check: "budget", Metric: word, Kind: word, Verdict: v, Severity: analyze.Error, Value: &value, BaselineValue: &value, Reason: word, Next: word, Limit: word, Where: word})
	}
	for _, name := range CheckFormatNames() {
		f, err := CheckByName(name)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := f.Write(&b, c, Options{}); err != nil {
			t.Fatal(err)
		}
		if name != "json" && strings.ContainsAny(b.String(), "\x1b\x00\u202e") || strings.Contains(b.String(), "##[") && name != "json" || name != "text" && name != "github" && strings.Contains(b.String(), "<script>") {
			t.Errorf("%s: %q", name, b.String())
		}
		for line := range strings.Lines(b.String()) {
			if command := strings.HasPrefix(strings.TrimSpace(line), "::"); command != (name == "github") {
				t.Errorf("%s: %q", name, line)
			}
		}
	}
	if _, err := CheckByName("csv"); err == nil {
		t.Error("csv is a format of check")
	}
}
