package gradients

import (
	"github.com/gaprof/gaprof/analyze/timeline"
)

// PassKind is what a gradient pass does. Reports print its text.
type PassKind string

// The kinds of gradient passes.
const (
	ScalePass   PassKind = "scale"   // multiplies by a number of the program
	ClipPass    PassKind = "clip"    // multiplies by what a norm calls for, or limits each element
	UnscalePass PassKind = "unscale" // by GradScaler
	DividePass  PassKind = "divide"  // by DDP or FSDP, before or after the reduction
	CopyPass    PassKind = "copy"    // by DDP or FSDP, between gradients and buffers
	CastPass    PassKind = "cast"    // to another dtype
	ZeroPass    PassKind = "zero"    // clears
	NormPass    PassKind = "norm"    // reads only; the first half of clipping
)

// Place is the part of a step in which a gradient pass runs. Reports print its text.
type Place string

// The places of gradient passes.
const (
	InBackward          Place = "in_backward"           // during a backward pass, or by a hook after it
	BetweenMicroBatches Place = "between_micro_batches" // between two backward passes
	AfterBackward       Place = "after_backward"        // between the last backward pass and the update
	InOptimizer         Place = "in_optimizer"          // inside an optimizer span
	AfterOptimizer      Place = "after_optimizer"       // after the update
)

// Pass is a gradient pass: a run of operators that touches at least 90 % of the gradients of
// one optimizer's parameters. Busy, Span and OtherIn are times of the device if the pass
// launched work there, else of the host.
type Pass struct {
	Factor
	Step          int            // index of the step
	Kind          PassKind       // what it does
	Place         Place          // where in the step
	Optimizer     string         // whose gradients; "" if several optimizers' or unclear
	Parameters    int            // tensors that it touches
	Launches      int            // operators; one foreach call is one
	Bytes         int64          // read and written on this rank, by shapes
	Busy          int64          // ns: union of its kernels, or operators
	Span          int64          // ns: from the first start to the last end
	OtherIn       int64          // ns: compute kernels of others inside the span, 0 on the host
	OnDevice      bool           // it launched work on a device
	Kernels       int            // device events that it launched
	First         timeline.Event // its first kernel, else its first operator
	HostStart     int64          // ns: start of its first operator
	HostEnd       int64          // ns: end of its last operator
	BeforeScatter bool           // each tensor is reduce-scattered whole, or a flat one all-reduced, right after it
	Hidden        int64          // ns of Busy beside compute kernels of others; only known if BeforeScatter, else 0
	ByValue       bool           // it limits each element by itself; only of a ClipPass
	Rounds        Rounds         // what is done for each norm by itself; only of a NormPass
}

// Factor is what is known of the number by which a pass multiplies.
type Factor struct {
	Tensor   bool // it is a tensor rather than a number of the program
	Doubtful bool // nothing says that it comes from a count; of scale passes after backward
	Decay    bool // it may as well be that of weight decay; then it is doubtful, too
	One      bool // it was recorded and is one
}

// Rounds is what a loop does for each of the norms of a NormPass by itself, where doing it
// once for all of them gives the same norm. The zero value is none of it.
type Rounds struct {
	Collectives []int32 // indexes of HostCollectives: all-reduces of one number, one per gradient
	Reads       int     // numbers that the host reads from a device, one per gradient; 0 without a device
	Wait        int64   // ns of idle device from the first norm to the last of these; else of host time between norms
}
