package gate

import (
	"fmt"
	"strings"

	"github.com/gaprof/gaprof/analyze/report"
)

// firstNames lists the first few metrics, each once.
func firstNames(names []string) string {
	const most = 3
	var list []string
	seen := make(map[string]bool)
	for _, name := range names {
		if !seen[name] {
			list = append(list, name)
		}
		seen[name] = true
	}
	if n := len(list); n > most {
		return strings.Join(list[:most], ", ") + fmt.Sprintf(" and %d more", n-most)
	}
	return strings.Join(list, ", ")
}

// rowCounts counts rows by outcome. Of those of severity error that are undecided, hidden are
// the metrics that damage of the input hides, and open the others that are not tolerated.
// errors are the rows of severity error, and judged those of them that were decided.
type rowCounts struct {
	passed, failed, warned, undecided, ignored int
	errors, judged                             int
	hidden, open                               []string
}

func countRows(rows []Row) (n rowCounts) {
	for i := range rows {
		r := &rows[i]
		if r.Severity == report.Error && r.Verdict != Ignored {
			n.errors++
		}
		switch {
		case r.Verdict == Fail && r.Severity == report.Error:
			n.failed++
		case r.Verdict == Fail:
			n.warned++
		case r.Verdict == Undecidable:
			n.undecided++
			n.doubt(r)
		case r.Verdict == Ignored:
			n.ignored++
		default:
			n.passed++
			if r.Severity == report.Error {
				n.judged++
			}
		}
	}
	return n
}

// doubt notes a row that could not be decided.
func (n *rowCounts) doubt(r *Row) {
	switch {
	case r.Severity != report.Error:
	case r.BadData:
		n.hidden = append(n.hidden, r.Metric)
	case !r.Tolerated:
		n.open = append(n.open, r.Metric)
	}
}

// canFail is the number of rows that fail the gate, or where there is none, of all.
func (n *rowCounts) canFail() int {
	if n.errors > 0 {
		return n.errors
	}
	return n.passed + n.warned + n.undecided
}

// idle reports whether nothing was decided that could have failed, or nothing at all.
func (n *rowCounts) idle() bool {
	if n.errors > 0 {
		return n.judged+n.failed == 0
	}
	return n.undecided > 0 && n.passed+n.warned == 0
}

// rest is what a summary says of the rows that neither passed nor failed.
func (n *rowCounts) rest(v Outcome) string {
	text := ""
	add := func(count int, what string) {
		if count > 0 {
			text += fmt.Sprintf(", %d %s", count, what)
		}
	}
	add(n.warned, "with a warning")
	if v != Inconclusive {
		add(n.undecided, "undecidable")
	}
	add(n.ignored, "ignored")
	return text
}
