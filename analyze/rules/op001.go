package rules

import (
	"fmt"
	"slices"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/internal/units"
)

// OP001 finds optimizers whose kernels wait for their launches.
var OP001 = analyze.Rule{
	ID:    "OP001",
	Scope: analyze.PerRank,
	Doc: analyze.Doc{
		Title: "launch-bound optimizer",
		Why: "An optimizer that launches many short kernels for every tensor leaves the device idle between them. " +
			"It does so in most steps: the device is idle for a quarter of the optimizer's span in more than half of " +
			"them, and for half of it in those that count. A host that is held up once is another matter.",
		Fix: "pass fused=True or foreach=True to the optimizer, or compile its step with torch.compile",
	},
	Needs: []analyze.Need{analyze.NeedDevice, needOptimizerSteps, analyze.NeedLaunches},
	Edit:  "cuda-graph",
	Run:   runOP001,
}

// manyKernels is the least number of device events for which gaps are the optimizer's
// normal way of working and not an accident.
const manyKernels = 20

// judged reports whether o runs behind backward, with many kernels, in a selected step whose
// time on the device is known.
func judged(r *analyze.Rank, o *facts.OptimizerRun) bool {
	return !o.InBackward && o.Step >= 0 && r.Selected(o.Step) && len(r.Steps[o.Step].Windows) > 0 &&
		o.Events >= manyKernels
}

// idleFor reports whether the device is idle for more than a share of the time in which o runs.
func idleFor(o *facts.OptimizerRun, share float64) bool {
	return float64(o.Idle) > share*float64(o.End-o.Start)
}

// launchBoundRuns lists the runs in which the device is mostly idle, of the optimizers that
// show it in most of the steps in which they run: a host that was held up once is no finding.
func launchBoundRuns(r *analyze.Rank) []*facts.OptimizerRun {
	most := make(map[string]*majority)
	var list []*facts.OptimizerRun
	for i := range r.OptimizerRuns {
		o := &r.OptimizerRuns[i]
		if !judged(r, o) {
			continue
		}
		if most[o.Name] == nil {
			most[o.Name] = &majority{}
		}
		most[o.Name].add(o.Step, idleFor(o, steadyGap))
		if idleFor(o, launchBoundGap) {
			list = append(list, o)
		}
	}
	return slices.DeleteFunc(list, func(o *facts.OptimizerRun) bool { return !most[o.Name].holds() })
}

// optimizersIdle reports whether the steps of a rank with launch-bound optimizers lose
// enough in those for them to be said. Where they do not, the idle time is left to rules
// about all of a step.
func optimizersIdle(r *analyze.Rank, runs []*facts.OptimizerRun) bool {
	idle, all := int64(0), int64(0)
	kinds := make(map[string]bool)
	for _, o := range runs {
		idle += o.Idle
		kinds[r.Steps[o.Step].Kind] = true
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
		runs := launchBoundRuns(r)
		if !optimizersIdle(r, runs) {
			continue
		}
		for _, o := range runs {
			span := o.End - o.Start
			got, others := p.Claim(r, o.Step, 0, timeline.IdleBucket, o.Idle)
			p.Remark(others)
			cost.Add(r, o.Step, got)
			if why == "" {
				why = fmt.Sprintf("%s launches %s; the device is idle for %.0f %% of their span", o.Name,
					units.Count(o.Events, "device event"), 100*float64(o.Idle)/float64(span))
			}
			if len(evidence) < maxEvidence {
				evidence = append(evidence, analyze.EvidenceOf(r, o.Event))
			}
		}
	}
	p.ReportHost(&cost, func(mean, step int64) report.Finding {
		return report.Finding{Message: "launch-bound optimizer leaves the device idle " + perStep(mean, step), Why: why,
			Saving: &report.Range{Low: 0, High: mean}, Evidence: evidence}
	})
}
