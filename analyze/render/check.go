package render

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gaprof/gaprof/analyze/gate"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/escape"
)

// Checked is a gate's result with the reports that it judged.
type Checked struct {
	Result  *gate.Result     // never nil
	Reports []*report.Report // those of the side that was judged, not of the baseline
}

// CheckJSON writes the contract gaprof.check/1.
func CheckJSON(w io.Writer, c Checked, _ Options) error {
	return encode(w, c.Result)
}

// CheckText writes for a terminal: the verdict, what failed and what to do, what could not
// be decided and why, then every row.
func CheckText(w io.Writer, c Checked, o Options) error {
	b := o.sheet()
	r := c.Result
	fmt.Fprintf(b, "gaprof %s check  %s\n", r.Version, escape.Control(strings.Join(checkedOf(c), " · ")))
	since := b.line()
	drawSentences(b, checkSentences(r))
	b.repeat(since)
	if t := checkTable(r); !o.Quiet && len(t.rows) > 0 {
		drawText(b, t)
	}
	return b.flush(w)
}

// CheckMarkdown writes for a pull request or the summary of a run of CI.
func CheckMarkdown(w io.Writer, c Checked, o Options) error {
	var b strings.Builder
	r := c.Result
	fmt.Fprintf(&b, "# gaprof check: %s\n\n%s\n\n", r.Verdict, markdownText(strings.Join(checkedOf(c), " · ")))
	for _, s := range checkSentences(r) {
		fmt.Fprintf(&b, "- **%s** %s\n", s.head, markdownText(s.text))
	}
	if t := checkTable(r); !o.Quiet && len(t.rows) > 0 {
		drawMarkdown(&b, t)
	}
	return flush(w, &b)
}

// checkedOf describes what was judged.
func checkedOf(c Checked) []string {
	var parts []string
	if len(c.Reports) > 0 {
		parts = append(parts, rankText(c.Reports[0]), stepsText(c.Reports[0]))
		if device := c.Reports[0].Source.Device; device != "unknown" {
			parts = append(parts, short(device))
		}
	}
	if n := len(c.Reports); n > 1 {
		parts = append(parts, fmt.Sprintf("%d reports", n))
	}
	return parts
}

// checkSentences are the verdict, a sentence on each row that did not pass, and notes.
func checkSentences(r *gate.Result) []sentence {
	list := []sentence{{"CONFIG", configText(r)}}
	if len(r.Baseline) > 0 {
		list = append(list, sentence{"BASELINE", strings.Join(r.Baseline, ", ")})
	}
	list = append(list, sentence{"VERDICT", string(r.Verdict) + ": " + r.Summary})
	for i := range r.StepTimes {
		list = append(list, sentence{"STEP", stepText(&r.StepTimes[i])})
	}
	for _, g := range unpassed(r) {
		row := g[0]
		list = append(list, sentence{rowHead(row), g.text()})
		if row.Finding != "" && row.Check != "finding" {
			list = append(list, sentence{"WHY", row.Finding})
		}
		if row.Next != "" {
			list = append(list, sentence{"NEXT", row.Next})
		}
	}
	if r.Record != nil {
		n := *r.Record
		text := fmt.Sprintf("at least %d steps, so that times decide: schedule(active=%d)", n, n)
		list = append(list, sentence{"RECORD", text})
	}
	for _, note := range r.Notes {
		list = append(list, sentence{"NOTE", note})
	}
	return list
}

// rowGroup is rows that are said in one sentence, at least one.
type rowGroup []*gate.Row

// text is the sentence on the rows of a group.
func (g rowGroup) text() string {
	if len(g) == 1 {
		return rowText(g[0])
	}
	names := make([]string, len(g))
	for i, row := range g {
		names[i] = row.Metric
	}
	return fmt.Sprintf("%d checks: %s (%s)", len(g), g[0].Reason, strings.Join(names, ", "))
}

// sameDoubt is what rows agree in that are undecidable for the very same reason.
type sameDoubt struct{ reason, kind, next string }

// doubtOf is why nothing is known of a row; ok is false for any other row.
func doubtOf(r *gate.Row) (d sameDoubt, ok bool) {
	ok = r.Verdict == gate.Undecidable && r.Value == nil && r.Check != "finding"
	return sameDoubt{r.Reason, r.Kind, r.Next}, ok
}

// unpassed are the rows that did not pass: what failed the gate, other failures, what makes it
// inconclusive, and what could not be decided but need not be.
func unpassed(r *gate.Result) []rowGroup {
	var lists [4][]rowGroup
	var places [4]map[sameDoubt]int
	for i := range places {
		places[i] = make(map[sameDoubt]int)
	}
	for i := range r.Rows {
		row := &r.Rows[i]
		at := 0
		switch {
		case row.Verdict == gate.Fail && row.Severity == report.Error:
		case row.Verdict == gate.Fail:
			at = 1
		case row.Verdict != gate.Undecidable:
			continue
		case row.Severity == report.Error && !row.Tolerated:
			at = 2
		default:
			at = 3
		}
		doubt, unknown := doubtOf(row)
		if i, found := places[at][doubt]; found && unknown {
			lists[at][i] = append(lists[at][i], row)
			continue
		}
		if unknown {
			places[at][doubt] = len(lists[at])
		}
		lists[at] = append(lists[at], rowGroup{row})
	}
	return slices.Concat(lists[:]...)
}

// configText names the configuration that was applied.
func configText(r *gate.Result) string {
	config := r.Config
	if config == "" {
		config = "no " + gate.ConfigFile + " found"
	}
	return config + ", extends " + r.Extends
}

// rowHead is the outcome of a row in a word.
func rowHead(r *gate.Row) string {
	switch {
	case r.Verdict == gate.Undecidable:
		return "UNKNOWN"
	case r.Verdict == gate.Fail && r.Severity == report.Error:
		return "FAIL"
	case r.Verdict == gate.Fail:
		return strings.ToUpper(string(r.Severity))
	}
	return strings.ToUpper(string(r.Verdict))
}

// rowText is one sentence on a row that did not pass.
func rowText(r *gate.Row) string {
	text := r.Metric
	if r.Kind != "" {
		text += " of " + short(r.Kind)
	}
	switch {
	case r.Check == "finding":
		return text + " " + r.Reason + " [" + r.Where + "]"
	case r.Value == nil:
	case r.BaselineValue != nil:
		text += fmt.Sprintf(" went from %s to %s%s (%s)", r.Unit.Format(*r.BaselineValue), r.Unit.Format(*r.Value),
			atText(r), rowChange(r))
	default:
		text += " is " + r.Unit.Format(*r.Value) + atText(r)
	}
	text += "; " + r.Limit
	if r.Reason != "" {
		text += ": " + r.Reason
	}
	return text + " [" + r.Where + "]"
}

// rowChange is a change against the baseline with its size and, for times, its p.
func rowChange(r *gate.Row) string {
	if r.Value == nil || r.BaselineValue == nil {
		return ""
	}
	text, delta := "", *r.Value-*r.BaselineValue
	switch {
	case delta == 0:
		text = "no change"
	case *r.BaselineValue == 0:
		text = "from zero"
	default:
		text = fmt.Sprintf("%+.2f %%", 100*delta / *r.BaselineValue)
	}
	if r.P != nil {
		text += ", " + probability(*r.P)
	}
	return text
}

// atText says on which rank and in which step a value was found.
func atText(r *gate.Row) string {
	text := ""
	if r.Rank != nil {
		text += fmt.Sprintf(" on rank %d", *r.Rank)
	}
	if r.Step != nil {
		text += fmt.Sprintf(" in step %d", *r.Step)
	}
	return text
}

// checkTable is every row, those that did not pass first.
func checkTable(r *gate.Result) table {
	t := table{
		title:  "Checks",
		left:   4,
		header: []string{"verdict", "severity", "what", "of", "baseline", "value", "change", "steps", "limit"},
	}
	for i := range r.Rows {
		row := &r.Rows[i]
		cells := []string{
			rowHead(row), string(row.Severity), row.Metric, short(row.Kind), "", "-", rowChange(row), "", row.Limit,
		}
		if row.BaselineValue != nil {
			cells[4] = row.Unit.Format(*row.BaselineValue)
		}
		if row.Value != nil {
			cells[5] = row.Unit.Format(*row.Value)
		}
		if row.Steps > 0 {
			cells[7] = fmt.Sprint(row.Steps)
		}
		if row.BaselineSteps > 0 {
			cells[7] = fmt.Sprintf("%d, %d", row.BaselineSteps, row.Steps)
		}
		t.rows = append(t.rows, cells)
	}
	order := []string{"FAIL", "WARN", "NOTE", "UNKNOWN", "PASS", "IGNORED"}
	slices.SortStableFunc(t.rows, func(a, b []string) int {
		return slices.Index(order, a[0]) - slices.Index(order, b[0])
	})
	return t
}

// CheckGitHub writes an annotation for the verdict, first because GitHub shows ten of a
// step, and one for each row that did not pass.
func CheckGitHub(w io.Writer, c Checked, _ Options) error {
	var b strings.Builder
	r := c.Result
	severity := report.Note
	switch r.Verdict {
	case gate.Failed:
		severity = report.Error
	case gate.Inconclusive:
		severity = report.Warn
	}
	says := []string{r.Summary, configText(r)}
	for i := range r.StepTimes {
		says = append(says, "step: "+stepText(&r.StepTimes[i]))
	}
	says = append(says, r.Notes...)
	annotation(&b, severity, "gaprof check "+string(r.Verdict), says...)
	for _, g := range unpassed(r) {
		row, title := g[0], "gaprof check: "+g[0].Metric
		text := []string{g.text()}
		if n := len(g) - 1; n > 0 {
			title += fmt.Sprintf(" and %d more", n)
		}
		if row.Finding != "" && row.Check != "finding" {
			text = append(text, row.Finding)
		}
		if row.Next != "" {
			text = append(text, "next: "+row.Next)
		}
		switch row.Verdict {
		case gate.Fail:
			annotation(&b, row.Severity, title, text...)
		case gate.Undecidable:
			severity := report.Note
			if row.BadData || row.Severity == report.Error && !row.Tolerated {
				severity = report.Warn
			}
			annotation(&b, severity, title+" undecidable", text...)
		}
	}
	return flush(w, &b)
}
