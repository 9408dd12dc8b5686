package analyze

import (
	"cmp"
	"slices"

	"github.com/gaprof/gaprof/analyze/gradients"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/timeline"
)

// limits are what a finding must cost at the least to be told.
type limits struct {
	cost  int64   // ns per step
	share float64 // of the step
}

// tooSmall reports whether a finding costs something and less than the limits ask for.
func (l limits) tooSmall(f report.Finding) bool {
	return f.Cost != nil && (*f.Cost < l.cost || *f.Share < l.share)
}

// findingsOf runs rules in their order, each on those of the ranks of the pass on which
// its needs are met. skipped are those that did not run on any.
//
// Steps of the pass stay as they are but for those that a finding overrules.
func findingsOf(rules []Rule, pass *Pass, least limits) (found []report.Finding, skipped []report.Skip) {
	pass.claims, pass.taken = make(claims), make(map[*gradients.Pass]string)
	pass.named = make(map[string][]timeline.CollectiveKind)
	list, normalized := pass.Ranks, pass.Normalized
	weighs := func(id string) bool {
		return slices.ContainsFunc(rules, func(r Rule) bool { return r.ID == id && r.Weighs })
	}
	defer func() { pass.Normalized = overruled(normalized, pass.out, weighs) }()
	for i := range rules {
		pass.rule, pass.Ranks, pass.Normalized = &rules[i], list, overruled(normalized, pass.out, weighs)
		if pass.rule.Scope == PerRank {
			pass.Normalized = nil
		}
		reason := pass.rule.skipReason(pass)
		if reason == "" {
			pass.Ranks = slices.DeleteFunc(slices.Clone(list), func(r *Rank) bool { return !pass.rule.applies(r) })
			if len(pass.Ranks) == 0 {
				reason = "no single rank has all that the rule needs"
			}
		}
		if reason != "" {
			skipped = append(skipped, report.Skip{Rule: pass.rule.ID, Reason: reason})
			continue
		}
		pass.rule.Run(pass)
	}
	return slices.DeleteFunc(pass.findings(), least.tooSmall), skipped
}

// costed is a finding and the ns that it costs over all steps, by which findings of one
// severity are ordered.
type costed struct {
	report.Finding
	total int64
}

// findings are what the rules reported: the most severe first, then what costs most over
// the whole recording, since means over different kinds of steps do not compare. Absent
// lists are empty.
func (p *Pass) findings() []report.Finding {
	slices.SortStableFunc(p.out, func(a, b costed) int {
		return cmp.Or(b.Severity.Compare(a.Severity), cmp.Compare(b.total, a.total), cmp.Compare(a.Rule, b.Rule))
	})
	list := make([]report.Finding, 0, len(p.out))
	for _, c := range p.out {
		f := c.Finding
		f.Kinds, f.Also = notNil(f.Kinds), notNil(f.Also)
		f.Caveats, f.Evidence = notNil(f.Caveats), notNil(f.Evidence)
		list = append(list, f)
	}
	return list
}

// EvidenceOf is the view of an event for a person with the trace open.
func EvidenceOf(r *Rank, e timeline.Event) report.Evidence {
	return report.Evidence{
		Rank:     r.ID,
		Name:     e.Name,
		Track:    e.Process + "/" + e.Thread,
		Start:    e.Start,
		Duration: e.Duration,
		Code:     e.Code,
	}
}
