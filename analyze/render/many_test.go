package render

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/compare"
	"github.com/gaprof/gaprof/analyze/gate"
	"github.com/gaprof/gaprof/analyze/report"
)

// A report may say anything, such as that it has 10,000 findings of as many rules: what is
// compared, judged and drawn takes a time that grows with them.
func TestManyFindings(t *testing.T) {
	side := func(name string) []*report.Report {
		r := &report.Report{Source: report.Source{Ranks: []int64{0}, Files: []string{name}}}
		r.Steps = []report.Step{{Complete: true}}
		for i := range 10_000 {
			id := fmt.Sprintf("%s%d", name, i)
			if i%2 == 0 {
				id = fmt.Sprint("both", i)
			}
			f := report.Finding{Rule: id, Severity: report.Warn, Message: "found", Also: []string{id + "x"}}
			r.Findings = append(r.Findings, f)
			r.Skipped = append(r.Skipped, report.Skip{Rule: fmt.Sprint("skipped", i), Reason: "because"})
		}
		return []*report.Report{r}
	}
	base, now := side("a"), side("b")
	config, _ := gate.Preset("gaprof:recommended")
	for _, only := range []bool{false, true} {
		c := Checked{gate.Check(config, now, base, gate.Options{OnlyNew: only, FailOn: report.Note}), now}
		draws := []func(io.Writer, Checked, Options) error{CheckText, CheckMarkdown, CheckGitHub, CheckSARIF}
		for _, draw := range draws {
			if err := draw(io.Discard, c, Options{}); err != nil {
				t.Error(err)
			}
		}
	}
	if d := compare.Between(base, now, ""); len(d.Findings) != 15_000 {
		t.Errorf("%d findings changed", len(d.Findings))
	}
}

// Long texts are wrapped in time that grows with them, and lose nothing.
func TestLongTexts(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("x", 1<<18), strings.Repeat("a/b", 1<<16), strings.Repeat("word ", 1<<18),
		strings.Repeat("% ", 1<<18), strings.Repeat("a  b ", 1<<17),
	} {
		without := strings.NewReplacer(" ", "", "\n", "")
		var b strings.Builder
		for _, line := range wrapWithin(text, 80) {
			b.WriteString(line)
		}
		if without.Replace(b.String()) != without.Replace(text) {
			t.Errorf("%.20q: other text", text)
		}
		if got := FitText(text, 80); without.Replace(got) != without.Replace(text) {
			t.Errorf("%.20q: other text of a line", text)
		}
		s := &sheet{width: 80}
		drawSentences(s, []sentence{{"NOTE", text}})
	}
}
