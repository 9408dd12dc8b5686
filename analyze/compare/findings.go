package compare

import (
	"slices"

	"github.com/gaprof/gaprof/analyze/report"
)

// findings compares the findings of two sides: what disappeared, what appeared, what
// stayed, each in the order of the reports.
func findings(base, new *side) []FindingChange {
	list := []FindingChange{}
	b, n := base.findings(), new.findings()
	for _, want := range []string{"disappeared", "appeared", "not_judged", "stayed"} {
		for _, f := range b {
			if one := compareFinding(f, findingOf(n, f.Rule), base, new); one.Change == want {
				list = append(list, one)
			}
		}
		for _, f := range n {
			if one := compareFinding(nil, f, base, new); findingOf(b, f.Rule) == nil && one.Change == want {
				list = append(list, one)
			}
		}
	}
	return list
}

// compareFinding compares one rule's findings; one of b and n may be nil.
func compareFinding(b, n *report.Finding, base, new *side) FindingChange {
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
		c.Change, c.Reason = "disappeared", new.skipped(c.Rule)
	default:
		c.Change, c.Reason = "appeared", base.skipped(c.Rule)
	}
	if c.Reason != "" {
		c.Change = "not_judged"
	}
	return c
}

// findings are the most severe and costly finding of each rule of a side, by first
// appearance.
func (s *side) findings() []*report.Finding {
	var list []*report.Finding
	for _, r := range s.reports {
		for i := range r.Findings {
			f := &r.Findings[i]
			at := slices.IndexFunc(list, func(g *report.Finding) bool { return g.Rule == f.Rule })
			switch {
			case at < 0:
				list = append(list, f)
			case worse(f, list[at]):
				list[at] = f
			}
		}
	}
	return list
}

func worse(f, g *report.Finding) bool {
	if f.Severity != g.Severity {
		return f.Severity.AtLeast(g.Severity)
	}
	return f.Cost != nil && (g.Cost == nil || *f.Cost > *g.Cost)
}

func findingOf(list []*report.Finding, rule string) *report.Finding {
	if i := slices.IndexFunc(list, func(f *report.Finding) bool { return f.Rule == rule }); i >= 0 {
		return list[i]
	}
	return nil
}

// skipped is why no report of the side could judge a rule; empty where one did.
func (s *side) skipped(rule string) string {
	reason := ""
	for _, r := range s.reports {
		i := slices.IndexFunc(r.Skipped, func(k report.Skip) bool { return k.Rule == rule })
		if i < 0 {
			return ""
		}
		reason = r.Skipped[i].Reason
	}
	return reason
}
