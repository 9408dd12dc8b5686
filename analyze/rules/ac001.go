package rules

import (
	"fmt"
	"slices"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/analyze/gradients"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/internal/units"
)

// AC001 finds DDP all-reduces at every micro-batch of an accumulation.
var AC001 = analyze.Rule{
	ID:    "AC001",
	Scope: analyze.PerRank,
	Doc: analyze.Doc{
		Title: "gradients are all-reduced at every micro-batch",
		Why: "DDP keeps whole gradients on every rank, so it is enough to reduce them once per step, " +
			"in the last micro-batch. Every earlier all-reduce moves all gradients over the network for nothing.",
		Fix: "run all micro-batches but the last, forward and backward, under DistributedDataParallel.no_sync()",
	},
	Needs: []analyze.Need{needOptimizerSteps, needBackward},
	Edit:  "sync-last-micro-batch",
	Run: func(p *analyze.Pass) {
		runSyncEvery(p, timeline.AllReduce, "all-reduce",
			"one all-reduce in the last micro-batch would average them just as well")
	},
}

// AC004 finds FSDP reduce-scatters at every micro-batch of an accumulation.
var AC004 = analyze.Rule{
	ID:    "AC004",
	Scope: analyze.PerRank,
	Doc: analyze.Doc{
		Title: "gradients are reduce-scattered at every micro-batch",
		Why: "FSDP can keep unsharded gradients until the last micro-batch and reduce-scatter once. " +
			"Many choose not to, to save memory; if the reduce-scatters are hidden, that is no defect.",
		Fix: "fully_shard: set_requires_gradient_sync(False) until the last micro-batch " +
			"(FSDP1: no_sync()), if there is memory for the unsharded gradients",
	},
	Needs: []analyze.Need{needOptimizerSteps, needBackward},
	Edit:  "sync-last-micro-batch",
	Run: func(p *analyze.Pass) {
		runSyncEvery(p, timeline.ReduceScatter, "reduce-scatter", "that saves memory and costs communication")
	},
}

// runSyncEvery reports a reduction of some kind in every micro-batch. It costs the
// exposed time of those before the last; hidden ones are a note.
func runSyncEvery(p *analyze.Pass, kind timeline.CollectiveKind, name, remark string) {
	e := early{p: p, kind: kind}
	for _, r := range p.Ranks {
		if syncsEvery(r, kind) {
			e.take(r, func(c *gradients.HostCollective) bool { return c.NoSync < 0 && !c.Replicas })
		}
	}
	if e.calls == 0 {
		return
	}
	p.ReportHidden(&e.cost, report.Finding{
		Message:  e.message(name),
		Why:      "gradients are reduced in every micro-batch: " + remark,
		Evidence: e.evidence,
		Caveats: []string{
			fmt.Sprintf("deferring keeps unsharded gradients: %.1f MB on every rank", units.MB(e.price)),
		},
	})
}

// early is the reductions of gradients before the last micro-batch of a step, of some kind.
type early struct {
	p        *analyze.Pass
	kind     timeline.CollectiveKind
	calls    int
	steps    int   // of the ranks that have such calls
	price    int64 // bytes of the gradients, the most of any rank
	cost     analyze.Cost
	evidence []report.Evidence
}

// take adds those of a rank that keep accepts, and claims what is exposed of them.
func (e *early) take(r *analyze.Rank, keep func(*gradients.HostCollective) bool) {
	asked := make(map[int32]bool)
	for i := range r.HostCollectives {
		c := &r.HostCollectives[i]
		if !c.Again || c.Kind != e.kind || !keep(c) {
			continue
		}
		asked[int32(i)] = true
		if len(e.evidence) < maxEvidence {
			e.evidence = append(e.evidence, analyze.EvidenceOf(r, c.Event))
		}
	}
	if len(asked) == 0 {
		return
	}
	e.calls += len(asked)
	e.steps += len(r.Steps)
	e.price = max(e.price, r.Params.Bytes)
	collectives := r.Select(func(c *facts.Collective) bool { return c.Kind == e.kind && c.Linked && asked[c.Asked] })
	claimExposed(e.p, r, collectives, e.kind, &e.cost)
}

// message says how many there are.
func (e *early) message(name string) string {
	return fmt.Sprintf("%s before the last micro-batch, %.1f per step", units.Count(e.calls, name),
		float64(e.calls)/float64(e.steps))
}

// syncsEvery reports whether a rank reduces its gradients in every one of several
// micro-batches by collectives of a kind. Those that the optimizer launches cannot be
// deferred.
func syncsEvery(r *analyze.Rank, kind timeline.CollectiveKind) bool {
	if r.Sync.Pattern != gradients.SyncEvery || r.Sync.Kind != kind || len(r.Sync.PerPass) < 2 {
		return false
	}
	return r.Sync.Site.Site != timeline.SiteOptimizerStep && !(kind == timeline.AllReduce && shards(r))
}

// shards reports whether gradients are reduce-scattered at all: then all-reduces are
// those of replicas of shards (HSDP), not DDP's.
func shards(r *analyze.Rank) bool {
	return slices.ContainsFunc(r.HostCollectives, func(c gradients.HostCollective) bool {
		return c.Gradient && c.Kind == timeline.ReduceScatter
	})
}
