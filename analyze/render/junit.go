package render

import (
	"cmp"
	"fmt"
	"html"
	"io"
	"strings"

	"github.com/gaprof/gaprof/analyze/gate"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/escape"
)

// CheckJUnit writes the rows of a gate as test cases, in the XML that Jenkins, GitLab and others
// read. A case fails where its row makes the gate fail, and is an error where it makes it
// inconclusive. One that is ignored, or need not be decided, is skipped; a warning passes and
// is said in the output of its case.
func CheckJUnit(w io.Writer, c Checked, _ Options) error {
	s := junitOf(c.Result)
	var b strings.Builder
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?>` + "\n")
	fmt.Fprintf(&b, "<testsuites name=\"gaprof check\" %s>\n", s.counts())
	fmt.Fprintf(&b, " <testsuite name=\"%s\" %s skipped=\"%d\">\n",
		xmlText("gaprof check: "+configText(c.Result)), s.counts(), s.of["skipped"])
	for _, one := range s.cases {
		one.draw(&b)
	}
	said := []string{string(c.Result.Verdict) + ": " + c.Result.Summary}
	fmt.Fprintf(&b, "  <system-out>%s</system-out>\n </testsuite>\n</testsuites>\n",
		xmlLines(append(said, c.Result.Notes...)))
	return flush(w, &b)
}

// junitSuite is test cases and how many of them there are of an outcome.
type junitSuite struct {
	cases []junitCase
	of    map[string]int
}

func (s *junitSuite) add(c junitCase) {
	s.cases = append(s.cases, c)
	s.of[c.outcome]++
}

func (s *junitSuite) counts() string {
	return fmt.Sprintf(`tests="%d" failures="%d" errors="%d" time="0"`, len(s.cases), s.of["failure"], s.of["error"])
}

// junitCase is a test case. Its outcome is the element that says so; empty: it passed.
type junitCase struct {
	class, name   string
	outcome, kind string
	message       string
	lines         []string // what else there is to say
}

// junitOf is the suite of a gate. An inconclusive gate has an error, also where no row is why.
func junitOf(r *gate.Result) *junitSuite {
	s := &junitSuite{of: make(map[string]int)}
	for i := range r.Rows {
		s.add(junitRow(&r.Rows[i], r.Exit.Code == 0))
	}
	if r.Verdict == gate.Inconclusive && s.of["error"] == 0 || len(s.cases) == 0 {
		c := junitCase{class: "gaprof.gate", name: "verdict", message: r.Summary}
		switch {
		case r.Verdict == gate.Inconclusive && r.Exit.Code == 0:
			c.outcome = "skipped"
		case r.Verdict == gate.Inconclusive:
			c.outcome, c.kind = "error", "inconclusive"
		}
		s.add(c)
	}
	return s
}

// junitRow is the case of a row; allowed says that the gate passes though it is inconclusive.
func junitRow(row *gate.Row, allowed bool) junitCase {
	c := junitCase{class: "gaprof." + row.Check, name: row.Metric, message: rowText(row)}
	if row.Kind != "" {
		c.name += " of " + row.Kind
	}
	for _, more := range []struct{ head, text string }{{"why: ", row.Finding}, {"next: ", row.Next}} {
		if more.text != "" && (more.head != "why: " || row.Check != "finding") {
			c.lines = append(c.lines, more.head+more.text)
		}
	}
	failed, hard := row.Verdict == gate.Fail, row.Severity == report.Error
	switch {
	case failed && hard:
		c.outcome, c.kind = "failure", cmp.Or(row.Check, "check")
	case failed:
		c.lines = append([]string{rowHead(row) + ": " + c.message}, c.lines...)
	case row.Verdict == gate.Undecidable && hard && !row.Tolerated && !allowed:
		c.outcome, c.kind = "error", "inconclusive"
	case row.Verdict == gate.Pass:
		c.lines = nil
	default:
		c.outcome = "skipped"
		c.message = cmp.Or(row.Reason, c.message)
	}
	return c
}

func (c *junitCase) draw(b *strings.Builder) {
	fmt.Fprintf(b, "  <testcase classname=\"%s\" name=\"%s\" time=\"0\"", xmlText(c.class), xmlText(c.name))
	switch {
	case c.outcome == "skipped":
		fmt.Fprintf(b, "><skipped message=\"%s\"/></testcase>\n", xmlText(c.message))
	case c.outcome != "":
		fmt.Fprintf(b, "><%s message=\"%s\" type=\"%s\">%s</%s></testcase>\n", c.outcome, xmlText(c.message),
			xmlText(c.kind), xmlLines(append([]string{c.message}, c.lines...)), c.outcome)
	case len(c.lines) > 0:
		fmt.Fprintf(b, "><system-out>%s</system-out></testcase>\n", xmlLines(c.lines))
	default:
		b.WriteString("/>\n")
	}
}

// xmlText is a text in XML, also in an attribute. XML has no place for control characters.
func xmlText(s string) string { return html.EscapeString(escape.Control(s)) }

// xmlLines are lines as the text of an element.
func xmlLines(lines []string) string {
	safe := make([]string, len(lines))
	for i, line := range lines {
		safe[i] = strings.TrimSuffix(escape.Lines(escape.Control(line)+"\n"), "\n")
	}
	return html.EscapeString(strings.Join(safe, "\n"))
}
