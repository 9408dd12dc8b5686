package rules

import (
	"fmt"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/internal/units"
)

// OV003 finds backward passes of FSDP that wait for a reduce-scatter only because its input
// is to be used again.
var OV003 = analyze.Rule{
	ID:    "OV003",
	Scope: analyze.PerRank,
	Doc: analyze.Doc{
		Title: "backward waits for a recycled reduce-scatter buffer",
		Why: "fully_shard keeps one input of a reduce-scatter in flight: before the gradients of the next layer are " +
			"copied in, compute waits until the previous reduce-scatter is over (FSDP::post_backward_rs_wait). " +
			"Backward never reads what is reduced, so the wait is for memory alone. It is found where the kernel " +
			"launched next after that span starts when a reduce-scatter ends, though it was launched before.",
		Fix: "model.set_reduce_scatter_max_input_buffers(2) (fully_shard) lets the next layer copy into another " +
			"buffer, at the price of one more copy of a layer's unsharded gradients",
	},
	Needs: []analyze.Need{
		analyze.NeedDevice, analyze.NeedCollectives, analyze.NeedOneRank, analyze.NeedStreams, analyze.NeedSteps,
		analyze.NeedLaunches,
	},
	Run: runOV003,
}

func runOV003(p *analyze.Pass) {
	var cost analyze.Cost
	selected := make(map[*analyze.Rank][]int)
	waits := 0
	for _, r := range p.Ranks {
		if len(r.BufferWaits) == 0 {
			continue
		}
		waiting := make([]*timeline.Set, len(r.Devices))
		for dev := range waiting {
			waiting[dev] = timeline.NewSet(0)
		}
		for _, w := range r.BufferWaits {
			c := &r.Collectives[w.Collective]
			waiting[c.Device].Add(w.From, w.Until)
			selected[r] = append(selected[r], int(w.Collective))
		}
		waits += len(r.BufferWaits)
		for dev := range waiting {
			waiting[dev] = r.Devices[dev].Busy.Without(waiting[dev], timeline.ReduceScatterBucket)
		}
		claimSets(p, r, waiting, timeline.ReduceScatterBucket, &cost)
	}
	p.ReportCost(&cost, func(mean, step int64) report.Finding {
		return report.Finding{
			Message: "backward waits for recycled reduce-scatter buffers " + perStep(mean, step),
			Why: fmt.Sprintf("%s the kernel launched after FSDP::post_backward_rs_wait starts only "+
				"when the previous reduce-scatter ends", units.Count(waits, "time")),
			Saving:   &report.Range{Low: 0, High: mean},
			Evidence: mostExposed(p.Ranks, selected),
			Caveats: []string{
				waitCaveat(p),
				"the saving is an upper bound: where reduce-scatters take longer than backward computes, the wait " +
					"only moves",
			},
		}
	})
}
