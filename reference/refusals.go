package reference

import (
	"fmt"
	"slices"
)

// refusal is a combination of options that is rejected when it is present.
type refusal struct {
	when   bool
	option string // to blame
	reason string
	wayOut string
}

// refuse returns the first refusal that applies. A plant whose very fault is such a
// combination is exempt, but not from what cannot be run.
func (p *plan) refuse() error {
	list := slices.Concat(p.shardingRefusals(), p.plantRefusals())
	if !p.has(anyway) {
		list = slices.Concat(p.skipRefusals(), p.scaleRefusals(), p.syncRefusals(), p.allReduceRefusals(), list,
			p.earlyRefusals(), p.rareRefusals())
	}
	for _, r := range list {
		if r.when {
			return &OptionError{r.option, r.reason, r.wayOut}
		}
	}
	return nil
}

// skipRefusals: leaving the loss unscaled must already give the right result.
func (p *plan) skipRefusals() []refusal {
	skip := p.Scale == "skip" && p.Normalization == "global"
	return []refusal{
		{skip && p.accumulation > 1, "scale",
			fmt.Sprintf("skip is right with one micro-batch only, a step has %d", p.accumulation),
			"take loss, or `global-batch-size` -1"},
		{skip && !p.even(), "scale",
			fmt.Sprintf("skip leaves every rank its own mean, and the %d ranks have ragged token counts", p.WorldSize),
			"take loss, or even `token-counts`"},
		{skip && p.LossReduction == "sum", "scale",
			"skip leaves the loss as it is, and that is a sum", "take `loss-reduction` mean"},
		{skip && p.GradReduction == "sum" && p.WorldSize > 1, "scale",
			"skip leaves the mean to the reduction, and that is a sum", "take `grad-reduction` mean"},
	}
}

func (p *plan) scaleRefusals() []refusal {
	noFactor := p.Normalization == "micro-mean" || p.Normalization == "sum"
	perRank := p.Normalization == "per-rank"
	perRankScale := p.Scale == "loss" || p.Scale == "pass" || p.Scale == "foreach"
	return []refusal{
		{p.Scale == "clip" && p.ClipGradNorm == 0, "scale",
			"clip folds the factor into clipping, and that is off", "give `clip-grad-norm`"},
		{noFactor && p.Scale != "loss", "scale",
			p.Normalization + " has no factor that " + p.Scale + " could apply", "leave `scale` out"},
		{perRank && !perRankScale, "scale",
			"per-rank has another factor on every rank, which " + p.Scale + " cannot apply", "take loss"},
		{perRank && p.scalesStored() && p.WorldSize > 1 && !p.InStep(), "scale",
			"per-rank factors must be applied before gradients are reduced, and that happens in backward",
			"take loss, or `reduce-scatter` step"},
		{p.ReduceLoss && (p.Normalization != "global" || p.Scale == "skip"), "reduce-loss",
			"the loop knows no token count of all ranks to divide the sum by",
			"take `normalization` global, and `scale` loss instead of skip"},
	}
}

// everyMicroBatch reports whether gradients are reduced more than once per step.
func (p *plan) everyMicroBatch() bool {
	return p.Sync == "every-micro-batch" && p.accumulation > 1 && p.Backward == "micro-batch"
}

func (p *plan) syncRefusals() []refusal {
	reduceFirst := p.GradSync == "reduce-then-accumulate"
	return []refusal{
		{p.ReduceScatter != "" && p.WorldSize == 1, "reduce-scatter",
			"there is one rank only, nothing is sharded", "take `world-size` 2"},
		{reduceFirst && p.ReduceScatter == "step", "grad-sync",
			"reduce-then-accumulate reduces in backward, `reduce-scatter` step after it", "take `reduce-scatter` hook"},
		{p.Sharded() && !reduceFirst && p.everyMicroBatch(), "sync",
			"every reduce-scatter but the last would be thrown away",
			"take last, or `grad-sync` reduce-then-accumulate"},
		{!p.Sharded() && p.everyMicroBatch() && p.GradReduction == "sum" && p.WorldSize > 1, "grad-reduction",
			"what has been summed over ranks is accumulated and summed again: " +
				"earlier micro-batches count several times",
			"take `sync` last, or `grad-reduction` mean"},
		{p.StepOrder != "forward" && p.ReduceScatter == "", "step-order",
			"it orders the updates of a sharded optimizer that gathers each parameter after its own",
			"give `reduce-scatter`"},
	}
}

// compiledRefusals: what the model, or one graph for all of backward, leaves no room for.
func (p *plan) compiledRefusals() []refusal {
	return []refusal{
		{(p.Full() || p.Checkpoint != "") && p.Family() == "nanogpt", "model",
			"blocks of " + p.Model + " share embeddings, so that they are neither gathered nor run again by themselves",
			"leave out `sharding` and `activation-checkpoint`"},
		{p.Compiled && (p.Full() || p.OptimizerInBackward), "compiled",
			"gradients are needed while backward runs", "leave it out"},
	}
}

func (p *plan) allReduceRefusals() []refusal {
	inStep, ordered := p.AllReduce == "step", p.BucketOrder == "forward"
	return []refusal{
		{ordered && (p.Sharded() || inStep), "bucket-order",
			"there are no buckets", "leave it out, or leave out `reduce-scatter`, `sharding` and `all-reduce`"},
		{ordered && (p.OptimizerInBackward || p.AdamEvery > 1), "bucket-order",
			"each bucket waits for those before it, and gradients of some are used, or not reduced, before those are",
			"leave it out, or leave out `optimizer-in-backward` and `adam-every`"},
		{inStep && p.WorldSize == 1, "all-reduce",
			"there is one rank only, nothing is reduced", "take `world-size` 2"},
		{inStep && p.ReduceScatter != "", "all-reduce", "gradients of a sharded optimizer are reduce-scattered",
			"leave out `all-reduce`, or take `reduce-scatter` step alone"},
		{inStep && p.everyMicroBatch(), "sync",
			"the optimizer's step reduces once, what all micro-batches have added up",
			"take last, or `all-reduce` hook"},
		{p.MatrixReduce != "" && (p.ReduceScatter == "" || p.Matrices == "" || p.GradSync != "accumulate-then-reduce"),
			"matrix-reduce", "it is that of matrices which a sharded optimizer of their own has",
			"give `reduce-scatter` and `matrix-optimizer`, or leave it out"},
		{p.MatrixReduce != "" && p.ClipGradNorm > 0, "clip-grad-norm",
			"the norm needs reduced gradients before the step, and those of matrices are reduced inside it",
			"leave out `matrix-reduce`"},
		{p.InStep() && p.ClipGradNorm > 0, "clip-grad-norm",
			"the norm needs reduced gradients before the step, and they are reduced inside it",
			"take `reduce-scatter` hook, or `all-reduce` hook"},
	}
}

// plantRefusals: what needs a part of the loop that other options replace, or that they do not add.
func (p *plan) plantRefusals() []refusal {
	return []refusal{
		{p.Checkpoint != "" && p.has(expertsElsewhere|neighbours), "plant",
			"what other ranks compute would be sent once more in backward", "leave out `activation-checkpoint`"},
		{!p.Full() && !p.Prefetch, "prefetch",
			"without full sharding nothing is gathered for a forward pass", "give `sharding` full, or leave it out"},
	}
}

// shardingRefusals: with full sharding, parameters are gathered and gradients reduced by block.
func (p *plan) shardingRefusals() []refusal {
	const option = "sharding"
	full := p.Full()
	return append(p.compiledRefusals(), []refusal{
		{p.Checkpoint != "" && p.Model == "mlp", "activation-checkpoint",
			"it is that of blocks, and an mlp has none", "take `model` gpt, or leave it out"},
		{full && p.ReduceScatter != "", option,
			"full reduces gradients to shards by itself, by blocks in backward", "leave out `reduce-scatter`"},
		{full && p.AllReduce == "step", option,
			"full reduces gradients to shards in backward", "leave out `all-reduce`"},
		{full && p.OptimizerInBackward, option,
			"gradients of a block are reduced after its backward, in which the optimizer would step",
			"leave out `optimizer-in-backward`"},
		{full && !p.BucketView, option,
			"full has no buckets", "leave out `gradient-as-bucket-view`"},
		{full && p.has(clipEach|scaleEach) && p.Sync == "last" && p.accumulation > 1, "plant",
			"it needs the gradients of shards after every micro-batch", "take `sync` every-micro-batch"},
		{!full && p.Replicas > 1, "replicas",
			"without full sharding every rank is a replica", "give `sharding` full, or leave it out"},
		{full && p.WorldSize%max(1, p.Replicas) != 0, "replicas",
			fmt.Sprintf("%d ranks are not %d replicas of as many shards", p.WorldSize, p.Replicas),
			"take a divisor of `world-size`"},
		{p.ReplicaSync != "" && p.Replicas < 2, "replica-sync",
			"there is one replica only", "give `replicas`, or leave it out"},
		{p.ReplicaSync == "every-micro-batch" && p.Sync == "last" && p.accumulation > 1, "replica-sync",
			"before the last micro-batch no shards are reduced that replicas could", "take `sync` every-micro-batch"},
		{!full && !p.ReshardAfterForward, "reshard-after-forward",
			"without full sharding nothing is gathered for a forward pass", "give `sharding` full, or leave it out"},
	}...)
}

// earlyRefusals: an optimizer in backward consumes each gradient as soon as it is ready.
func (p *plan) earlyRefusals() []refusal {
	const option = "optimizer-in-backward"
	early := p.OptimizerInBackward
	return []refusal{
		{early && p.accumulation > 1, option,
			fmt.Sprintf("gradient accumulation is not supported with it, a step has %d micro-batches", p.accumulation),
			"take `global-batch-size` -1, or leave it out"},
		{early && p.ClipGradNorm > 0, option,
			"clipping needs all gradients before the first update", "leave out one of the two"},
		{early && p.scalesStored(), option,
			"gradients are used up before `scale` " + p.Scale + " could run", "take `scale` loss"},
		{early && p.Sharded(), option, "a sharded optimizer steps after backward", "leave out `reduce-scatter`"},
		{early && p.AllReduce == "step", option,
			"there is no step behind backward that could reduce", "take `all-reduce` hook"},
		{early && p.AdamEvery > 1, option, "every backward updates, `adam-every` does not", "leave out one of the two"},
	}
}

// rareRefusals: gradients of a group that skips a step are carried over to the next one.
func (p *plan) rareRefusals() []refusal {
	rare := p.AdamEvery > 1
	return []refusal{
		{rare && p.Optimizer == "sgd", "adam-every", "there is no Adam", "take `optimizer` adamw"},
		{rare && (p.scalesStored() || p.ClipGradNorm > 0), "adam-every",
			"gradients of earlier steps are scaled or clipped already", "take `scale` loss without `clip-grad-norm`"},
		{p.Scale == "optimizer" && (p.Optimizer == "dist-adam" || p.Matrices == "muon"), "scale",
			"DistAdam and Muon take gradients as they are", "take loss or pass"},
	}
}
