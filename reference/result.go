package reference

import (
	"math"
	"time"

	"github.com/gaprof/gaprof/reference/device"
)

// Callbacks are told about a run; those that are nil are not called. Spans are told by
// each rank's own goroutine, the others by one goroutine at a time. What they are given
// is theirs to keep.
type Callbacks struct {
	// Recorder returns what records a rank; nil, or a nil Recorder, records nothing.
	Recorder func(rank int) device.Recorder
	// Open is told the plan before the first step: options with defaults and plants
	// filled in, accumulation steps, and the device of each rank.
	Open func(o Options, accumulation int, devices []device.Properties)
	// Step is called when all ranks have finished a step, in order. A step is read
	// back while the next one runs.
	Step func(StepResult)
	// Gradients makes every rank hand out its whole gradients just before clipping and
	// optimizer, already multiplied by what clipping or optimizer would still multiply
	// them by, in the order of parameters; parameters whose optimizer does not step are
	// missing. Shards are gathered for it, which adds collectives to the run.
	Gradients func(rank, step int, gradients []Tensor)
	// Weights is called at the end with the parameters of a rank.
	Weights func(rank int, weights []Tensor)
	// Message is told what a user should know: that data ended inside a window.
	Message func(text string)
	// Span brackets train.step, micro_batch, forward, backward, reduce_scatter and
	// optimizer on the dispatch thread of a rank; number is the step, or the
	// micro-batch of micro_batch and forward. The function returned ends it.
	Span func(rank int, name string, number int) (end func())
}

// Tensor is a parameter, or the gradient of one, on the host.
type Tensor struct {
	Name   string
	Shape  []int
	Values []float64 // row-major
}

// RankStep is what one rank knows of a step when it is over.
type RankStep struct {
	Rank         int       // from 0
	LossSums     []float64 // by micro-batch: the sum over valid targets, in nats
	Tokens       []int64   // by micro-batch, as the loop counts them
	LocalTokens  int64     // the sum of Tokens
	GlobalTokens int64     // as all-reduced by the loop; 0 where it does not
	GradNorm     float64   // before clipping; NaN without clipping
	ClipCoef     float64   // at most 1; NaN without clipping
	Factor       float64   // that losses or gradients are multiplied by; NaN where there is none
	ReducedLoss  float64   // the sum over all ranks as all-reduced by the loop; NaN where it is not
}

// mean returns the mean loss of a rank's tokens.
func (r RankStep) mean() float64 {
	sum := 0.0
	for _, l := range r.LossSums {
		sum += l
	}
	return sum / math.Max(1, float64(r.LocalTokens))
}

// StepResult is a step of all ranks.
type StepResult struct {
	Step         int        // from 0
	MicroBatches int        // of each rank
	Ranks        []RankStep // by rank
	Tokens       int64      // valid targets of all ranks and micro-batches
	Loss         float64    // the mean over Tokens, in nats; 0 without any
	Logged       float64    // what a loop of these options logs as its loss, on rank 0
}

// Why a run ended.
const (
	EndSteps  = "steps"  // all steps are done
	EndData   = "data"   // the data is used up
	EndCancel = "cancel" // the context was cancelled
)

// Result is what a run has done.
type Result struct {
	Steps    int           // finished by all ranks
	Tokens   int64         // valid targets of those steps
	End      string        // EndSteps, EndData or EndCancel
	Duration time.Duration // from the first step's begin to the end of the last rank, opening devices excluded
}
