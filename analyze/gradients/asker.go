package gradients

import (
	"strings"

	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace"
)

// asker is what asks for a collective, as far as the spans around it show.
type asker int

// The askers.
const (
	loopAsks   asker = iota // the training loop, compiled code, or what no span tells
	hookAsks                // a hook where a gradient is accumulated, or a span of DDP and FSDP that reduces gradients
	nodeAsks                // a hook at some other autograd node: of an activation, or of a model's part
	modelAsks               // the model: its forward pass, an autograd.Function of its own, an operator on DTensors
	parentAsks              // the span says nothing, the one around it may
)

// askerOf finds what asks for a collective. The innermost span that tells decides, except
// that an autograd node around others of the model decides for them, as that of a
// checkpoint does.
func askerOf(x *timeline.Rank, row int32) asker {
	found := loopAsks
	x.Stack(row, func(span int32) bool {
		switch a := askerIn(x, span); a {
		case parentAsks:
			return true
		case nodeAsks, modelAsks:
			found = a
			return x.Class(span)&timeline.EvaluateFunction != 0
		default:
			found = a
			return false
		}
	})
	return found
}

// askerIn is what a span around a collective says. Nodes of a program's own functions are
// called XBackward, those of operators XBackward0: what stands in evaluate_function of the
// latter, but outside of the node proper, is asked for by a hook. FSDP reduces gradients in a node
// of its own, and compiled code may do so in its.
func askerIn(x *timeline.Rank, span int32) asker {
	class := x.Class(span)
	switch {
	case class&(timeline.AccumulateGrad|timeline.Reducer) != 0:
		return hookAsks
	case class&timeline.Framework != 0:
		if strings.Contains(x.Name(span), "forward") {
			return modelAsks
		}
		return hookAsks
	case class&timeline.Compiled != 0:
		return loopAsks
	case class&(timeline.EvaluateFunction|timeline.BackwardNode) != 0:
		return askerInNode(x.Name(span), class)
	case class&timeline.AtenOp != 0:
		return modelAsks
	}
	return parentAsks
}

// askerInNode is askerIn for an autograd node and the evaluate_function span around one.
func askerInNode(name string, class timeline.Class) asker {
	switch own := strings.HasSuffix(name, "Backward"); {
	case strings.Contains(name, "PostBackward"):
		return hookAsks
	case own, class&timeline.EvaluateFunction == 0:
		return modelAsks
	}
	return nodeAsks
}

// averagesParameters reports whether a collective inside an optimizer's span comes after the
// update, as when the ranks of local SGD average their parameters: operators that update
// precede it in the span, and none follows.
func averagesParameters(x *timeline.Rank, row int32) bool {
	within := int32(trace.NoParent)
	x.Stack(row, func(span int32) bool {
		if x.Is(span, timeline.OptimizerStep) {
			within = span
		}
		return within == trace.NoParent
	})
	if within == trace.NoParent {
		return false
	}
	before := false
	end, trackEnd := x.End(within), x.TrackEnd(within)
	for i := within + 1; i < trackEnd && x.Col.Start[i] < end; i++ {
		switch {
		case !updates(x.Name(i)):
		case i > row:
			return false
		default:
			before = true
		}
	}
	return before
}

// updates reports whether an operator is one with which optimizers change parameters and
// their state.
func updates(name string) bool {
	name, ok := strings.CutPrefix(name, "aten::")
	if !ok {
		return false
	}
	for _, word := range []string{"addcdiv", "addcmul", "lerp", "_fused_", "_foreach_add_"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return name == "add_"
}
