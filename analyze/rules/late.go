package rules

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/lateness"
	"github.com/gaprof/gaprof/analyze/report"
)

// explainLate adds to a finding about the straggler why it is late, where its trace says so.
func explainLate(f *report.Finding, m *analyze.Matched) {
	l := lateness.Find(m.Result, m.Straggler)
	if l == nil {
		return
	}
	f.Lateness = &report.Lateness{LateRank: lateRank(m, l), Chain: []report.LateRank{}}
	why, last := f.Lateness.Text, l
	for next := l.Because; next != nil; next = next.Because {
		link := lateRank(m, next)
		f.Lateness.Chain = append(f.Lateness.Chain, link)
		why, last = why+"; "+link.Text, next
	}
	f.Why = why + "; " + f.Why
	f.Change = &report.Change{}
	if fix := fixLate(m, last); fix != "" {
		f.Fix = fix
		f.Change.Before, f.Change.After = markedLines(body(lateRules[last.Cause]))
	}
}

// sameChain says by source which ranks are late because of the straggler, or it because of
// them: a rank that waits in one process group comes late in the next. Asked are those that
// cause about as much waiting.
func sameChain(m *analyze.Matched) []bool {
	same := make([]bool, len(m.Figures))
	if len(m.Groups) < 2 {
		return same
	}
	least := m.Figures[m.Straggler].Caused / standsOut
	asked := false
	for i, f := range m.Figures {
		if i == m.Straggler || f.Caused <= least {
			continue
		}
		if !asked { // of the straggler itself, once
			asked = true
			each := func(source int) { same[source] = true }
			chainOf(lateness.Find(m.Result, m.Straggler), each)
		}
		if !same[i] {
			chainOf(lateness.Find(m.Result, i), func(source int) { same[i] = same[i] || source == m.Straggler })
		}
	}
	return same
}

// chainOf calls do for every rank that a late one waits for, directly or not.
func chainOf(l *lateness.Lateness, do func(source int)) {
	for ; l != nil && l.WaitsFor >= 0; l = l.Because {
		do(l.WaitsFor)
	}
}

// lateRank is one link of a chain of ranks that wait for each other.
func lateRank(m *analyze.Matched, l *lateness.Lateness) report.LateRank {
	r := m.Ranks[l.Rank]
	one := report.LateRank{
		Rank: r.ID, Group: l.Group.Name, Cause: l.Cause.String(), NS: spentOn(m, l),
		Late: l.Late, Parts: []report.LatePart{}, Unexplained: l.Rest,
		Steps: l.Steps, LateSteps: l.LateIn, Evidence: []report.Evidence{},
	}
	for c, ns := range l.Parts {
		if ns != 0 {
			one.Parts = append(one.Parts, report.LatePart{Cause: lateness.Cause(c).String(), NS: ns})
		}
	}
	slices.SortStableFunc(one.Parts, func(a, b report.LatePart) int { return cmp.Compare(b.NS, a.NS) })
	if l.WaitsFor >= 0 {
		one.WaitsFor = &m.Ranks[l.WaitsFor].ID
	}
	for _, e := range showLate(r, l) {
		one.Evidence = append(one.Evidence, analyze.EvidenceOf(r, e))
	}
	one.Text = sayLate(m, l, &one)
	return one
}

// spentOn is what the late rank spends on its cause beyond the others: in whole steps, as
// the rule about the same idle time has it, if there is one, else before collectives.
func spentOn(m *analyze.Matched, l *lateness.Lateness) int64 {
	of, ok := lateFindings[l.Cause]
	if !ok {
		return l.NS
	}
	own, known := idlePerStep(m.Ranks[l.Rank], of)
	var others []int64
	for _, source := range l.Group.Ranks {
		if ns, ok := idlePerStep(m.Ranks[source], of); ok && source != l.Rank {
			others = append(others, ns)
		}
	}
	if !known || len(others) == 0 {
		return l.NS
	}
	slices.Sort(others)
	return own - others[len(others)/2]
}

// fixLate is what to change on the rank at the end of a chain.
func fixLate(m *analyze.Matched, l *lateness.Lateness) string {
	fix := lateFixes[l.Cause]
	if gaps := shownAround(m.Ranks[l.Rank], l); l.Cause == lateness.DataLoading && len(gaps) > 0 {
		fix = cmp.Or(moreWorkers(gaps[0].Shown), fix)
	}
	if fix == "" {
		return ""
	}
	return fmt.Sprintf("on rank %d: %s", m.Ranks[l.Rank].ID, fix)
}
