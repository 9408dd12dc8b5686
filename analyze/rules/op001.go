package rules

import (
	"fmt"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/timeline"
)

// OP001 finds optimizers whose kernels wait for their launches.
var OP001 = analyze.Rule{
	ID:    "OP001",
	Scope: analyze.PerRank,
	Doc: analyze.Doc{
		Title: "launch-bound optimizer",
		Why:   "An optimizer that launches many short kernels for every tensor leaves the device idle between them.",
		Fix:   "fused=True, or foreach=True, or compile the step",
	},
	Needs: []analyze.Need{analyze.NeedDevice, needOptimizerSteps, analyze.NeedLaunches},
	Run:   runOP001,
}

// manyKernels is the least number of device events for which gaps are the optimizer's
// normal way of working and not an accident.
const manyKernels = 20

// launchBound reports whether the device is mostly idle while o runs in a selected step
// whose time on the device is known.
func launchBound(r *analyze.Rank, o *facts.OptimizerRun) bool {
	if o.InBackward || o.Step < 0 || !r.Selected(o.Step) || len(r.Steps[o.Step].Windows) == 0 {
		return false
	}
	return o.Events >= manyKernels && float64(o.Idle) > launchBoundGap*float64(o.End-o.Start)
}

// optimizersIdle reports whether the steps of a rank with launch-bound optimizers lose
// enough in those for them to be said. Where they do not, the idle time is left to rules
// about all of a step.
func optimizersIdle(r *analyze.Rank) bool {
	idle, all := int64(0), int64(0)
	kinds := make(map[string]bool)
	for i := range r.OptimizerRuns {
		if o := &r.OptimizerRuns[i]; launchBound(r, o) {
			idle += o.Idle
			kinds[r.Steps[o.Step].Kind] = true
		}
	}
	for i := range r.Steps {
		if s := &r.Steps[i]; kinds[s.Kind] && r.Selected(i) {
			all += analyze.Duration(r, s)
		}
	}
	return float64(idle) >= idleShare*float64(all)
}

func runOP001(p *analyze.Pass) {
	var cost analyze.Cost
	var evidence []report.Evidence
	why := ""
	for _, r := range p.Ranks {
		if !optimizersIdle(r) {
			continue
		}
		for i := range r.OptimizerRuns {
			o := &r.OptimizerRuns[i]
			if !launchBound(r, o) {
				continue
			}
			span := o.End - o.Start
			got, others := p.Claim(r, o.Step, 0, timeline.IdleBucket, o.Idle)
			p.Remark(others)
			cost.Add(r, o.Step, got)
			if why == "" {
				why = fmt.Sprintf("%s launches %d device events; %.0f %% of their span the device is idle", o.Name,
					o.Events, 100*float64(o.Idle)/float64(span))
			}
			if len(evidence) < maxEvidence {
				evidence = append(evidence, analyze.EvidenceOf(r, o.Event))
			}
		}
	}
	p.ReportCost(&cost, func(mean, step int64) report.Finding {
		return report.Finding{Message: "launch-bound optimizer leaves the device idle " + perStep(mean, step), Why: why,
			Saving: &report.Range{Low: 0, High: mean}, Evidence: evidence}
	})
}
