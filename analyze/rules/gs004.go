package rules

import (
	"fmt"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/gradients"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/internal/units"
)

// GS004 finds gradients that are divided whole before they are reduce-scattered.
var GS004 = analyze.Rule{
	ID:    "GS004",
	Scope: analyze.PerRank,
	Doc: analyze.Doc{
		Title: "gradients are divided before they are sharded",
		Why: "Dividing for the mean before the reduce-scatter reads and writes every whole gradient on " +
			"every rank. After it, each rank has only its shard to divide, and a collective that averages " +
			"needs no pass at all. What runs beside other kernels costs nothing, so only the rest is counted.",
		Fix: "average in the collective: dist.reduce_scatter_tensor(shard, grad, op=dist.ReduceOp.AVG), or " +
			"divide the shard after it. FSDP1 always divides first; fully_shard averages in the collective " +
			"unless it reduces in float16, so set MixedPrecisionPolicy(reduce_dtype=torch.bfloat16) or " +
			"torch.float32. Megatron-LM: DistributedDataParallelConfig(average_in_collective=True)",
	},
	Needs: gradientNeeds,
	Run:   runGS004,
}

func runGS004(p *analyze.Pass) {
	list := passes(p, func(_ *analyze.Rank, gp *gradients.Pass) bool {
		return gp.BeforeScatter && !gp.One
	})
	say := p.ReportStructure
	if len(list) > 0 && !list[0].pass.OnDevice {
		say = p.ReportNote // gloo cannot average, so there is nothing to change
	}
	say(claimBusy(p, list), func(mean, step int64) report.Finding {
		first := list[0]
		shards := "its shard"
		if n := first.rank.Sync.Shards; n > 1 {
			shards = fmt.Sprintf("1/%d of them", n)
		}
		return report.Finding{
			Message: "dividing whole gradients before they are sharded costs " + perStep(mean, step),
			Why: fmt.Sprintf("%.1f MB are read and written right before reduce-scatters that leave each rank %s",
				units.MB(first.pass.Bytes), shards),
			Saving:   &report.Range{Low: 0, High: mean},
			Evidence: showPasses(list),
			Caveats: append(hostCaveat(list), "in float16 the division may be what keeps the sum from "+
				"overflowing: in that case change the dtype of the reduction as well"),
		}
	})
}

// claimBusy claims the time of passes that hooks launch beside the kernels of the model.
func claimBusy(p *analyze.Pass, list []found) *analyze.Cost {
	cost := &analyze.Cost{}
	for _, f := range list {
		claimAlone(p, f, cost)
	}
	return cost
}

// claimAlone claims the time in which a pass computes and nothing else is known to, without
// gaps, which are not its own.
func claimAlone(p *analyze.Pass, f found, cost *analyze.Cost) {
	gp := f.pass
	if owner, ok := p.TakePass(gp); !ok {
		p.Remark([]string{owner})
		return
	}
	if !gp.OnDevice || len(f.rank.Steps[gp.Step].Windows) == 0 {
		cost.AddHost(f.rank, gp.Step, gp.Busy)
		return
	}
	got, others := p.Claim(f.rank, gp.Step, 0, timeline.ComputeBucket, gp.Busy-gp.Hidden)
	cost.Add(f.rank, gp.Step, got)
	p.Remark(others)
}
