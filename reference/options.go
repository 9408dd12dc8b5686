package reference

import (
	"github.com/gaprof/gaprof/reference/gradients"
	"github.com/gaprof/gaprof/reference/model"
	"github.com/gaprof/gaprof/reference/optim"
)

// Options are the choices of a run, in groups by who asks for them. All but Weights,
// Uniform and NormEpsilon have a name and are listed by Fields. Defaults is where to
// begin: a zero number is a number, not a default, except where its comment says so.
type Options struct {
	model.Shape           // the network
	Batching              // how much data a step has
	Loop                  // what happens between the first forward and the optimizers
	gradients.Policy      // how gradients are combined over ranks
	optim.Hyperparameters // how parameters are updated

	Seed      int    // of weights and data
	DType     string // float32 or float64: of everything but indices and counts
	Straggler string // rank=factor: the kernels of a rank take so many times as long; "" is none
	Plant     string // a fault, by the rule that finds it or the loop that had it; "" is none

	Weights map[string][]float64 // to begin with, by parameter, row-major; nil draws them by Seed
	Uniform bool                 // the data has equally many valid tokens in all micro-batches of all ranks
}

// Batching says how much data a step has, and how many steps there are.
type Batching struct {
	WorldSize       int    // ranks
	LocalBatchSize  int    // rows of a micro-batch
	GlobalBatchSize int    // rows of a step over all ranks; negative is LocalBatchSize x WorldSize
	TokenCounts     string // valid tokens by rank and micro-batch, see ParseTokenCounts; "" leaves them to the data
	MaxSteps        int    // optimizer steps
}

// Loop says how losses and gradients of micro-batches become those of a step.
type Loop struct {
	Normalization       string  // global, per-rank, micro-mean or sum
	Scale               string  // pass, foreach, skip, loss, optimizer or clip; "" is loss
	LossReduction       string  // mean or sum over the tokens of a micro-batch
	Backward            string  // after each micro-batch, or once a step: micro-batch or step
	Sync                string  // every-micro-batch or last
	GradSync            string  // accumulate-then-reduce or reduce-then-accumulate
	StepOrder           string  // of parameters in a sharded optimizer: forward, reverse or explicit
	OptimizerInBackward bool    // each parameter is updated when its gradient is ready
	ClipGradNorm        float64 // largest norm of the gradient; 0 is any
	ForeachClip         bool    // clipping is one call for all gradients, else one for each
	ReduceLoss          bool    // losses are added up over ranks for the log
}

// Defaults returns the options of a run that nobody has changed: four micro-batches a
// step on two ranks, normalized by the global token count, folded into the loss.
func Defaults() Options {
	return Options{
		Shape:    model.Shape{Model: "gpt", Layers: 2, Width: 64, Heads: 4, SequenceLength: 128},
		Batching: Batching{WorldSize: 2, LocalBatchSize: 4, GlobalBatchSize: 32, MaxSteps: 12},
		Loop: Loop{Normalization: "global", LossReduction: "mean", Backward: "micro-batch", Sync: "last",
			GradSync: "accumulate-then-reduce", StepOrder: "forward", ForeachClip: true},
		Policy: gradients.Policy{GradReduction: "mean", AllReduce: "hook", BucketBytes: 64 << 10, BucketView: true},
		Hyperparameters: optim.Hyperparameters{Optimizer: "adamw", LearningRate: 3e-3, Beta1: 0.9, Beta2: 0.95,
			Epsilon: 1e-8, WeightDecay: 0.1, AdamEvery: 1},
		Seed: 1, DType: "float32",
	}
}
