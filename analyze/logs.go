package analyze

import (
	"slices"

	"github.com/gaprof/gaprof/analyze/normalization"
)

// NormalizedSteps says how each complete step with token counts is normalized; a report
// that was read from a file does not know.
func (r *Report) NormalizedSteps() []NormalizedStep { return r.normalized }

// JudgeLogs says how the steps of logs are normalized, without any trace, and runs the
// rules of the options on them, which must look at nothing else.
func JudgeLogs(o Options) ([]NormalizedStep, []Finding) {
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
	sortFindings(pass.out)
	return a.normalized, pass.out
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
