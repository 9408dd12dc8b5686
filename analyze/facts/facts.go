package facts

import (
	"sort"

	"github.com/gaprof/gaprof/analyze/gradients"
	"github.com/gaprof/gaprof/analyze/idle"
	"github.com/gaprof/gaprof/analyze/memory"
	"github.com/gaprof/gaprof/analyze/steps"
	"github.com/gaprof/gaprof/analyze/work"
	"github.com/gaprof/gaprof/trace"
)

// Unknown counts are -1.
const Unknown = gradients.Unknown

// Rank is everything derived from the part of a trace that one rank wrote. It is a value
// without references into the trace, and nobody writes to it once Compute has returned it.
//
// Each embedded struct is the result of one function, whose parameters say what it needs of
// the others. They are embedded because rules read fields of all of them.
type Rank struct {
	Identity
	Activity
	Communication
	gradients.Gradients
	Updates
	Warmup
	Work       work.Work       // what its devices do between collectives; empty by ComputeAlone
	Steps      []Step          // in order of time; hides Gradients.Steps, which is part of it
	StepSource steps.Source    // what Steps were cut at
	Loaders    []string        // kinds of PyTorch's data loaders in the trace, sorted
	Loss       Loss            // how the loss is derived from the losses of tokens
	Memory     []memory.Device // by device; empty where memory was not recorded
	TokenNotes []TokenNote     // in order of time

	BufferWaits []BufferWait    // of backward passes for reduce-scatters, by From
	Problems    []trace.Problem // of the trace, then of the rank
}

// Step is one optimizer step of a rank: its windows and what its gradients show.
type Step struct {
	steps.Step
	PerOptimizer []gradients.OptimizerStep // in the order of Optimizers
	MicroBatches int                       // forward passes, or Unknown
	Backwards    []gradients.Backward      // those that begin in the host window
	Gaps         gradients.Gaps            // between those
	Idle         []idle.Window             // why the device does nothing, in the order of Windows

	// LastBackward is, in the order of Windows, when the device computes for the last backward
	// pass of the step: from the first start to the last end of the compute kernels launched
	// while that pass is open on the host. Empty where there are none, or no collectives.
	LastBackward []steps.Interval
}

// MemoryWindows are the steps as package memory sees them.
func (r *Rank) MemoryWindows() []memory.Window {
	list := make([]memory.Window, len(r.Steps))
	for i := range r.Steps {
		s := &r.Steps[i]
		list[i] = memory.Window{Start: s.HostStart, End: s.HostEnd, Backwards: s.Backwards}
		if r.StepSource == steps.FromOptimizer {
			list[i].Update = s.Update
		}
	}
	return list
}

// StepAt returns the index of the step whose host window holds instant t (ns on the host's
// clock), -1 after the last update. Whatever precedes the first update belongs to the first
// step. It is [steps.Steps.At] for facts that were read back.
func (r *Rank) StepAt(t int64) int {
	i := sort.Search(len(r.Steps), func(i int) bool { return r.Steps[i].HostEnd > t })
	if i == len(r.Steps) {
		return -1
	}
	return i
}

// holds reports whether the host window of a step holds instant t. Step -1 holds none.
func (r *Rank) holds(step int, t int64) bool {
	return step >= 0 && step < len(r.Steps) && t < r.Steps[step].HostEnd &&
		(step == 0 || t >= r.Steps[step-1].HostEnd)
}
