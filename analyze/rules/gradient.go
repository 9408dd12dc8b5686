package rules

import (
	"fmt"
	"slices"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/gradients"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/steps"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/internal/units"
)

// The needs that the rules on gradient passes share.
var gradientNeeds = []analyze.Need{needOptimizerSteps, needShapes}

var needOptimizerSteps = analyze.Need{
	Name:    "optimizer steps",
	Missing: "no Optimizer.step spans: profile through optimizer.step()",
	Met:     func(r *analyze.Rank) bool { return r.StepSource == steps.FromOptimizer },
}

var needShapes = analyze.Need{
	Name:    "shapes of gradients",
	Missing: "no shapes of gradient accumulations: record with record_shapes=True",
	Met:     func(r *analyze.Rank) bool { return r.Params.Known() },
}

var needBackward = analyze.Need{
	Name:    "backward passes",
	Missing: "no autograd nodes in the trace: record CPU activity through backward()",
	Met:     func(r *analyze.Rank) bool { return len(r.Backwards) > 0 },
}

var needDevicePasses = analyze.Need{
	Name:    "device events",
	Missing: "gradient passes launch nothing on a device in this trace",
	Met: func(r *analyze.Rank) bool {
		return slices.ContainsFunc(r.Passes, func(p gradients.Pass) bool { return p.OnDevice })
	},
}

// found is a gradient pass and its rank.
type found struct {
	rank *analyze.Rank
	pass *gradients.Pass
}

// passes lists the passes of the chosen steps for which keep is true.
func passes(p *analyze.Pass, keep func(*analyze.Rank, *gradients.Pass) bool) []found {
	var list []found
	for _, r := range p.Ranks {
		for i := range r.Passes {
			if gp := &r.Passes[i]; r.Selected(gp.Step) && keep(r, gp) {
				list = append(list, found{r, gp})
			}
		}
	}
	return list
}

// claimPasses claims what passes cost: their span less the compute of others in it,
// so that launch gaps are part of the cost. Without a device it is host time, which no
// ledger holds.
func claimPasses(p *analyze.Pass, list []found) *analyze.Cost {
	cost := &analyze.Cost{}
	for _, f := range list {
		claimPass(p, f, cost)
	}
	return cost
}

func claimPass(p *analyze.Pass, f found, cost *analyze.Cost) {
	gp := f.pass
	if owner, ok := p.TakePass(gp); !ok {
		p.Remark([]string{owner})
		return
	}
	if !gp.OnDevice || len(f.rank.Steps[gp.Step].Windows) == 0 {
		cost.AddHost(f.rank, gp.Step, max(0, gp.Span-gp.OtherIn))
		return
	}
	busy, others := p.Claim(f.rank, gp.Step, 0, timeline.ComputeBucket, gp.Busy)
	p.Remark(others)
	gaps, others := p.Claim(f.rank, gp.Step, 0, timeline.IdleBucket, max(0, gp.Span-gp.OtherIn-gp.Busy))
	p.Remark(others)
	cost.Add(f.rank, gp.Step, busy+gaps)
}

// withVerdict lists the scale passes of one verdict.
func withVerdict(p *analyze.Pass, want report.Verdict) []found {
	return passes(p, func(r *analyze.Rank, gp *gradients.Pass) bool {
		verdict, _ := analyze.VerdictOf(r.Rank, gp, p.UniformTokens)
		return gp.Kind == gradients.ScalePass && !gp.One && verdict == want
	})
}

// whyScaled says what scale passes of one verdict do, and why that is their verdict.
func whyScaled(p *analyze.Pass, list []found) string {
	first := list[0]
	_, reason := analyze.VerdictOf(first.rank.Rank, first.pass, p.UniformTokens)
	return fmt.Sprintf("multiplying %s after backward takes %s; %s", units.Count(first.pass.Parameters, "gradient"),
		units.Count(first.pass.Launches, "call"), reason) + alsoSlow(p, list)
}

// showPasses is the first operator, or kernel, of each of the first passes.
func showPasses(list []found) []report.Evidence {
	var evidence []report.Evidence
	for _, f := range list[:min(maxEvidence, len(list))] {
		evidence = append(evidence, analyze.EvidenceOf(f.rank, f.pass.First))
	}
	return evidence
}

// hostCaveat belongs to figures of traces without a device.
func hostCaveat(list []found) []string {
	if len(list) > 0 && !list[0].pass.OnDevice {
		return []string{"host time: the trace has no device activity for it"}
	}
	return nil
}

// betweenMicroBatches reports whether a pass changes gradients to which the next backward pass of
// the step adds. A step that a program leaves out, a second backward pass of other parameters
// and one at other weights (sharpness-aware minimization) add nothing to them.
func betweenMicroBatches(r *analyze.Rank, gp *gradients.Pass) bool {
	if gp.Place != gradients.BetweenMicroBatches {
		return false
	}
	gap := r.Steps[gp.Step].Gaps.At(gp.HostStart)
	switch {
	case gap == nil || !gap.Accumulating || gap.Renewed:
		return false
	case gp.Kind == gradients.ClipPass:
		return !gap.Cleared
	case gp.Kind == gradients.ZeroPass:
		return gap.Loses()
	}
	return true
}
