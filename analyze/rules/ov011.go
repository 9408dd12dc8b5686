package rules

import (
	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/timeline"
)

// OV011 finds all-to-all time that no compute hides: expert parallelism.
var OV011 = exposureRule("OV011", analyze.Doc{
	Title: "exposed all-to-all",
	Why: "Experts wait for the tokens of all ranks (dispatch), and the next layer waits for what the experts return " +
		"(combine). Meanwhile the same tokens have nothing else to compute: only a shared expert or another " +
		"micro-batch can hide it. It lasts until the rank with the most tokens is done.",
	Fix: "compute beside it: the shared expert (Megatron's moe_shared_expert_overlap), or a second micro-batch " +
		"(two-batch overlap, overlap_moe_expert_parallel_comm, DualPipe); balance the experts; keep them within a " +
		"node",
}, exposure{
	kinds: []timeline.CollectiveKind{timeline.AllToAll},
	noun:  "all-to-all",
})
