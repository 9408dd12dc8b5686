package reference

import (
	"math"
	"time"

	"github.com/gaprof/gaprof/reference/device"
)

// Callbacks observe a run. Any of them may be nil. Span is called concurrently, by the
// goroutine of each rank; the others are never called concurrently. Arguments belong to
// the callback, which may keep them.
type Callbacks struct {
	// Recorder returns the recorder of a rank. Without it, or if it returns nil, nothing
	// is recorded.
	Recorder func(rank int) device.Recorder
	// Recorded is device.Config's: nothing more will come to the Recorder of a rank.
	Recorded func(rank int)
	// Open is called before the first step with the effective options, the accumulation
	// steps, and the device of each rank.
	Open func(o Options, accumulation int, devices []device.Properties)
	// Step is called for every step that all ranks have completed, in order. The results
	// of a step arrive while the next one is running; those of a simulation, which knows times
	// only when all is recorded, at the end.
	Step func(StepResult)
	// Gradients receives the whole gradients of every rank as they are just before
	// clipping and the optimizer, already multiplied by any factor that those would
	// still apply. They are in the order of the model; parameters whose optimizer is not
	// due are missing. Shards are gathered, which adds collectives to the run. A device
	// whose tensors have no contents has none.
	Gradients func(rank, step int, gradients []Tensor)
	// Weights receives the final parameters of every rank.
	Weights func(rank int, weights []Tensor)
	// Checkpoint receives what each rank keeps after every CheckpointEvery-th step; 0 is never.
	// Step was called for it once the last rank has handed out its own. The copies add operations
	// between steps.
	Checkpoint      func(Checkpoint)
	CheckpointEvery int
	// Message receives notes for the user, such as data running out mid-step.
	Message func(text string)
	// Span is called at the beginning of train.step, micro_batch, forward, backward,
	// reduce_scatter and optimizer on the dispatch thread of a rank; the function it
	// returns is called at the end. number is the micro-batch for micro_batch and
	// forward, and the step for all others.
	Span func(rank int, name string, number int) (end func())
}

// RankStep is a completed step as one rank sees it. Where tensors have no contents, tokens are
// those that the host has counted, and losses, norms and factors are NaN.
type RankStep struct {
	Rank         int       // from 0
	LossSums     []float64 // by micro-batch: sum over valid targets, in nats
	Tokens       []int64   // by micro-batch, as counted by the loop
	LocalTokens  int64     // sum of Tokens
	GlobalTokens int64     // sum over ranks, as all-reduced by the loop; 0 if it does not
	GradNorm     float64   // before clipping; NaN without clipping
	ClipCoef     float64   // at most 1; NaN without clipping
	Factor       float64   // applied to losses or gradients; NaN if there is none
	ReducedLoss  float64   // sum over ranks, as all-reduced by the loop; NaN if it does not

	story story   // what was done to its gradient
	valid []int64 // targets by micro-batch, as counted by the host
	means bool    // the loss of a micro-batch is a mean

	computed []float64 // by micro-batch: the loss as the loop computes it, a mean or a sum
	added    []float64 // by micro-batch: that loss, a mean times Tokens, as the loop adds it up
}

// mean returns the mean loss over a rank's tokens, as the loop counts them.
func (r RankStep) mean() float64 {
	sum := 0.0
	for _, l := range r.added {
		sum += l
	}
	return sum / math.Max(1, float64(r.LocalTokens))
}

// StepResult is a completed step.
type StepResult struct {
	Step         int        // from 0
	MicroBatches int        // per rank
	Ranks        []RankStep // by rank
	Tokens       int64      // valid targets over all ranks and micro-batches
	Loss         float64    // mean over Tokens, in nats; 0 without any, NaN if unknown
	Logged       float64    // what a loop of these options logs as its loss, on rank 0; NaN if unknown

	// Duration is that from the completion of the step before, of the first from the beginning,
	// on the clock of the devices.
	Duration time.Duration

	// Optimized is the loss whose gradient the optimizers were given, before clipping, by what the
	// ranks did; NaN where there is no such loss.
	Optimized float64
}

// Why a run ended.
const (
	EndSteps  = "steps"  // MaxSteps were completed
	EndData   = "data"   // the data ran out
	EndCancel = "cancel" // the context was cancelled
)

// Result summarizes a run.
type Result struct {
	Steps    int           // completed by all ranks, with those before a Resume
	Tokens   int64         // valid targets of the steps of this run
	Ranks    int           // that were run; in a simulation, the first stands for all others
	End      string        // EndSteps, EndData or EndCancel
	Duration time.Duration // of training, on the clock of the devices, without opening them
}
