package compare

import (
	"github.com/gaprof/gaprof/analyze/report"
)

// findings compares the findings of two sides: what disappeared, what appeared, what
// stayed, each in the order of the reports.
func findings(base, new *side) []FindingChange {
	list := []FindingChange{}
	b, before := base.findings()
	n, after := new.findings()
	unjudged, notJudged := Skipped(base.reports), Skipped(new.reports)
	changes := make(map[string][]FindingChange)
	for _, f := range b {
		one := compareFinding(f, after[f.Rule], unjudged, notJudged)
		changes[one.Change] = append(changes[one.Change], one)
	}
	for _, f := range n {
		if before[f.Rule] == nil {
			one := compareFinding(nil, f, unjudged, notJudged)
			changes[one.Change] = append(changes[one.Change], one)
		}
	}
	for _, change := range []string{"disappeared", "appeared", "not_judged", "stayed"} {
		list = append(list, changes[change]...)
	}
	return list
}

// compareFinding compares one rule's findings; one of b and n may be nil. The maps say why no
// report of the base, and of the new side, could judge a rule.
func compareFinding(b, n *report.Finding, base, new map[string]string) FindingChange {
	var c FindingChange
	if b != nil {
		c.Rule = b.Rule
		c.Base, c.Was, c.Before = &b.Severity, &b.Message, b.Cost
	}
	if n != nil {
		c.Rule = n.Rule
		c.New, c.Is, c.After = &n.Severity, &n.Message, n.Cost
	}
	switch {
	case b != nil && n != nil:
		c.Change = "stayed"
		return c
	case b != nil:
		c.Change, c.Reason = "disappeared", new[c.Rule]
	default:
		c.Change, c.Reason = "appeared", base[c.Rule]
	}
	if c.Reason != "" {
		c.Change = "not_judged"
	}
	return c
}

// findings are the most severe and costly finding of each rule of a side, by first
// appearance, and by rule.
func (s *side) findings() (list []*report.Finding, by map[string]*report.Finding) {
	at := make(map[string]int)
	for _, r := range s.reports {
		for i := range r.Findings {
			f := &r.Findings[i]
			k, known := at[f.Rule]
			switch {
			case !known:
				at[f.Rule] = len(list)
				list = append(list, f)
			case worse(f, list[k]):
				list[k] = f
			}
		}
	}
	by = make(map[string]*report.Finding, len(list))
	for _, f := range list {
		by[f.Rule] = f
	}
	return list, by
}

func worse(f, g *report.Finding) bool {
	if f.Severity != g.Severity {
		return f.Severity.AtLeast(g.Severity)
	}
	return f.Cost != nil && (g.Cost == nil || *f.Cost > *g.Cost)
}

// Skipped is why no report of a side could judge a rule, by rule; of what one report judged
// there is nothing.
func Skipped(reports []*report.Report) map[string]string {
	times, why := make(map[string]int), make(map[string]string)
	for i, r := range reports {
		for _, k := range r.Skipped {
			if times[k.Rule] == i { // in all reports before, and not yet in this one
				times[k.Rule], why[k.Rule] = i+1, k.Reason
			}
		}
	}
	for rule, n := range times {
		if n < len(reports) {
			delete(why, rule)
		}
	}
	return why
}
