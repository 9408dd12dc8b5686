package rules

import (
	"fmt"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/gradients"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/internal/units"
)

// AC003 finds all-reduces between replicas of shards at every micro-batch of an
// accumulation.
var AC003 = analyze.Rule{
	ID:    "AC003",
	Scope: analyze.PerRank,
	Doc: analyze.Doc{
		Title: "replicas of shards are all-reduced at every micro-batch",
		Why: "With HSDP, gradients are reduce-scattered over the ranks of a shard group and then all-reduced " +
			"between the replicas of each shard, often over the slower links between nodes. Shards " +
			"can be accumulated first and all-reduced once per step: that keeps no unsharded gradients, " +
			"only the shard that the rank holds anyway.",
		Fix: "fully_shard: model.set_requires_all_reduce(is_last_micro_batch) before each backward; " +
			"FSDP1 with HYBRID_SHARD: no_sync() defers both reductions and keeps unsharded gradients",
	},
	Needs: []analyze.Need{needOptimizerSteps, needBackward},
	Edit:  "sync-last-micro-batch",
	Run:   runAC003,
}

func runAC003(p *analyze.Pass) {
	e := early{p: p, kind: timeline.AllReduce}
	var kept int64
	for _, r := range p.Ranks {
		if !replicasEvery(r) {
			continue
		}
		e.take(r, func(c *gradients.HostCollective) bool { return c.Replicas && c.NoSync < 0 })
		kept = max(kept, r.Params.Bytes/max(1, r.Sync.Shards))
	}
	if e.calls == 0 {
		return
	}
	f := report.Finding{
		Message:  e.message("all-reduce") + ", between replicas of shards",
		Why:      "what is reduced within the shard group is all-reduced between replicas in every micro-batch",
		Evidence: e.evidence,
	}
	if kept > 0 {
		f.Caveats = append(f.Caveats, fmt.Sprintf(
			"deferring keeps a shard of unreduced gradients: %.1f MB on every rank, twice that if reduced in float32",
			units.MB(kept)))
	}
	p.ReportHidden(&e.cost, f)
}

// replicasEvery reports whether every backward pass of some step with several of them ends
// in all-reduces between replicas.
func replicasEvery(r *analyze.Rank) bool {
	passes := make(map[int]map[int]bool) // by step: the backward passes that have any
	for i := range r.HostCollectives {
		if c := &r.HostCollectives[i]; c.Replicas && c.Gradient && c.Step >= 0 {
			if passes[c.Step] == nil {
				passes[c.Step] = make(map[int]bool)
			}
			passes[c.Step][c.Backward] = true
		}
	}
	for step, with := range passes {
		if n := len(r.Steps[step].Backwards); n > 1 && len(with) == n {
			return true
		}
	}
	return false
}
