package gate

import (
	"fmt"
	"strings"

	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/bounded"
	"github.com/gaprof/gaprof/internal/units"
)

// findings judges what rules found, where the command asks for it.
func (k *check) findings() {
	fresh := newIn(k.result.Findings)
	for _, r := range k.new {
		for i := range r.Findings {
			f := &r.Findings[i]
			if index := k.ignoring(f.Rule); index >= 0 {
				k.used[index] = true
			}
			if k.options.FailOn == "" || k.options.FailOn == report.Off || !f.Severity.AtLeast(k.options.FailOn) ||
				k.options.OnlyNew && !fresh[f] {
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
	before, found, parts := baselineOf(k.base), 0, k.parts()
	for _, list := range inOrder(findingsByRule(k.new)) {
		for i, f := range list {
			if ignored := k.ignoring(f.Rule); ignored >= 0 {
				k.used[ignored] = true
				continue
			}
			was := before.finding(f.Rule, i)
			if since(was, f) {
				found++
				k.add(newFinding(row, was, f, parts.of(f), before.skipped[f.Rule]))
			}
		}
	}
	if count := float64(found); found == 0 {
		row.Verdict, row.Value = Pass, &count
		row.BaselineValue = new(float64)
		k.add(row)
	}
}

// newFinding is the row of one finding; was is the baseline's, nil where it has none, and unjudged
// why the baseline could not judge its rule.
func newFinding(row Row, was, f *report.Finding, p moved, unjudged string) Row {
	row.Check, row.Metric, row.Unit = "finding", f.Rule, Nanoseconds
	row.Verdict, row.Tolerated = Fail, false
	row.Where, row.Limit = "findings[rule="+f.Rule+"]", "none that the baseline lacks"
	row = row.of(f)
	if strings.HasPrefix(f.Rule, "TH") && row.Severity == report.Error {
		row.Severity = report.Warn
	}
	switch {
	case p.part != "" && was == nil:
		row.Severity = report.Warn
		row.Reason += fmt.Sprintf("; new, but not on top of the baseline: %s takes %s per step, there %s",
			p.part, units.Milliseconds(p.now), units.Milliseconds(p.base))
	case was != nil:
		row.Reason += "; in the baseline " + sentenceOf(was)
	case unjudged != "":
		row.Verdict, row.Reason = Undecidable, row.Reason+"; the baseline could not judge it: "+unjudged
	default:
		row.Reason += "; new since the baseline"
	}
	return row
}

// moved is a part of a step, and how long it takes in a mean step of the baseline and of this side,
// in ns.
type moved struct {
	part      string
	base, now int64
}

// parts are the parts of a step that rules charge, and no longer than the baseline's: what a rule
// finds there speaks of time that was lost before for another reason.
type parts map[string]moved

// of is the part that a finding about idle time or exposed communication charges; the zero value
// where the part grew, or is unknown.
func (p parts) of(f *report.Finding) moved {
	if f.Cost == nil || !strings.HasPrefix(f.Rule, "ID") && !strings.HasPrefix(f.Rule, "OV") {
		return moved{}
	}
	return p[f.Rule]
}

func (k *check) parts() parts {
	charged := make(map[string]map[string]bool) // names of parts by rule
	for _, r := range k.new {
		if r.Time == nil {
			continue
		}
		for _, p := range r.Time.Parts {
			for _, c := range p.Claims {
				if charged[c.Rule] == nil {
					charged[c.Rule] = make(map[string]bool)
				}
				charged[c.Rule][p.What] = true
			}
		}
	}
	list, base, now := make(parts), partsOf(k.base), partsOf(k.new)
	for rule, names := range charged {
		for part := range names {
			before, known := base[part]
			after, also := now[part]
			if len(names) == 1 && part != "" && known && also && after <= before {
				list[rule] = moved{strings.ReplaceAll(part, "_", "-"), before, after}
			}
		}
	}
	return list
}

// partsOf are the parts of a mean step of some reports, in ns; none where one of them has no steps.
func partsOf(reports []*report.Report) map[string]int64 {
	sums, count := make(map[string]int64), int64(0)
	for _, r := range reports {
		if r.Time == nil || r.Time.Of != "step" {
			return nil
		}
		n := int64(max(0, r.Time.Count))
		for _, p := range r.Time.Parts {
			sums[p.What] = bounded.Add(sums[p.What], bounded.Mul(max(0, p.Mean), n))
		}
		count = bounded.Add(count, n)
	}
	if count == 0 {
		return nil
	}
	for part := range sums {
		sums[part] /= count
	}
	return sums
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
