package facts

import (
	"fmt"
	"sort"
	"strings"

	"github.com/gaprof/gaprof/analyze/gradients"
	"github.com/gaprof/gaprof/analyze/idle"
	"github.com/gaprof/gaprof/analyze/memory"
	"github.com/gaprof/gaprof/analyze/steps"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/analyze/work"
	"github.com/gaprof/gaprof/internal/parallel"
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
	Work       work.Work       // what its devices do between collectives
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
	Idle         []idle.Window             // why the device does nothing, in the order of Windows

	// LastBackward is, in the order of Windows, when the device computes for the last backward
	// pass of the step: from the first start to the last end of the compute kernels launched
	// while that pass is open on the host. Empty where there are none, or no collectives.
	LastBackward []steps.Interval
}

// Compute derives the facts of every rank of an index, in the order of its Ranks. Problems
// of the trace as a whole are listed with the first rank only.
func Compute(x *timeline.Index) []*Rank {
	var ranks []*Rank
	for _, r := range x.Ranks {
		ranks = append(ranks, rankOf(r))
	}
	if len(ranks) > 0 {
		first := ranks[0]
		first.Problems = append(wholeTrace(x), first.Problems...)
	}
	texts := make(map[string]string)
	for _, r := range ranks {
		r.texts(func(text *string) { *text = own(texts, *text) })
	}
	return ranks
}

// wholeTrace lists the problems of a trace that belong to no single rank. Whether a stack was
// too deep is known only now, after all ranks have been computed.
func wholeTrace(x *timeline.Index) []trace.Problem {
	list := append([]trace.Problem(nil), x.Problems...)
	if x.TooDeep() {
		const detail = "more than %d spans around one event, of which the outermost were not looked at"
		list = append(list, problem(trace.DeepNesting, 1, fmt.Sprintf(detail, timeline.Deepest)))
	}
	return list
}

// problem is a problem of no particular place in the file.
func problem(code trace.Code, n int, detail string) trace.Problem {
	return trace.Problem{Code: code, Count: int64(n), Offset: -1, Detail: detail}
}

// rankOf derives the facts of one rank. What is independent runs at the same time: steps and
// backward passes, then the device's side of communication and the gradients.
func rankOf(x *timeline.Rank) *Rank {
	r := &Rank{}
	var s *steps.Steps
	var backwards gradients.Backwards
	parallel.Both(func() {
		r.Identity, r.Activity = identify(x), activityOf(x)
		s = steps.Find(x)
	}, func() { backwards = gradients.FindBackwards(x) })
	var g *gradients.Gradients
	var records, rows []int32
	var idles [][]idle.Window
	parallel.Both(func() {
		r.Communication, records = communicate(x, s)
		r.Warmup, r.TokenNotes = warmupOf(x, s), tokenNotes(x, s)
		idles, r.Work = work.Find(x, s, r.Communication.onDevices())
	}, func() {
		g, rows = gradients.Compute(x, s, backwards, r.WorldSize)
	})
	joinHost(r.Collectives, records, rows)
	r.Gradients, r.Steps, r.StepSource = *g, stepsOf(s, g, idles), s.Source
	r.hideSync()
	parallel.Both(func() {
		r.Updates = updatesOf(x, s, g)
		r.Problems = problemsOf(x, r)
	}, func() {
		placeCollectives(x, r)
		r.Loss, r.Loaders = lossOf(x, g.Backwards), idle.Loaders(x.Trace)
		r.Memory = memory.Find(x, r.MemoryWindows())
	})
	return r
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

// stepsOf combines the windows of each step with what its gradients show. The kind of the
// latter, which knows accumulation, replaces that by optimizers alone.
func stepsOf(s *steps.Steps, g *gradients.Gradients, idles [][]idle.Window) []Step {
	var list []Step
	for i, one := range s.List {
		of := &g.Steps[i]
		one.Kind = of.Kind
		list = append(list, Step{one, of.PerOptimizer, of.MicroBatches, of.Backwards, idles[i], nil})
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

// own returns a copy of a text that keeps no larger one in memory. texts holds the copies
// made so far: equal texts share one.
func own(texts map[string]string, text string) string {
	copied, ok := texts[text]
	if !ok {
		copied = strings.Clone(text)
		texts[copied] = copied
	}
	return copied
}
