package memory

import (
	"sort"

	"github.com/gaprof/gaprof/analyze/gradients"
	"github.com/gaprof/gaprof/analyze/steps"
)

// Phase is the part of a step in which something happens on the host.
type Phase string

// The phases of a step, in their order.
const (
	Forward       Phase = "forward"        // before the end of the last backward pass, and in none
	Backward      Phase = "backward"       // in a backward pass
	AfterBackward Phase = "after_backward" // between the last backward pass and the update
	Optimizer     Phase = "optimizer"      // the update
	Unknown       Phase = "unknown"        // what happens cannot be said
)

// Window is a step of the host as far as its memory is concerned. The windows of a rank
// follow one another. Whatever precedes the first belongs to it.
type Window struct {
	Start, End int64                // ns
	Update     steps.Interval       // where the optimizer runs; both 0 where that is unknown
	Backwards  []gradients.Backward // those that begin in the window, in order of start
}

// pass is the index of the backward pass that is under way at instant t, -1 for none.
func (w *Window) pass(t int64) int {
	i := sort.Search(len(w.Backwards), func(i int) bool { return w.Backwards[i].Start > t }) - 1
	if i >= 0 && t < w.Backwards[i].End {
		return i
	}
	return -1
}

// phase is the part of the step that instant t lies in, which must be in the window.
func (w *Window) phase(t int64) Phase {
	updates := w.Update.End > w.Update.Start
	switch n := len(w.Backwards); {
	case w.pass(t) >= 0:
		return Backward
	case updates && t >= w.Update.Start:
		return Optimizer
	case n == 0:
		return Unknown
	case t < w.Backwards[n-1].End:
		return Forward
	case updates:
		return AfterBackward
	}
	return Unknown
}

// bounds are the instants at which one phase of the window may give way to another,
// ascending, its start and its end among them.
func (w *Window) bounds() []int64 {
	list := []int64{w.Start, w.End}
	for _, b := range w.Backwards {
		list = append(list, b.Start, b.End)
	}
	if w.Update.End > w.Update.Start {
		list = append(list, w.Update.Start)
	}
	sort.Slice(list, func(i, j int) bool { return list[i] < list[j] })
	return list
}
