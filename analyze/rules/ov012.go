package rules

import (
	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/timeline"
)

// OV012 finds time in broadcasts and reductions to one rank that no compute hides.
var OV012 = exposureRule("OV012", analyze.Doc{
	Title: "exposed broadcast or reduce",
	Why: "DDP broadcasts the buffers of rank 0 before every forward; optimizers that share their work broadcast what " +
		"they have updated, and reduce each gradient to the rank that owns it. While such a message runs and " +
		"no compute kernel, copy or memset does, the device waits.",
	Fix: "collectives of all ranks (reduce-scatter, all-gather) instead of one message per owner, launched ahead of " +
		"their use",
}, exposure{
	kinds:     []timeline.CollectiveKind{timeline.Broadcast, timeline.Reduce},
	noun:      "broadcast and reduce",
	byUpdates: true,
	fixes: [numPlaces]advice{
		inForward: {fix: "DistributedDataParallel(..., broadcast_buffers=False), or buffers that are equal on every " +
			"rank anyway (SyncBatchNorm)"},
		inOptimizer: {fix: "wait for it only where the next forward reads the parameters; " +
			"ZeroRedundancyOptimizer(..., overlap_with_ddp=True)",
			before: "optimizer = ZeroRedundancyOptimizer(params, optimizer_class=torch.optim.AdamW, lr=1e-3)",
			after: "optimizer = ZeroRedundancyOptimizer(params, optimizer_class=torch.optim.AdamW, lr=1e-3, " +
				"overlap_with_ddp=True)"},
	},
})
