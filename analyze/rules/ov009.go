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
	fixes: [numPlaces]advice{
		beforeFirst: {fix: "start it before the batch is there: model.unshard(async_op=True) (fully_shard) ahead of " +
			"the data loading, overlap_param_gather (Megatron); and wrap the embedding and each layer on their own, " +
			"so that the root gathers little",
			before: "batch = next(loader)", after: "model.unshard(async_op=True)  # before batch = next(loader)"},
		inForward: {fix: "prefetch the next layer while this one computes: set_modules_to_forward_prefetch() " +
			"(fully_shard), forward_prefetch=True (FSDP1); more layers per group, larger batches; all-gathers of " +
			"tensor parallelism: Megatron's tp_comm_overlap, torch._inductor.config._micro_pipeline_tp"},
		firstBackward: {fix: "prefetching cannot hide it, so keep the parameters of the last layers from forward on: " +
			"fully_shard(layer, reshard_after_forward=False) for the last block alone; FSDP1: " +
			"ShardingStrategy.SHARD_GRAD_OP for that block",
			before: "fully_shard(last)", after: "fully_shard(last, reshard_after_forward=False)"},
		inBackward: toBackwardPrefetch,
		inOptimizer: {fix: "wait for it only where the next forward reads the parameters (Megatron's " +
			"overlap_param_gather), not inside step()",
			before: "dist.all_gather_into_tensor(p.data, shard)  # in step()",
			after:  "work[p] = dist.all_gather_into_tensor(p.data, shard, async_op=True)  # waited for in forward"},
	},
})

// toBackwardPrefetch is the advice for parameters that backward waits for.
var toBackwardPrefetch = advice{
	fix: "prefetch the next layer while this one computes: set_modules_to_backward_prefetch() " +
		"(fully_shard), backward_prefetch=BackwardPrefetch.BACKWARD_PRE (FSDP1); or " +
		"reshard_after_forward=False, which needs no all-gather in backward, if there is memory for it",
	before: "loss.backward()  # gathers the next block only when it is needed",
	after:  "block.set_modules_to_backward_prefetch([previous])",
}
