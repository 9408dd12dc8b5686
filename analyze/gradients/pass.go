package gradients

import (
	"github.com/gaprof/gaprof/analyze/timeline"
)

// PassKind is what a pass over the gradients does.
type PassKind string

// The kinds of gradient passes.
const (
	ScalePass   PassKind = "scale"
	ClipPass    PassKind = "clip"
	UnscalePass PassKind = "unscale" // GradScaler
	DividePass  PassKind = "divide"  // by DDP or FSDP, before or after the reduction
	CopyPass    PassKind = "copy"
	CastPass    PassKind = "cast"
	ZeroPass    PassKind = "zero"
	NormPass    PassKind = "norm" // reads only; the first half of clipping
)

// Place is where in a step a pass over the gradients stands.
type Place string

// The places of gradient passes.
const (
	InBackward          Place = "in_backward"
	BetweenMicroBatches Place = "between_micro_batches"
	AfterBackward       Place = "after_backward"
	InOptimizer         Place = "in_optimizer"
	AfterOptimizer      Place = "after_optimizer"
)

// Pass is a run of operators that touches the gradients of at least 90 % of
// one optimizer's parameter bytes. Times are of the device where there is one, else
// of the host, in ns.
type Pass struct {
	Step       int
	Kind       PassKind
	Place      Place
	Optimizer  string // empty where one optimizer cannot be told
	Parameters int    // tensors touched
	Launches   int    // calls: one foreach call is one
	Bytes      int64  // read and written, by shapes
	Busy       int64
	Span       int64 // from the first start to the last end
	OtherIn    int64 // compute of others inside the span
	OnDevice   bool
	Tensor     bool           // the factor is a tensor, not a number of the program
	Doubtful   bool           // the factor is a number that the trace does not hold: weights may decay so, too
	Kernels    int            // device events launched
	First      timeline.Event // the first kernel, else the first operator
	HostStart  int64
	HostEnd    int64
}
