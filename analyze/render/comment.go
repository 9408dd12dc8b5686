package render

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gaprof/gaprof/analyze/gate"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/units"
)

const (
	// commentMark is the first line of a comment, which GitHub does not show: a program that
	// comments looks for it, and replaces what it wrote before.
	commentMark = "<!-- gaprof check -->"

	// mostComment is how long a comment on GitHub may be, in characters; bytes are no fewer.
	mostComment = 65536

	mostCommentRows     = 20
	mostCommentFindings = 10
	mostCommentText     = 600 // characters of one sentence
)

// CheckComment writes a comment on a pull request in the Markdown of GitHub: the verdict, the rows
// that changed or did not pass, new findings with the line to change, and the rest folded. It
// is never longer than GitHub takes, and says what was left out.
func CheckComment(w io.Writer, c Checked, o Options) error {
	var head, tail strings.Builder
	r := c.Result
	fmt.Fprintf(&head, "%s\n**gaprof: %s** %s\n", commentMark, r.Verdict, commentText(r.Summary))
	for i := range r.StepTimes {
		fmt.Fprintf(&head, "\nStep time, %s\n", commentText(stepText(&r.StepTimes[i])))
	}
	if t := changedTable(r); len(t.rows) > 0 {
		commentTable(&head, t, mostCommentRows)
	}
	commentFindings(&head, r)
	commentOld(&head, r)
	fmt.Fprintf(&tail, "\n<details><summary>All %s</summary>\n\n", units.Count(len(r.Rows), "check"))
	for _, s := range checkSentences(r) {
		fmt.Fprintf(&tail, "- **%s** %s\n", s.head, commentText(s.text))
	}
	commentTable(&tail, checkTable(r), len(r.Rows))
	const end = "\n</details>\n"
	said := commentCut(head.String(), mostComment/2)
	_, err := io.WriteString(w, said+commentCut(tail.String(), mostComment-len(said)-len(end))+end)
	return err
}

// commentCut leaves out the last lines of a text that has more bytes than most, and says so.
func commentCut(text string, most int) string {
	const cut = "\n(more is left out: a comment takes 65,536 characters)\n"
	if len(text) <= most {
		return text
	}
	text = text[:most-len(cut)]
	return text[:strings.LastIndexByte(text, '\n')+1] + cut
}

// commentText is a sentence that mentions nobody and links to nothing, also not by a # or GH-
// before a number.
func commentText(s string) string {
	if runes := []rune(s); len(runes) > mostCommentText {
		s = string(runes[:mostCommentText]) + "…"
	}
	return strings.NewReplacer(`\#`, `\#&#8203;`, "GH-", "GH&#8203;-").Replace(markdownText(s))
}

// changedTable is the rows of a gate that did not pass, and those whose value is another than the
// baseline's. Findings are said below it.
func changedTable(r *gate.Result) table {
	t := table{left: 2, header: []string{"verdict", "what", "baseline", "now", "change", "limit"}}
	for i := range r.Rows {
		row := &r.Rows[i]
		moved := row.Value != nil && row.BaselineValue != nil && *row.Value != *row.BaselineValue
		if row.Check == "finding" || row.Verdict == gate.Ignored || row.Verdict != gate.Fail && !moved {
			continue
		}
		cells := []string{rowHead(row), row.Metric, "", "", rowChange(row), row.Limit}
		if row.Kind != "" {
			cells[1] += " of " + short(row.Kind)
		}
		if row.BaselineValue != nil {
			cells[2] = row.Unit.Format(*row.BaselineValue)
		}
		if row.Value != nil {
			cells[3] = row.Unit.Format(*row.Value)
		}
		t.rows = append(t.rows, cells)
	}
	order := []string{"FAIL", "WARN", "NOTE", "UNKNOWN", "PASS"}
	slices.SortStableFunc(t.rows, func(a, b []string) int {
		return slices.Index(order, a[0]) - slices.Index(order, b[0])
	})
	return t
}

// commentTable draws at most some rows of a table, and says how many it leaves out.
func commentTable(b *strings.Builder, t table, most int) {
	if len(t.rows) == 0 {
		return
	}
	line := func(cells []string) {
		for _, cell := range cells {
			b.WriteString("| " + commentText(cell) + " ")
		}
		b.WriteString("|\n")
	}
	b.WriteString("\n")
	line(t.header)
	b.WriteString(strings.Repeat("| --- ", len(t.header)) + "|\n")
	for _, cells := range t.rows[:min(most, len(t.rows))] {
		line(cells)
	}
	if n := len(t.rows) - most; n > 0 {
		fmt.Fprintf(b, "\nand %s\n", units.Count(n, "row"))
	}
}

// commentFindings are the findings above a note that are new; without a baseline, all.
func commentFindings(b *strings.Builder, r *gate.Result) {
	title, list := "Findings", r.Findings
	if len(r.Baseline) > 0 {
		title = "New findings"
	}
	list = slices.DeleteFunc(slices.Clone(list), func(f gate.Found) bool {
		old := f.State == gate.Unchanged || f.State == gate.Absent
		return old || f.Ignored != "" || !f.Severity.AtLeast(report.Warn)
	})
	for i, f := range list[:min(mostCommentFindings, len(list))] {
		if i == 0 {
			fmt.Fprintf(b, "\n### %s\n\n", title)
		}
		fmt.Fprintf(b, "- **%s %s** %s\n", f.Rule, f.Severity, commentText(f.Message))
		if code := f.Finding.Code(); len(code) > 0 {
			fmt.Fprintf(b, "  - in: %s\n", commentText(strings.Join(code[:min(3, len(code))], ", ")))
		}
		if change := f.Finding.Change; change != nil {
			fmt.Fprintf(b, "  - before: %s\n  - after: %s\n", commentText(change.Before), commentText(change.After))
		} else if f.Finding.Fix != "" {
			fmt.Fprintf(b, "  - fix: %s\n", commentText(f.Finding.Fix))
		}
	}
	if n := len(list) - mostCommentFindings; n > 0 {
		fmt.Fprintf(b, "- and %d more\n", n)
	}
}

// commentOld counts what both sides have, and what only the baseline has.
func commentOld(b *strings.Builder, r *gate.Result) {
	for _, s := range []struct {
		state gate.State
		says  string
	}{{gate.Unchanged, "in the baseline too"}, {gate.Absent, "of the baseline gone"}} {
		var names []string
		for _, f := range r.Findings {
			if f.State == s.state {
				names = append(names, f.Rule)
			}
		}
		if len(names) > 0 {
			fmt.Fprintf(b, "\n%s %s: %s\n",
				units.Count(len(names), "finding"), s.says, commentText(strings.Join(names, ", ")))
		}
	}
}
