package reference

import (
	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/reference/gradients"
	"github.com/gaprof/gaprof/reference/model"
	"github.com/gaprof/gaprof/reference/optim"
)

// Options are the choices of a run, grouped by the part that reads them. Start from
// Defaults: the zero value is not usable, and a zero is a value, not a default, unless
// the comment of the field says so. All but Target, Weights, Resume, Uniform, and of the model Context,
// NormEpsilon, RopeTheta and RopeFactor, are also available by name, through Fields and Set.
type Options struct {
	model.Shape           // the network
	Batching              // how much data a step has
	Loop                  // what happens between the first forward and the optimizers
	gradients.Policy      // how gradients are combined over ranks
	optim.Hyperparameters // how parameters are updated
	Host                  // what the host does besides, while the device may run dry

	Seed      int    // for initial weights and the default data
	DType     string // float32, float64 or bfloat16, for everything but indices and counts, see Hyperparameters
	Straggler string // rank=factor: slows down the kernels of one rank; "" for none
	Plant     string // one of Plants; "" for none

	Target device.Traits // of the backend; Run fills it in. The zero value stands for the cpu

	Weights map[string][]float64 // initial values by parameter, row-major; nil to draw them by Seed
	Resume  *Resume              // where to go on; nil for a run from its first step
	Uniform bool                 // all micro-batches of all ranks have the same number of valid tokens
}

// Batching says how much data a step consumes, and how many steps there are.
type Batching struct {
	WorldSize       int    // ranks
	LocalBatchSize  int    // rows per micro-batch; 0 for those of the model
	GlobalBatchSize int    // rows per step over all ranks; 0 for MicroBatches, negative for one micro-batch per rank
	TokenCounts     string // valid tokens per micro-batch, see ParseTokenCounts; "" for what the data has
	MoreRows        string // rank=factor: rows of the micro-batches of one rank; "" for as many on all
	MaxSteps        int    // optimizer steps
}

// Loop says how the losses and gradients of micro-batches are combined into a step.
type Loop struct {
	Normalization       string  // divisor of a token's loss: global, per-rank, micro-mean or sum
	Scale               string  // where it is applied: pass, foreach, skip, loss, optimizer or clip; "" for loss
	LossReduction       string  // cross entropy of a micro-batch: mean or sum
	Backward            string  // one backward pass per micro-batch or per step
	Sync                string  // when gradients are reduced: every-micro-batch or last
	GradSync            string  // accumulate-then-reduce (DDP) or reduce-then-accumulate (FSDP)
	StepOrder           string  // of parameters in a sharded optimizer: forward, reverse or explicit
	OptimizerInBackward bool    // each parameter is updated as soon as its gradient is ready
	ClipGradNorm        float64 // largest norm of the gradient; 0 for no clipping
	ForeachClip         bool    // clip all gradients in one call, not one by one
	ReduceLoss          bool    // all-reduce the sum of losses, for the log
	Checkpoint          string  // activation checkpointing: full, or selective for every second block; "" for none
}

// Host says what the host of a rank does that leaves its device without work. A delay is a
// time, as time.ParseDuration takes it, or rank=time for that of one rank; "" is none.
type Host struct {
	LoaderDelay string // what a micro-batch takes longer to load
	LaunchDelay string // what a kernel takes longer to launch
	HostDelay   string // what a step has at its end in which the host does something else
	ReadLoss    string // waits for the loss and reads it: after each step, micro-batch or last backward; "" never
	EmptyCache  bool   // gives freed device memory back after each step
}

// Defaults returns the default options: two ranks with four micro-batches per step each,
// normalized by the global token count, which is folded into the loss.
func Defaults() Options {
	return Options{
		Shape:    model.Shape{Model: "gpt"},
		Batching: Batching{WorldSize: 2, LocalBatchSize: 4, GlobalBatchSize: 32, MaxSteps: 12},
		Loop: Loop{Normalization: "global", LossReduction: "mean", Backward: "micro-batch", Sync: "last",
			GradSync: "accumulate-then-reduce", StepOrder: "forward", ForeachClip: true},
		Policy: gradients.Policy{GradReduction: "mean", AllReduce: "hook", BucketBytes: 64 << 10, BucketView: true,
			Replicas: 1, ReshardAfterForward: true, Prefetch: true},
		Hyperparameters: optim.Hyperparameters{Optimizer: "adamw", LearningRate: 3e-3, Beta1: 0.9, Beta2: 0.95,
			Epsilon: 1e-8, WeightDecay: 0.1, AdamEvery: 1, MasterWeights: true,
			Momentum: 0.95},
		Seed: 1, DType: "float32",
	}
}

// DefaultsOn returns the default options of a backend. Where tensors have shapes only, that is what is trained on
// GPUs: GPT-2 124M on all devices of a node in bfloat16, with rows and micro-batches that keep them busy and with the
// buckets of DDP.
func DefaultsOn(t device.Traits) Options {
	o := Defaults()
	o.Target = t
	if !t.Shapes {
		return o
	}
	o.Model, o.DType, o.BucketBytes = "gpt2", "bfloat16", 25<<20
	o.WorldSize, o.LocalBatchSize, o.GlobalBatchSize = max(1, t.Node), 0, 0
	return o
}

// FillOn sets Target, and options that were not given to the defaults of that backend.
func (o *Options) FillOn(t device.Traits, given func(name string) bool) {
	defaults := DefaultsOn(t)
	from := defaults.Fields()
	for i, f := range o.Fields() {
		if !given(f.Name) {
			f.take(from[i].Value)
		}
	}
	o.Target = t
}
