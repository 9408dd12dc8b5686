package render

import (
	"bytes"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/gate"
	"github.com/gaprof/gaprof/analyze/report"
)

func TestMarkdownText(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "plain λ": "plain λ", "-5": "-5", "-": "-", "1.5 ms": "1.5 ms", "  reduce-scatter": "  reduce-scatter",
		"at::add": "at::add",
		"<b>&":    "&lt;b&gt;&amp;", "a|b": `a\|b`, "[x](y)": `\[x\](y)`, "![x]": `\!\[x\]`, "$x$": `\$x\$`, `\`: `\\`,
		"http://e": "http:&#8203;//e", "www.e.com": "www&#8203;.e.com", "@me": "&#64;&#8203;me",
		"- item": `\- item`, "+ item": `\+ item`, "12. item": `12\. item`, "---": `\---`, " ==": `\==`,
		"# head": `\# head`, "    code": "code", "     - code": `\- code`,
		"::error::x": `\::error::x`, " ::error::x": `\::error::x`, "a\n::error::x": `a\\n::error::x`,
	} {
		if got := markdownText(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// What is unknown for one reason is said once; a failure comes before it, and a warning too.
func TestCheckSentences(t *testing.T) {
	two := 2.0
	row := func(metric string, v gate.Verdict, s report.Severity, reason string) gate.Row {
		return gate.Row{Check: "regression", Metric: metric, Verdict: v, Severity: s, Reason: reason, Limit: "+0"}
	}
	few := row("few", gate.Undecidable, report.Error, "few steps")
	few.Value, few.BaselineValue = &two, &two
	r := &gate.Result{Rows: []gate.Row{
		row("a", gate.Undecidable, report.Error, "no shapes"),
		row("passed", gate.Pass, report.Error, ""),
		row("warned", gate.Fail, report.Warn, ""),
		row("b", gate.Undecidable, report.Error, "no shapes"),
		few,
		row("c", gate.Undecidable, report.Error, "no ranks"),
		row("d", gate.Undecidable, report.Warn, "no shapes"),
		row("failed", gate.Fail, report.Error, ""),
	}}
	r.Rows[7].Finding = "OV004 warn: exposed"
	var got []string
	for _, s := range checkSentences(r)[2:] {
		got = append(got, s.head+" "+s.text)
	}
	want := []string{
		"FAIL failed; +0 []", "WHY OV004 warn: exposed", "WARN warned; +0 []", "UNKNOWN 2 checks: no shapes (a, b)",
		"UNKNOWN few went from 2 to 2 (no change); +0: few steps []", "UNKNOWN c; +0: no ranks []",
		"UNKNOWN d; +0: no shapes []",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	var b strings.Builder
	if err := CheckGitHub(&b, Checked{Result: r}, Options{}); err != nil ||
		!strings.Contains(b.String(),
			"\n::warning title=gaprof check%3A a and 1 more undecidable::2 checks: no shapes (a, b)\n") {
		t.Errorf("%v\n%s", err, b.String())
	}
}

// No format of check lets a name out of its place, also where lines are wrapped.
func TestCheckNasty(t *testing.T) {
	value, word := 2.0, strings.Repeat(nasty+" ::error::x ##[y] ", 20)
	c := Checked{
		Reports: []*report.Report{nastyReport()},
		Result: &gate.Result{
			Config:   word,
			Baseline: []string{word},
			Notes:    []string{word},
			Summary:  word,
			Verdict:  gate.Failed,
		},
	}
	for _, v := range []gate.Verdict{gate.Fail, gate.Undecidable, gate.Pass, gate.Ignored} {
		c.Result.Rows = append(c.Result.Rows, gate.Row{
			Check:         "budget",
			Metric:        word,
			Kind:          word,
			Verdict:       v,
			Severity:      report.Error,
			Value:         &value,
			BaselineValue: &value,
			Reason:        word,
			Next:          word,
			Limit:         word,
			Where:         word,
		})
	}
	for _, name := range Checks.Names() {
		f, err := Checks.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := f.Write(&b, c, Options{}); err != nil {
			t.Fatal(err)
		}
		out := b.String()
		if name == "html" {
			out = withoutScripts(t, out)
			harmless(t, b.String())
		}
		json := name == "json" || name == "agent"
		if !json && strings.ContainsAny(out, "\x1b\x00\u202e") ||
			strings.Contains(out, "##[") && !json && name != "html" ||
			name != "text" && name != "github" && strings.Contains(out, "<script>") {
			t.Errorf("%s: %q", name, out)
		}
		for line := range strings.Lines(b.String()) {
			if command := strings.HasPrefix(strings.TrimSpace(line), "::"); command != (name == "github") {
				t.Errorf("%s: %q", name, line)
			}
		}
	}
	if _, err := Checks.ByName("csv"); err == nil {
		t.Error("csv is a format of check")
	}
}
