package gate

import (
	"fmt"
	"slices"

	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/units"
)

// weightRules are rules whose findings show that tokens do not count alike, or that nobody knows
// what they count, whatever a log says of the first step.
var weightRules = []struct {
	id      string
	verdict Verdict
}{
	{"NM001", Fail}, {"NM002", Fail}, {"NM003", Fail}, {"NM004", Fail},
	{"GS007", Fail}, {"GS008", Fail}, {"OP002", Fail}, {"CL004", Undecidable},
}

// weighed is the row of norm.max_weight_error with what findings say: it does not pass where
// one shows that a token counts wrongly in some step.
func weighed(k *check, row Row) Row {
	if row.Metric != "norm.max_weight_error" || row.Verdict == Fail {
		return row
	}
	for _, rule := range weightRules {
		for _, r := range k.new {
			i := slices.IndexFunc(r.Findings, func(f report.Finding) bool {
				return f.Rule == rule.id && f.Severity.AtLeast(report.Warn) && k.ignoring(f.Rule) < 0
			})
			if i < 0 {
				continue
			}
			f := &r.Findings[i]
			row.Verdict, row.Reason, row.Finding, row.Next = rule.verdict, f.Message, sentenceOf(f), f.Fix
			row.Tolerated = false
			return row
		}
	}
	return covered(k, row)
}

// covered is a row that passes only if the weights are known in all steps.
func covered(k *check, row Row) Row {
	for _, r := range k.new {
		if n := r.Normalization.UnknownSteps; n > 0 && row.Verdict == Pass {
			return row.undecidable(fmt.Sprintf("in %s nothing says what a token counts: logs have to cover all "+
				"steps that are recorded", units.Count(n, "complete step")))
		}
	}
	return row
}
