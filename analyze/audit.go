package analyze

import (
	"github.com/gaprof/gaprof/analyze/normalization"
	"github.com/gaprof/gaprof/analyze/report"
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
	for _, step := range steps {
		audit.Steps = append(audit.Steps, normalization.Describe(step.Step, step.Observed, step.Decision))
	}
	for _, f := range findings {
		audit.Findings = append(audit.Findings, normalization.Judgement{
			Rule: f.Rule, Severity: string(f.Severity), Message: f.Message, Why: f.Why, Fix: f.Fix})
	}
	return findings
}
