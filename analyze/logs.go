package analyze

import (
	"slices"

	"github.com/gaprof/gaprof/analyze/normalization"
	"github.com/gaprof/gaprof/analyze/report"
)

// JudgeLogs says how the steps of logs are normalized, without any trace, and runs the
// rules of the options on them, which must look at nothing else.
func JudgeLogs(o Options) ([]NormalizedStep, []report.Finding) {
	a := &assembly{o: o}
	counts := a.logCounts()
	if counts == nil {
		return nil, nil
	}
	var steps []int
	for key := range counts.of {
		steps = append(steps, key.step)
	}
	slices.Sort(steps)
	window := a.window(counts)
	for _, step := range slices.Compact(steps) {
		a.decide(step, counts, window)
	}
	pass := Pass{Normalized: a.normalized, options: &a.o}
	for i := range o.Rules {
		pass.rule = &o.Rules[i]
		pass.rule.Run(&pass)
	}
	return a.normalized, pass.findings()
}

// CaseOf is the token counts of one step of the logs; nil where they have none.
func CaseOf(o Options, step int64) *normalization.Case {
	a := &assembly{o: o}
	counts := a.logCounts()
	if counts == nil {
		return nil
	}
	c, whole := counts.caseOf(int(step), a.window(counts))
	if whole || len(c.Tokens) == 0 {
		return nil
	}
	return c
}
