package analyze

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/gaprof/gaprof/analyze/normalization"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/units"
	"github.com/gaprof/gaprof/trace/sidecar"
)

// AuditNormalization adds to an audit how each step is normalized and what the rules say of
// it, and returns their findings: by the traces where these have token counts, else by the
// logs of the options alone. traced is what the traces came to, nil without any.
func AuditNormalization(audit *normalization.Report, traced *Result, o Options) []report.Finding {
	var steps []NormalizedStep
	var findings []report.Finding
	if traced != nil {
		if steps, findings = traced.Normalized, traced.Report.Findings; len(steps) == 0 {
			audit.Notes = append(audit.Notes, traced.Report.Normalization.Evidence)
		}
	}
	if len(steps) == 0 {
		steps, findings = JudgeLogs(o)
	}
	if text := badLosses(o.Logs.Losses); text != "" {
		audit.Notes = append([]string{text}, audit.Notes...)
	}
	for _, step := range steps {
		audit.Steps = append(audit.Steps, normalization.Describe(step.Step, step.Observed, step.Decision))
	}
	for _, f := range findings {
		audit.Findings = append(audit.Findings, normalization.Judgement{
			Rule: f.Rule, Severity: string(f.Severity), Message: f.Message, Why: f.Why, Fix: f.Fix})
	}
	return findings
}

// JudgeLogs says how the steps of logs are normalized, without any trace, and runs the
// rules of the options on them, which must look at nothing else.
func JudgeLogs(o Options) ([]NormalizedStep, []report.Finding) {
	l := logs{Logs: o.Logs, declared: o.Normalization}
	counts := l.table()
	if counts == nil {
		return nil, nil
	}
	j := newJudge(nil, counts, l)
	pass := Pass{}
	for _, step := range counts.steps() {
		pass.Normalized = append(pass.Normalized, j.decide(step))
	}
	for i := range o.Rules {
		pass.rule = &o.Rules[i]
		pass.rule.Run(&pass)
	}
	findings := pass.findings()
	nameInFindings(findings, o.Choices)
	return pass.Normalized, findings
}

// CountsOf is the token counts of one step of the logs; nil where they have none.
func CountsOf(o Options, step int64) *normalization.Counts {
	l := logs{Logs: o.Logs, declared: o.Normalization}
	counts := l.table()
	if counts == nil {
		return nil
	}
	c, whole := counts.caseOf(int(step))
	if whole || len(c.Tokens) == 0 {
		return nil
	}
	return c
}

// badLosses says where a loss is no number any more; "" where none is.
func badLosses(log *sidecar.LossLog) string {
	if log == nil || len(log.Bad) == 0 {
		return ""
	}
	late := func(l sidecar.BadLoss) int64 { // the loss of a step follows those of its micro-batches
		if l.MicroBatch < 0 {
			return math.MaxInt64
		}
		return l.MicroBatch
	}
	first := slices.MinFunc(log.Bad, func(a, b sidecar.BadLoss) int {
		return cmp.Or(cmp.Compare(a.Step, b.Step), cmp.Compare(late(a), late(b)), cmp.Compare(a.Rank, b.Rank))
	})
	steps := make(map[int64]bool)
	for _, l := range log.Bad {
		steps[l.Step] = true
	}
	text := fmt.Sprintf("the loss is %s in step %d of rank %d", first.What, first.Step, first.Rank)
	if first.MicroBatch >= 0 {
		text += fmt.Sprintf(", first in micro-batch %d", first.MicroBatch)
	}
	return fmt.Sprintf("%s, and is no number in %s: its gradients are none either, and weights that they update "+
		"stay so", text, units.Count(len(steps), "step"))
}
