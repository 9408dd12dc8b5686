package render

import (
	"fmt"
	"io"
	"strings"

	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/escape"
)

// The format github is workflow commands, one a line: GitHub shows each as an annotation
// of the run. The summary in Markdown is a file of its own, which the command writes.

// GitHub writes an annotation for each finding and for damage of the input.
func GitHub(w io.Writer, r *report.Report, _ Options) error {
	var b strings.Builder
	r = withKinds(r)
	for i := range r.Findings {
		f := &r.Findings[i]
		annotation(&b, f.Severity, "gaprof "+f.Rule, f.Message, f.Why, "fix: "+f.Fix)
	}
	for _, p := range r.Health.Problems {
		if p.Severity != string(report.Note) {
			annotation(&b, report.Warn, "gaprof: trace health", p.File+": "+p.Message)
		}
	}
	if b.Len() == 0 {
		annotation(&b, report.Note, "gaprof", headlineOfNothing(r))
	}
	return flush(w, &b)
}

// annotation writes one workflow command of some lines. Its severities are error, warning
// and notice.
func annotation(b *strings.Builder, severity report.Severity, title string, lines ...string) {
	command := "notice"
	switch severity {
	case report.Error:
		command = "error"
	case report.Warn:
		command = "warning"
	}
	for i, line := range lines {
		lines[i] = strings.NewReplacer("%", "%25").Replace(escape.Control(line))
	}
	fmt.Fprintf(b, "::%s title=%s::%s\n", command, propertyText(title), strings.Join(lines, "%0A"))
}

// propertyText is a value of a workflow command's property.
func propertyText(s string) string {
	return strings.NewReplacer("%", "%25", ":", "%3A", ",", "%2C").Replace(escape.Control(s))
}
