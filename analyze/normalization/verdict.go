package normalization

import (
	"fmt"
	"path/filepath"
)

// note is the severity of what is no finding of a rule.
const note = "note"

// Conclude fills in the verdict: the first finding; else that gradients differ; else what
// is known of how much a token counts.
func (r *Report) Conclude() {
	if len(r.Findings) > 0 {
		r.Verdict = r.Findings[0]
		return
	}
	for i := range r.Gradients {
		if g := &r.Gradients[i]; g.Cause != nil && !g.Cause.Right() {
			folder := filepath.Base(filepath.Dir(g.Against))
			message := "gradients differ from those in " + folder + ": " + g.Cause.Text
			r.Verdict = Judgement{Severity: note, Message: message}
			return
		}
	}
	r.Verdict = r.verdictOnWeights()
}

// verdictOnWeights is that no rule has found a step whose tokens count wrongly, as far as
// that is known. The user's word for a mode proves nothing.
func (r *Report) verdictOnWeights() Judgement {
	known := 0
	why := "gradients equal those of the reference"
	for i := range r.Steps {
		if step := &r.Steps[i]; step.Weights != nil && step.Basis != ByWord {
			if known == 0 {
				why = step.Evidence
			}
			known++
		}
	}
	switch {
	case known == 0 && len(r.Steps) > 0:
		return Judgement{Severity: note, Message: "how much a token counts is not known", Why: r.Steps[0].Evidence,
			Fix: "write a loss log with optimized_loss, or gradients, and pass {against}"}
	case known < len(r.Steps):
		return Judgement{Why: why, Message: fmt.Sprintf(
			"every token counts equally, as it should, in %d of %d steps; for the others it is not known",
			known, len(r.Steps))}
	}
	return Judgement{Message: "every token counts equally, as it should", Why: why}
}
