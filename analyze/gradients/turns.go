package gradients

import (
	"slices"

	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace"
)

// forwardStarts returns the starts of forward operators, ascending: operators on the threads
// that drive training, outside backward, optimizer and framework. Threads that load data run
// operators at any time and would cut backward passes in two.
//
// Only outermost operators count. aten::linear calls aten::addmm and more, to a depth that
// differs by version and device; the outermost ones are the calls that the model makes, and
// a forward pass has about as many of them everywhere (see leastForward).
func forwardStarts(x *timeline.Rank) []int64 {
	const elsewhere = timeline.OptimizerStep | timeline.EvaluateFunction | timeline.AccumulateGrad |
		timeline.Framework | timeline.BackwardNode
	var starts []int64
	x.Each(x.DrivingThreads(), timeline.AtenOp|timeline.Compiled, func(row int32) {
		if parent := x.Col.Parent[row]; parent != trace.NoParent && x.Is(parent, timeline.AtenOp) {
			return
		}
		if !x.Inside(row, elsewhere) || inClosure(x, row, elsewhere) {
			starts = append(starts, x.Col.Start[row])
		}
	})
	slices.Sort(starts)
	return starts
}

// inClosure reports whether a row is inside a closure of an optimizer, and otherwise in no
// span of some classes.
func inClosure(x *timeline.Rank, row int32, elsewhere timeline.Class) bool {
	_, ok := x.ClosureAt(x.Col.Start[row])
	return ok && !x.Inside(row, elsewhere&^timeline.OptimizerStep)
}

// messageStarts returns the starts of what the training loop itself sends, receives and reduces,
// ascending, on the driving threads on which no backward pass runs. They are blocked during
// backward(), so that a message between two nodes says that it has returned: at the end of a
// step the stages of a pipeline run backward passes with nothing but messages between them.
func messageStarts(x *timeline.Rank) []int64 {
	const elsewhere = timeline.OptimizerStep | timeline.Framework
	threads := slices.DeleteFunc(x.DrivingThreads(), x.Autograd)
	var starts []int64
	x.Each(threads, timeline.CollectiveSpan, func(row int32) {
		if !x.Inside(row, elsewhere) {
			starts = append(starts, x.Col.Start[row])
		}
	})
	slices.Sort(starts)
	return starts
}
