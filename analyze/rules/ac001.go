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
		Why: "DDP keeps whole gradients on every rank, so it is enough to reduce them once a step, " +
			"in the last micro-batch. Every earlier all-reduce moves all gradients again for nothing.",
		Fix: "run all micro-batches but the last under DistributedDataParallel.no_sync()",
	},
	Needs: []analyze.Need{needOptimizerSteps, needBackward},
	Run: func(p *analyze.Pass) {
		runSyncEvery(p, timeline.AllReduce, "all-reduce",
			"DDP averages again and again what one all-reduce in the last micro-batch would")
	},
}

// AC004 finds FSDP reduce-scatters at every micro-batch of an accumulation.
var AC004 = analyze.Rule{
	ID:    "AC004",
	Scope: analyze.PerRank,
	Doc: analyze.Doc{
		Title: "gradients are reduce-scattered at every micro-batch",
		Why: "FSDP can keep whole gradients until the last micro-batch and reduce-scatter once. " +
			"Many choose not to, to save memory; if the reduce-scatters are hidden that is no defect.",
		Fix: "fully_shard: set_requires_gradient_sync(False) until the last micro-batch " +
			"(FSDP1: no_sync()), if the memory for whole gradients is there",
	},
	Needs: []analyze.Need{needOptimizerSteps, needBackward},
	Run: func(p *analyze.Pass) {
		runSyncEvery(p, timeline.ReduceScatter, "reduce-scatter", "kept to save memory")
	},
}

// runSyncEvery reports a reduction of some kind in every micro-batch. It costs the
// exposed time of those before the last; hidden ones are a note.
func runSyncEvery(p *analyze.Pass, kind timeline.CollectiveKind, name, remark string) {
	var cost analyze.Cost
	var evidence []report.Evidence
	calls, steps := 0, 0
	var price int64
	for _, r := range p.Ranks {
		if !syncsEvery(r, kind) {
			continue
		}
		steps += len(r.Steps)
		price = max(price, r.Params.Bytes)
		early := earlyCalls(r, kind)
		calls += len(early)
		asked := make(map[int32]bool)
		for _, i := range early {
			asked[i] = true
			if len(evidence) < maxEvidence {
				evidence = append(evidence, analyze.EvidenceOf(r, r.HostCollectives[i].Event))
			}
		}
		collectives := r.Select(func(c *facts.Collective) bool { return c.Kind == kind && c.Linked && asked[c.Asked] })
		claimExposed(p, r, collectives, timeline.BucketOf(kind), &cost)
	}
	if calls == 0 {
		return
	}
	f := report.Finding{
		Message: fmt.Sprintf("%d %ss before the last micro-batch, %.1f a step", calls, name,
			float64(calls)/float64(steps)),
		Why:      "gradients are reduced in every micro-batch: " + remark,
		Evidence: evidence,
		Caveats:  []string{fmt.Sprintf("deferring keeps whole gradients: %.1f MB on every rank", units.MB(price))},
	}
	if kind == timeline.AllReduce && slices.ContainsFunc(p.Ranks, usesFSDP) {
		f.Fix = "fully_shard over replicas: set_requires_all_reduce(False) until the last micro-batch"
	}
	p.ReportHidden(&cost, f)
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

// earlyCalls are the collectives of gradients before the last micro-batch of a step, as
// indexes of HostCollectives.
func earlyCalls(r *analyze.Rank, kind timeline.CollectiveKind) (early []int32) {
	for i := range r.HostCollectives {
		if c := &r.HostCollectives[i]; c.Gradient && c.Step >= 0 && c.Kind == kind && !lastPass(r, c) {
			early = append(early, int32(i))
		}
	}
	return early
}

// usesFSDP reports whether the trace has spans of FSDP.
func usesFSDP(r *analyze.Rank) bool { return r.UsesFSDP }

// shards reports whether gradients are reduce-scattered at all: then all-reduces are
// those of replicas of shards (HSDP), not DDP's.
func shards(r *analyze.Rank) bool {
	return slices.ContainsFunc(r.HostCollectives, func(c gradients.HostCollective) bool {
		return c.Gradient && c.Kind == timeline.ReduceScatter
	})
}

// lastPass reports whether a call belongs to the last backward pass of its step.
func lastPass(r *analyze.Rank, c *gradients.HostCollective) bool {
	b := r.Steps[c.Step].Backwards
	return len(b) == 0 || c.Event.Start >= b[len(b)-1].Start
}
