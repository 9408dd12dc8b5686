package gate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/units"
)

// findings judges what rules found, where the command asks for it.
func (k *check) findings() {
	for _, r := range k.new {
		for i := range r.Findings {
			f := &r.Findings[i]
			if index := k.ignoring(f.Rule); index >= 0 {
				k.used[index] = true
			}
			if k.options.FailOn == "" || k.options.FailOn == report.Off || !f.Severity.AtLeast(k.options.FailOn) ||
				k.options.OnlyNew && !isNew(k.result.Findings, f) {
				continue
			}
			row := Row{
				Check:    "finding",
				Metric:   f.Rule,
				Severity: report.Error,
				Verdict:  Fail,
				Unit:     Nanoseconds,
				Limit:    "below " + string(k.options.FailOn),
				Where:    fmt.Sprintf("findings[%d]", i),
			}
			k.add(row.of(f))
		}
	}
}

// of makes a row that of a finding: its cost, its sentence and its fix.
func (r Row) of(f *report.Finding) Row {
	r.Reason, r.Finding, r.Next = string(f.Severity)+": "+f.Message, sentenceOf(f), f.Fix
	if f.Cost != nil {
		cost := float64(*f.Cost)
		r.Value = &cost
	}
	return r
}

// sentenceOf is a finding in a line: rule, severity, message.
func sentenceOf(f *report.Finding) string {
	return f.Rule + " " + string(f.Severity) + ": " + f.Message
}

// related adds to a row that failed the findings of the rule that explains its metric, or those
// that the metric counts.
func (k *check) related(row Row) Row {
	m, ok := FindMetric(row.Metric)
	if !ok || row.Verdict != Fail || row.Finding != "" {
		return row
	}
	var said []string
	for _, r := range k.new {
		for i := range r.Findings {
			f := &r.Findings[i]
			counted := m.findings != "" && m.findings == f.Severity && k.ignoring(f.Rule) < 0
			if f.Rule == m.rule() || counted {
				said = append(said, sentenceOf(f))
			}
		}
	}
	if n := len(said); n > mostFindings {
		said = append(said[:mostFindings], fmt.Sprintf("and %d more", n-mostFindings))
	}
	row.Finding = strings.Join(said, "; ")
	return row
}

// mostFindings is how many findings a row of a metric quotes.
const mostFindings = 3

// rule is the rule that the table names for a metric, or "".
func (m *Metric) rule() string {
	_, after, found := strings.Cut(m.Next, "gaprof explain ")
	if !found {
		return ""
	}
	return strings.TrimRight(strings.Fields(after)[0], ";")
}

// newFindings judges the findings above a note that the baseline does not have: a row for
// each, or one for all. Findings about the trace itself, which rules TH make, are of the
// recording rather than the program; they are warnings.
func (k *check) newFindings(g *Regression, row Row) {
	if !worked(k.new) || !worked(k.base) {
		k.add(row.undecidable("there is no complete step in which anything is known to happen"))
		return
	}
	before, found := findingsByRule(k.base), 0
	for _, list := range inOrder(findingsByRule(k.new)) {
		for i, f := range list {
			if ignored := k.ignoring(f.Rule); ignored >= 0 {
				k.used[ignored] = true
				continue
			}
			was := inBaseline(before, f.Rule, i)
			if since(was, f) {
				found++
				k.add(k.newFinding(row, was, f))
			}
		}
	}
	if count := float64(found); found == 0 {
		row.Verdict, row.Value = Pass, &count
		row.BaselineValue = new(float64)
		k.add(row)
	}
}

// newFinding is the row of one finding; was is the baseline's, nil where it has none.
func (k *check) newFinding(row Row, was, f *report.Finding) Row {
	row.Check, row.Metric, row.Unit = "finding", f.Rule, Nanoseconds
	row.Verdict, row.Tolerated = Fail, false
	row.Where, row.Limit = "findings[rule="+f.Rule+"]", "none that the baseline lacks"
	row = row.of(f)
	if strings.HasPrefix(f.Rule, "TH") && row.Severity == report.Error {
		row.Severity = report.Warn
	}
	part, base, now := k.moved(f)
	switch reason := skippedIn(k.base, f.Rule); {
	case part != "" && was == nil:
		row.Severity = report.Warn
		row.Reason += fmt.Sprintf("; new, but not on top of the baseline: %s takes %s per step, there %s",
			part, units.Milliseconds(now), units.Milliseconds(base))
	case was != nil:
		row.Reason += "; in the baseline " + sentenceOf(was)
	case reason != "":
		row.Verdict, row.Reason = Undecidable, row.Reason+"; the baseline could not judge it: "+reason
	default:
		row.Reason += "; new since the baseline"
	}
	return row
}

// moved is the part of a step that a finding about idle time or exposed communication charges,
// and how long it takes in a mean step of the baseline and of this side, in ns, where it takes
// no longer than it did: then the finding speaks of time that was lost before for another
// reason. It is "" where the part grew, or is unknown.
func (k *check) moved(f *report.Finding) (part string, base, now int64) {
	if f.Cost == nil || !strings.HasPrefix(f.Rule, "ID") && !strings.HasPrefix(f.Rule, "OV") {
		return "", 0, 0
	}
	for _, r := range k.new {
		if r.Time == nil {
			continue
		}
		for _, p := range r.Time.Parts {
			charges := func(c report.PartClaim) bool { return c.Rule == f.Rule }
			if slices.ContainsFunc(p.Claims, charges) && (part == "" || part == p.What) {
				part = p.What
			} else if slices.ContainsFunc(p.Claims, charges) {
				return "", 0, 0 // of several parts
			}
		}
	}
	base, known := partOf(k.base, part)
	now, also := partOf(k.new, part)
	if part == "" || !known || !also || now > base {
		return "", 0, 0
	}
	return strings.ReplaceAll(part, "_", "-"), base, now
}

// partOf is how long a part takes in a mean step of some reports, in ns.
func partOf(reports []*report.Report, part string) (mean int64, ok bool) {
	var sum, count int64
	for _, r := range reports {
		if r.Time == nil || r.Time.Of != "step" {
			return 0, false
		}
		for _, p := range r.Time.Parts {
			if p.What == part {
				sum += p.Mean * int64(r.Time.Count)
			}
		}
		count += int64(r.Time.Count)
	}
	if count == 0 {
		return 0, false
	}
	return sum / count, true
}

// since reports whether a finding is new: the baseline has none of the rule, or one that is
// less severe and costs clearly less, or no time.
func since(was, f *report.Finding) bool {
	return f.Severity.AtLeast(report.Warn) && (was == nil || grown(was, f))
}

// compareFindings says what became of the findings since the baseline.
func (k *check) compareFindings() {
	list := FoundIn(k.new)
	if len(k.base) > 0 && k.unlike == "" {
		list = foundBetween(k.base, k.new, worked(k.new))
	}
	for i := range list {
		if at := k.ignoring(list[i].Rule); at >= 0 && list[i].State != Absent {
			list[i].Ignored = k.config.Ignores[at].Reason
		}
	}
	k.result.Findings = list
}

// ignoreOld takes out of a check what is not new, where only that is asked for.
func (k *check) ignoreOld(baseline []*report.Report) {
	if !k.options.OnlyNew || k.unlike != "" {
		return
	}
	first, before := k.options.FirstRun && len(baseline) == 0, []Row(nil)
	if len(baseline) > 0 {
		c := Config{Select: k.config.Select, Budgets: k.config.Budgets}
		before = Check(c, baseline, nil, Options{Now: k.options.Now, AnyRanks: true}).Rows
	}
	k.result.Notes = append(k.result.Notes, ignoreOld(k.result.Rows, before, first)...)
	if len(baseline) > 0 {
		k.result.Notes = append(k.result.Notes, oldNotes(k.result.Findings)...)
	}
}
