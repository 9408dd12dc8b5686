package analyze

import (
	"slices"

	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/whatif"
)

// predict gives the findings that are more than notes the savings of replays, where their rules
// name an edit and the run has a graph. That is made only if there is such a finding.
func (r *replays) predict(findings []report.Finding) {
	edits := make(map[string]string) // by rule
	for i := range r.o.Rules {
		edits[r.o.Rules[i].ID] = r.o.Rules[i].Edit
	}
	of := make(map[string]*whatif.Prediction) // by edit, nil where there is none
	for i := range findings {
		f := &findings[i]
		edit := edits[f.Rule]
		if edit == "" || f.Severity == report.Note || f.Cost == nil {
			continue
		}
		p, known := of[edit]
		if !known {
			p = r.prediction(edit)
			of[edit] = p
		}
		if p != nil {
			r.answer(f, p)
		}
	}
}

// prediction replays the run with an edit, nil where that cannot be done.
func (r *replays) prediction(edit string) *whatif.Prediction {
	uses, err := whatif.Parse([]string{edit})
	if err != nil || uses[0].Edit.Peers && len(r.list) == 1 {
		return nil
	}
	w := r.world()
	if w == nil || w.Why != "" {
		return nil
	}
	p, err := w.Predict(uses)
	if err != nil || p.Reason != "" {
		return nil
	}
	return p
}

// answer gives a finding the saving of a prediction in the steps that it is about.
func (r *replays) answer(f *report.Finding, p *whatif.Prediction) {
	kindOf := func(rank, step int) (string, bool) {
		of := r.list[rank]
		kind := of.Steps[step].Kind
		return kind, of.Selected(step) && slices.Contains(f.Kinds, kind)
	}
	gain, kinds := r.of.Over(p, kindOf)
	if len(kinds) == 0 {
		return // of incomplete steps nothing is predicted
	}
	edit := p.Edits[0].Edit
	f.Predicted = &report.Predicted{Edit: p.Name(), Gain: rangeRow(gain), Bound: edit.Bound, Assumes: edit.Limit}
	for _, k := range kinds {
		f.Predicted.Kinds = append(f.Predicted.Kinds, report.WhatIfKindRange{Kind: k.Kind, Gain: rangeRow(k.Range)})
	}
	high := min(max(0, gain.High), *f.Cost)
	if edit.Part && f.Saving != nil && f.Saving.High > high {
		most := f.Saving.High
		f.Predicted.Most = &most
	}
	f.Saving = &report.Range{Low: min(max(0, gain.Low), high), High: high}
}

func rangeRow(r whatif.Range) report.WhatIfRange {
	return report.WhatIfRange{Low: r.Low, Mean: r.Mean, High: r.High}
}

// report predicts each edit, and draws a step with the one that gains most.
func (r *replays) report(to *report.Report) {
	w := r.world()
	if w == nil {
		r.refuse(to, "the traces are too large to be kept for a replay")
		return
	}
	made, list, err := w.Report(whatif.Each())
	if err != nil {
		r.refuse(to, err.Error())
		return
	}
	made.Version, made.Files, made.Ranks = to.Version, to.Source.Files, to.Source.Ranks
	to.WhatIf = made
	if best := list[0]; to.Drawing != nil && best.Reason == "" && !best.Bound() && best.Gain.Mean > 0 {
		to.Drawing.Predicted = whatif.Picture(w, best, to.Source.Ranks)
	}
}

// refuse says why nothing can be replayed, where figures are asked for.
func (r *replays) refuse(to *report.Report, reason string) {
	if to.Drawing != nil && len(r.list) > 0 {
		to.Drawing.NotReplayed = reason
	}
}
