package render

import (
	"fmt"
	"io"
	"strings"

	"github.com/gaprof/gaprof/analyze/report"
)

// Markdown writes for a pull request or a wiki.
func Markdown(w io.Writer, r *report.Report, o Options) error {
	var b strings.Builder
	r = withKinds(r)
	fmt.Fprintf(&b, "# gaprof\n\n%s\n\n", markdownText(strings.TrimPrefix(headline(r, o), "gaprof "+r.Version+"  ")))
	if len(r.Findings) == 0 || r.Findings[0].Severity == report.Note {
		fmt.Fprintf(&b, "**Verdict:** %s\n", markdownText(headlineOfNothing(r)))
	} else {
		for _, s := range unnamed(r) {
			fmt.Fprintf(&b, "**Largest:** %s\n\n", markdownText(s.text))
		}
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		fmt.Fprintf(&b, "- **%s %s** %s\n", f.Rule, f.Severity, markdownText(f.Message))
		fmt.Fprintf(&b, "  - why: %s\n  - fix: %s\n", markdownText(f.Why), markdownText(f.Fix))
		markdownChange(&b, f, "  ")
		if text := predictedText(f); text != "" {
			fmt.Fprintf(&b, "  - replay: %s\n", markdownText(text))
		}
		for _, c := range f.Caveats {
			fmt.Fprintf(&b, "  - but: %s\n", markdownText(c))
		}
	}
	if len(r.Ranks) > 1 {
		fmt.Fprintf(&b, "\n**Ranks:** %s\n", markdownText(waitText(r)))
	}
	if text := memoryText(r); text != "" {
		fmt.Fprintf(&b, "\n**Memory:** %s\n", markdownText(text))
	}
	for _, t := range tables(r, o) {
		drawMarkdown(&b, t)
	}
	for i, s := range unjudged(r) {
		if i == 0 {
			b.WriteString("\n## Not judged\n\n")
		}
		fmt.Fprintf(&b, "- %s: %s\n", s.Rule, markdownText(s.Reason))
	}
	return flush(w, &b)
}

// markdownChange draws the change of a finding as two items of a list, and the lines of the
// program that it is about. It is no block of code:
// a report that was read from a file may hold anything there.
func markdownChange(b *strings.Builder, f *report.Finding, indent string) {
	if f.Change != nil {
		fmt.Fprintf(b, "%s- before: %s\n%s- after: %s\n",
			indent, markdownText(f.Change.Before), indent, markdownText(f.Change.After))
	}
	if text := codeText(f); text != "" {
		fmt.Fprintf(b, "%s- at: %s\n", indent, markdownText(text))
	}
}
