package rules

import (
	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/timeline"
)

// OV008 finds all-reduce time that no compute hides and that no more specific rule
// explains: the rest of DDP, of replicas of shards, of tensor parallelism.
var OV008 = exposureRule("OV008", analyze.Doc{
	Title: "exposed all-reduce",
	Why: "While an all-reduce runs and no compute kernel, copy or memset does, the device waits for the network. " +
		"DDP reduces a bucket as soon as its gradients are ready, so the rest of backward hides all but the last " +
		"one, if the buckets are small enough and backward is long enough.",
	Fix: "smaller buckets in the order in which gradients become ready: DistributedDataParallel(..., " +
		"bucket_cap_mb=10, gradient_as_bucket_view=True, static_graph=True), and look for a late rank",
}, exposure{
	kinds:  []timeline.CollectiveKind{timeline.AllReduce},
	noun:   "all-reduce",
	reduce: true,
	fixes: [numPlaces]advice{
		afterCompute: {fix: "make the last bucket small and the first one early: DistributedDataParallel(..., " +
			"bucket_cap_mb=10, gradient_as_bucket_view=True, static_graph=True) reduces buckets in the order in " +
			"which gradients become ready; and look for a late rank"},
		inForward: {wordsOnly: true, fix: "tensor parallelism: sequence parallelism with overlapped communication " +
			"(tp_comm_overlap, torch._inductor.config._micro_pipeline_tp); SyncBatchNorm: larger batches per rank"},
		inModel:       ofActivation,
		afterBackward: ofNumbers,
		inOptimizer:   {fix: ofNumbers.fix, wordsOnly: true},
	},
	fewer: advice{wordsOnly: true, fix: "reduce fewer bytes: more micro-batches per reduction (no_sync()), larger " +
		"batches per rank, bf16 (model.register_comm_hook(None, default_hooks.bf16_compress_hook)); check the links " +
		"between the devices"},
})

// ofNumbers is the advice for all-reduces of what gradients add up to.
var ofNumbers = advice{
	fix: "one all-reduce for all norms and counts of a step, and no wait for it before the next " +
		"kernel is launched; look for a late rank",
	before: "dist.all_reduce(square); dist.all_reduce(tokens)",
	after:  "dist.all_reduce(numbers)  # numbers = torch.stack([square, tokens])",
}
