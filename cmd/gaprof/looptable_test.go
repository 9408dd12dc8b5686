package main

// scaledTwice: that loop is the oracle's.
var scaledTwice = difference{
	"scale passes",
	"2 x after_backward, all parameters of AdamW, all gradients read and written, a call each, unknown | " +
		"3 x between_micro_batches, all parameters of AdamW, all gradients read and written, a call each, unknown",
	"the oracle's loop scales by the token count once more behind the last micro-batch",
}

// averaged: products that divide by the number of ranks.
var averaged = difference{"divide passes", "", "a collective of ours averages; gloo only sums, and the program divides"}

// ofUnits are what FSDP2 does otherwise than a sharded optimizer that has a collective a
// parameter.
func ofUnits(perMicroBatch string) []difference {
	return []difference{
		{
			"copy passes", "",
			"FSDP2 copies the gradients of a unit into one buffer; ours lie where they are reduced from",
		},
		{
			"gradient collectives per micro-batch", perMicroBatch,
			"FSDP2 reduces a unit at once: the block, and the rest",
		},
		{
			"launch sites of gradient sync", "reduce_scatter in backward_hook ",
			"FSDP2 reduces the root unit in a callback behind the last node",
		},
	}
}

// torchCPULoops are the loops of ../shared/traces/torch-cpu.
var torchCPULoops = []loop{
	{name: "single-accum1-scale", options: "global-batch-size=-1 scale=pass clip-grad-norm=1 foreach-clip=false"},
	{
		name:    "single-accum1-scale-foreach",
		options: "global-batch-size=-1 scale=foreach clip-grad-norm=1 foreach-clip=false",
	},
	{name: "single-accum1-skip", options: "global-batch-size=-1 scale=skip clip-grad-norm=1 foreach-clip=false"},
	{
		name:    "single-accum1-cliponly",
		options: "global-batch-size=-1 normalization=micro-mean clip-grad-norm=1 foreach-clip=false",
	},
	{name: "single-accum4-scale", options: "global-batch-size=8 scale=pass clip-grad-norm=1 foreach-clip=false"},
	{
		name:    "single-accum4-lossprescaled",
		options: "global-batch-size=8 scale=loss clip-grad-norm=1 foreach-clip=false",
	},
	{
		name:    "single-accum4-single-backward-1875",
		options: "global-batch-size=8 scale=loss backward=step clip-grad-norm=1 foreach-clip=false",
	},
	{
		name: "ddp2-accum4-no-sync-scale",
		options: "world-size=2 global-batch-size=16 scale=pass sync=last reduce-loss=true clip-grad-norm=1 " +
			"foreach-clip=false",
	},
	{
		name: "ddp2-accum4-sync-every-microbatch-scale",
		options: "world-size=2 global-batch-size=16 scale=pass sync=every-micro-batch reduce-loss=true " +
			"clip-grad-norm=1 foreach-clip=false",
	},
	{
		name:    "manual2-accum1-allreduce-in-step",
		options: "world-size=2 global-batch-size=-1 scale=loss all-reduce=step",
		names:   "ManualAdam=AdamW",
	},
}

// interopLoops are the loops of interop/testdata.
var interopLoops = []loop{
	{name: "single-accum1-skip", options: "global-batch-size=-1 scale=skip"},
	{name: "single-accum1-scale-tensor", options: "global-batch-size=-1 scale=pass loss-reduction=sum"},
	{name: "single-accum1-scale-float", options: "global-batch-size=-1 scale=pass loss-reduction=sum"},
	{name: "single-accum1-scale-foreach-tensor", options: "global-batch-size=-1 scale=foreach loss-reduction=sum"},
	{name: "single-accum1-scale-foreach-float", options: "global-batch-size=-1 scale=foreach loss-reduction=sum"},
	{
		name:    "single-accum1-scale-foreach-clip",
		options: "global-batch-size=-1 scale=foreach loss-reduction=sum clip-grad-norm=1",
	},
	{
		name:    "single-accum1-clip-only-loop",
		options: "global-batch-size=-1 scale=skip clip-grad-norm=1 foreach-clip=false",
	},
	{name: "single-accum1-sgd-fused", options: "global-batch-size=-1 scale=skip optimizer=sgd"},
	{
		name:    "single-accum1-two-optimizers",
		options: "global-batch-size=-1 scale=skip adam-every=2 max-steps=4",
		names:   "AdamW=SGD SGD=AdamW",
	},
	{name: "single-accum1-in-backward", options: "global-batch-size=-1 scale=skip optimizer-in-backward=true"},
	{name: "single-accum4-scale", options: "global-batch-size=8 scale=pass loss-reduction=sum"},
	{name: "single-accum4-single-backward", options: "global-batch-size=8 loss-reduction=sum backward=step"},
	{name: "single-accum4-zero-inside", options: "global-batch-size=8 loss-reduction=sum plant=GS007"},
	{
		name:    "single-accum4-scale-inside",
		options: "global-batch-size=8 plant=scale_each_microbatch_ema",
		differs: []difference{scaledTwice},
	},
	{name: "single-accum4-in-backward-keep", options: "global-batch-size=8 optimizer=sgd plant=OP002"},
	{name: "ddp2-accum1-scale", options: "world-size=2 global-batch-size=-1 scale=pass loss-reduction=sum"},
	{name: "ddp2-accum1-prescaled", options: "world-size=2 global-batch-size=-1 loss-reduction=sum"},
	{
		name:    "ddp2-accum4-no-sync-scale-clip",
		options: "world-size=2 global-batch-size=16 scale=pass loss-reduction=sum reduce-loss=true clip-grad-norm=1",
	},
	{
		name:    "ddp2-accum4-sync-every-scale",
		options: "world-size=2 global-batch-size=16 scale=pass loss-reduction=sum sync=every-micro-batch",
	},
	{
		name:    "ddp2-accum4-bucket-view-in-place",
		options: "world-size=2 global-batch-size=16 normalization=micro-mean gradient-as-bucket-view=true",
		differs: []difference{averaged},
	},
	{
		name: "hooks2-accum1",
		options: "world-size=2 global-batch-size=-1 normalization=micro-mean bucket-bytes=0 " +
			"gradient-as-bucket-view=true",
		differs: []difference{averaged},
	},
	{
		name:    "fsdp2-accum1-clip",
		options: "world-size=2 global-batch-size=-1 normalization=micro-mean reduce-scatter=hook clip-grad-norm=1",
		differs: ofUnits("[one each]"),
	},
	{
		name: "fsdp2-accum4-scale",
		options: "world-size=2 global-batch-size=16 scale=pass loss-reduction=sum grad-sync=reduce-then-accumulate " +
			"sync=every-micro-batch",
		differs: ofUnits("[one each one each one each one each]"),
	},
	{
		name:    "fsdp2-accum4-last-prescaled",
		options: "world-size=2 global-batch-size=16 loss-reduction=sum reduce-scatter=hook",
		differs: ofUnits("[0 0 0 one each]"),
	},
	{name: "single-accum1-chunked-loss", none: "the head is run through backward in two pieces of a micro-batch"},
	{name: "clip-squares-if", none: "the trainer has the norms of PyTorch, not sums of squares by hand"},
	{name: "clip-each-module", none: "the trainer clips all gradients by one norm"},
	{name: "clip-and-decay-by-hand", none: "the trainer's weights decay in the optimizer"},
	{name: "scale-by-group-foreach", none: "the trainer has one factor for all gradients"},
	{name: "scale-static", none: "the trainer scales by counts alone"},
	{name: "scale-twice-foreach", none: "the trainer scales once"},
	{name: "scale-count-of-floats", none: "the trainer's counts are whole numbers"},
	{name: "norm-of-weights", none: "the trainer takes no norm of its weights"},
	{name: "zero-never", none: "--plant GS008 forgets to clear, and is tested by itself"},
	{name: "zero-early", none: "the trainer clears its gradients after the update"},
	{name: "average2-async", none: "the trainer's collectives average"},
	{name: "average2-none-scale-async", none: "the trainer waits for each collective where it asks for it"},
	{name: "single-accum1-ema", none: "the trainer keeps no average of its weights"},
	{name: "single-accum1-weight-decay", none: "weights decay inside the optimizer"},
	{name: "single-accum1-weight-decay-foreach", none: "weights decay inside the optimizer"},
	{
		name: "single-accum1-grad-scaler-clip",
		none: "float16 alone needs a scaled loss, and the trainer has float32 and float64",
	},
	{name: "single-accum1-frozen-scale", none: "all parameters train"},
	{name: "single-accum4-in-backward-last", none: "an optimizer in backward is refused with accumulation"},
	{name: "sync2-alone-sync-norm", none: "no ranks without a reduction of gradients"},
	{name: "sync2-tensor-parallel-accum", none: "no tensor parallelism"},
	{name: "sync2-tensor-parallel-dtensor", none: "no tensor parallelism"},
	{name: "sync2-hand-in-step", none: "one buffer, flattened and reduced in the step of a subclass"},
	{name: "sync2-ddp-sync-norm", none: "no statistics over the batches of all ranks"},
	{name: "framework-trainer", none: "transformers.Trainer clips an MLP, and the trainer's model is a transformer"},
	{name: "framework-lightning-accum2-clip", none: "the optimizer runs the micro-batch: a closure"},
	{name: "closure-adam-foreach-clip", none: "the trainer's optimizers take no closure"},
	{name: "sam-methods", none: "one backward pass at one set of weights per micro-batch"},
	{name: "skip-guard", none: "no step is left out"},
	{name: "actor-critic-twin", none: "one model"},
	{name: "gan-adam", none: "one model"},
	{name: "in-backward-sgd-whole", none: "the same with whole microseconds, which the trainer never writes"},
	{name: "siamese-square", none: "a forward pass goes over each parameter once"},
	{name: "passes-retained-between", none: "one loss"},
	{name: "passes-surgery", none: "one loss"},
	{name: "passes-fgsm-model", none: "no gradients of inputs"},
	{name: "scaler-by-hand", none: "the trainer scales by counts alone"},
	{name: "gradients-adaptive", none: "the trainer clips all gradients by one norm"},
	{name: "gradients-value", none: "the trainer clips all gradients by one norm"},
	{name: "views-consistent", none: "one loss of one output"},
	{name: "several-alternating", none: "an optimizer that is not due has its gradients cleared as well"},
	{name: "several-distill", none: "one model"},
	{name: "mixed2-closure-lbfgs4", none: "the trainer's optimizers take no closure"},
	{name: "mixed2-sam", none: "one backward pass at one set of weights per micro-batch"},
	{name: "mixed2-int8", none: "all-reduces in float32 or float64"},
}
