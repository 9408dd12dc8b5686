package rules

import (
	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/timeline"
)

// OV009 finds all-gather time that no compute hides.
var OV009 = exposureRule("OV009", analyze.Doc{
	Title: "exposed all-gather",
	Why: "FSDP gathers the parameters of a layer before its forward and its backward. Prefetched one layer ahead, " +
		"the all-gather runs beside the compute of the previous layer; launched when it is needed, it makes the " +
		"device wait. What a sharded optimizer gathers right after its update, only the next forward could hide: " +
		"that is a note at most.",
	Fix: "prefetch the next layer while this one computes: set_modules_to_forward_prefetch() and " +
		"set_modules_to_backward_prefetch() of fully_shard; FSDP1: forward_prefetch=True, " +
		"backward_prefetch=BackwardPrefetch.BACKWARD_PRE",
}, exposure{
	kinds:     []timeline.CollectiveKind{timeline.AllGather},
	noun:      "all-gather",
	first:     true,
	byUpdates: true,
	fixes: [numPlaces]string{
		beforeFirst: "start it before the batch is there: model.unshard(async_op=True) (fully_shard) ahead of the " +
			"data loading, overlap_param_gather (Megatron); and wrap the embedding and each layer on their own, so " +
			"that the root gathers little",
		inForward: "prefetch the next layer while this one computes: set_modules_to_forward_prefetch() " +
			"(fully_shard), forward_prefetch=True (FSDP1); more layers per group, larger batches; all-gathers of " +
			"tensor parallelism: Megatron's tp_comm_overlap, torch._inductor.config._micro_pipeline_tp",
		firstBackward: "prefetching cannot hide it, so keep the parameters of the last layers from forward on: " +
			"fully_shard(layer, reshard_after_forward=False) for the last block alone; FSDP1: " +
			"ShardingStrategy.SHARD_GRAD_OP for that block",
		inBackward: "prefetch the next layer while this one computes: set_modules_to_backward_prefetch() " +
			"(fully_shard), backward_prefetch=BackwardPrefetch.BACKWARD_PRE (FSDP1); or " +
			"reshard_after_forward=False, which needs no all-gather in backward, if there is memory for it",
		inOptimizer: "wait for it only where the next forward reads the parameters (Megatron's " +
			"overlap_param_gather), not inside step()",
	},
})
