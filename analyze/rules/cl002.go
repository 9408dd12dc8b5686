package rules

import (
	"fmt"
	"strings"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/analyze/gradients"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/internal/units"
)

// CL002 finds gradient norms that are reduced, or read by the host, one by one.
var CL002 = analyze.Rule{
	ID:    "CL002",
	Scope: analyze.PerRank,
	Doc: analyze.Doc{
		Title: "a collective or a host read for each gradient's norm",
		Why: "The norm of all gradients needs one sum over ranks, of the squares that each rank has. A loop " +
			"that all-reduces the norm of each gradient by itself pays the latency of a collective for " +
			"each, and one that calls .item() on each stalls the host until the device has caught up. " +
			"Norms that are written as grad.pow(2).sum() are not recognized.",
		Fix: "torch.nn.utils.clip_grad_norm_(parameters, max_norm), which takes one collective for DTensors; by " +
			"hand: norms = torch._foreach_norm(grads); square = torch.stack(norms).pow(2).sum(); " +
			"dist.all_reduce(square); norm = square.sqrt(), and .item() at most once, after it",
	},
	Needs: gradientNeeds,
	Run:   runCL002,
}

// oneByOne reports whether the norms of a pass are reduced or read one by one.
func oneByOne(gp *gradients.Pass) bool { return len(gp.Rounds.Collectives) > 0 || gp.Rounds.Reads > 0 }

func runCL002(p *analyze.Pass) {
	list := passes(p, func(_ *analyze.Rank, gp *gradients.Pass) bool { return oneByOne(gp) })
	p.ReportStructure(claimRounds(p, list), func(mean, step int64) report.Finding {
		first := list[0].pass
		return report.Finding{
			Message: "gradient norms taken one by one cost " + perStep(mean, step),
			Why: fmt.Sprintf("the norms of %s take %s in one pass",
				units.Count(first.Parameters, "gradient"), strings.Join(roundsOf(first), " and ")),
			Saving:   &report.Range{Low: 0, High: mean},
			Evidence: showRounds(list),
			Caveats:  hostCaveat(list),
		}
	})
}

// roundsOf says what is done for each norm.
func roundsOf(gp *gradients.Pass) (parts []string) {
	if n := len(gp.Rounds.Collectives); n > 0 {
		parts = append(parts, units.Count(n, "all-reduce")+" of one number")
	}
	if n := gp.Rounds.Reads; n > 0 {
		parts = append(parts, units.Count(n, "read")+" by the host (aten::item)")
	}
	return parts
}

// claimRounds claims what is exposed of the collectives of passes, and the idle time
// between their norms. The norms themselves are needed.
func claimRounds(p *analyze.Pass, list []found) *analyze.Cost {
	cost := &analyze.Cost{}
	asked := make(map[*analyze.Rank]map[int32]bool)
	for _, f := range list {
		gp := f.pass
		if owner, ok := p.TakePass(gp); !ok {
			p.Remark([]string{owner})
			continue
		}
		if !gp.OnDevice || len(f.rank.Steps[gp.Step].Windows) == 0 {
			cost.AddHost(f.rank, gp.Step, gp.Rounds.Wait)
			continue
		}
		got, others := p.Claim(f.rank, gp.Step, 0, timeline.IdleBucket, gp.Rounds.Wait)
		cost.Add(f.rank, gp.Step, got)
		p.Remark(others)
		if asked[f.rank] == nil {
			asked[f.rank] = make(map[int32]bool)
		}
		for _, i := range gp.Rounds.Collectives {
			asked[f.rank][i] = true
		}
	}
	for _, r := range p.Ranks {
		if calls := asked[r]; len(calls) > 0 {
			reductions := r.Select(func(c *facts.Collective) bool { return c.Linked && calls[c.Asked] })
			claimExposed(p, r, reductions, timeline.AllReduce, cost)
		}
	}
	return cost
}

// showRounds is the first norm of each of the first passes, then the first collectives.
func showRounds(list []found) []report.Evidence {
	evidence := showPasses(list[:min(2, len(list))])
	for _, f := range list {
		for _, i := range f.pass.Rounds.Collectives {
			if len(evidence) == maxEvidence {
				return evidence
			}
			evidence = append(evidence, analyze.EvidenceOf(f.rank, f.rank.HostCollectives[i].Event))
		}
	}
	return evidence
}
