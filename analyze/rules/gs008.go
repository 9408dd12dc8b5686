package rules

import (
	"fmt"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/units"
)

// GS008 finds gradients that are never cleared, and those that are cleared before the update.
var GS008 = analyze.Rule{
	ID:     "GS008",
	Scope:  analyze.PerRank,
	Weighs: true,
	Doc: analyze.Doc{
		Title: "gradients are not cleared, or before the update",
		Why: "Backward adds to the gradients that are there. Without zero_grad() each update applies the sum of all " +
			"gradients so far, which grows from step to step; with zero_grad() between backward() and step() it " +
			"finds no gradients, or zeros, and only momentum and weight decay still move the weights.",
		Fix: "call zero_grad() once per update: after step(), or before the first backward()",
	},
	Needs: []analyze.Need{needOptimizerSteps, needShapes, needBackward},
	Run:   runGS008,
}

func runGS008(p *analyze.Pass) {
	reportClears(p, func(r *analyze.Rank) []facts.Clear { return r.Clears.Blank }, report.Finding{
		Message: "gradients are cleared between backward and the update: the optimizer finds none, or zeros",
		Fix:     "call step() first, and zero_grad() after it",
	})
	reportClears(p, func(r *analyze.Rank) []facts.Clear { return r.Clears.Kept }, report.Finding{
		Message: "gradients are never cleared: each update applies those of all steps before it as well",
		Fix:     "call zero_grad() after step()",
	})
}

// reportClears reports one fault of the ranks that have it in every step that shows it.
func reportClears(p *analyze.Pass, of func(*analyze.Rank) []facts.Clear, f report.Finding) {
	n := 0
	for _, r := range p.Ranks {
		list := clearsIn(r, of(r))
		n += len(list)
		for _, c := range list[:min(len(list), maxEvidence-len(f.Evidence))] {
			f.Evidence = append(f.Evidence, analyze.EvidenceOf(r, c.Event))
		}
	}
	if n == 0 {
		return
	}
	f.Why = fmt.Sprintf("so it is in %s, as in every one that shows it", units.Count(n, "step"))
	p.Report(report.Error, f)
}

// clearsIn returns those of the chosen steps, if all of them have one. The first step recorded
// does not count, since what precedes it is not known.
func clearsIn(r *analyze.Rank, all []facts.Clear) (list []facts.Clear) {
	for _, c := range all {
		if c.Step > 0 && r.Selected(c.Step) {
			list = append(list, c)
		}
	}
	judged := 0
	for i := range r.Steps {
		if i > 0 && r.Selected(i) && len(r.Steps[i].Backwards) > 0 {
			judged++
		}
	}
	if len(list) < judged {
		return nil
	}
	return list
}
