package gate

import (
	"fmt"
	"strings"

	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/units"
)

// conclude derives the verdict from all rows.
//
//  1. A row of severity error that fails is a failure, whatever else is unknown.
//  2. A baseline of another experiment, a side without any complete step, a row of severity
//     error that cannot be decided (unless the configuration says that it need not be, and
//     no damage hides it), or nothing decided that could have failed is inconclusive: a
//     gate is never green on bad data.
//  3. Otherwise it passed.
func (k *check) conclude() {
	n := countRows(k.result.Rows)
	r, checks := k.result, units.Count(len(k.result.Rows), "check")
	r.Record = k.recordSteps()
	r.Verdict, r.Exit = Inconclusive, report.Exit{Code: exitInconclusive}
	switch {
	case n.failed > 0:
		r.Verdict, r.Exit = Failed, report.Exit{Code: exitFailed}
		r.Summary = fmt.Sprintf("%d of %s failed", n.failed, checks)
	case k.unlike != "":
		r.Summary = "the baseline is of another experiment: " + k.unlike
	case len(n.hidden) > 0:
		r.Summary = fmt.Sprintf("%d of %s cannot be decided on unhealthy data: %s",
			len(n.hidden), checks, firstNames(n.hidden))
	case k.stepless != "":
		r.Summary = k.stepless
	case len(n.open) > 0:
		r.Summary = fmt.Sprintf("%d of %s cannot be decided: %s", len(n.open), checks, firstNames(n.open))
	case !k.options.FirstRun && n.idle():
		r.Summary = fmt.Sprintf("none of %s that can fail could be decided", units.Count(n.canFail(), "check"))
	default:
		r.Verdict, r.Exit = Passed, report.Exit{}
		r.Summary = fmt.Sprintf("%d of %s passed", n.passed+n.failed, checks)
	}
	r.Summary += n.rest(r.Verdict)
	r.Exit.Reason = string(r.Verdict) + ": " + r.Summary
}

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
