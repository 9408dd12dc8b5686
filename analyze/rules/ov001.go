package rules

import (
	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/timeline"
)

// OV001 finds reduce-scatter time that no compute hides and that no more specific
// rule explains.
var OV001 = exposureRule("OV001", analyze.Doc{
	Title: "exposed reduce-scatter",
	Why: "While a reduce-scatter runs and no compute kernel, copy or memset does, the device waits " +
		"for the network. This is the rest that the more specific rules have not claimed.",
	Fix: "give it compute to hide behind (smaller groups of more equal size, " +
		"largest gradients first) and look for a late rank",
}, exposure{
	kinds:  []timeline.CollectiveKind{timeline.ReduceScatter},
	noun:   "reduce-scatter",
	reduce: true,
	beside: advice{fix: "prefetch the next layer while this one computes: set_modules_to_backward_prefetch() " +
		"(fully_shard), backward_prefetch=BackwardPrefetch.BACKWARD_PRE (FSDP1); or reshard_after_forward=False, if " +
		"the memory is there", before: toBackwardPrefetch.before, after: toBackwardPrefetch.after},
	fixes: [numPlaces]advice{
		afterCompute: {fix: "make what is reduced last small (the first layers and the embedding in groups of their " +
			"own), launch the largest gradients first, and look for a late rank"},
		inBackward: {fix: "give it compute to hide behind (smaller groups of more equal size: fully_shard each " +
			"layer) and look for a late rank"},
		inForward: ofActivation,
		inModel:   ofActivation,
		afterBackward: fromHooks("launch it from a gradient hook while backward goes on "+
			"(Megatron's overlap_grad_reduce, DeepSpeed's overlap_comm)", reduceScatter),
	},
	fewer: advice{wordsOnly: true, fix: "reduce fewer bytes: more micro-batches per reduction " +
		"(set_requires_gradient_sync(False)), larger batches per rank, bf16 instead of fp32 " +
		"(MixedPrecisionPolicy(reduce_dtype=torch.bfloat16)), sharding within a node only (HSDP)"},
})

// ofActivation is the fix for reduce-scatters of activations, for which the model asks.
var ofActivation = advice{wordsOnly: true, fix: "tensor parallelism: overlap it with the matrix product beside it " +
	"(Megatron's tp_comm_overlap, torch._inductor.config._micro_pipeline_tp), or use fewer tensor-parallel ranks, " +
	"within a node"}
