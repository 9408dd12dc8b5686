package gradients

import (
	"strings"

	"github.com/gaprof/gaprof/analyze/steps"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace"
)

// mayClear is the share of the parameters that has to be written to before their gradients may have
// been cleared: a loop that clears gradients clears them all, while a single tensor with the
// shape of a small parameter may be anything.
const mayClear = 0.25

// written reports, by step, whether tensors with the shapes of parameters are filled,
// multiplied or overwritten between the start of the update before and the first
// accumulation of the step, other than by DDP or FSDP: then the gradients that backward
// adds to may have been cleared, in whatever way. ops are the gradient operations.
func written(x *timeline.Rank, list []steps.Step, own []Step, c *shapeCounts, ops []operation) []bool {
	all := make([]bool, len(list))
	begun := begun{x: x, span: trace.NoParent}
	for i := 1; i < len(list); i++ {
		if len(own[i].Backwards) == 0 {
			continue
		}
		tensors := 0
		for k := from(ops, list[i-1].Update.Start); k < len(ops) && ops[k].start < own[i].Backwards[0].First; k++ {
			if t := &ops[k]; t.writes() && c.any(t.shapes()) && !begun.own(t) && !ofNew(x, t.row) && !ofFSDP(x, t) {
				tensors += c.parameters(t.shapes())
			}
		}
		all[i] = tensors > 0 && float64(tensors) >= mayClear*float64(c.count)
	}
	return all
}

// begun knows of the optimizer span that it was asked about last from where on it updates.
type begun struct {
	x     *timeline.Rank
	span  int32 // row
	first int32 // row of its first operator that updates; after its last row without one
}

// own reports whether an operation inside an optimizer's span is its own work. What it fills
// with zeros before it updates anything is state that it begins with.
func (b *begun) own(t *operation) bool {
	within := int32(trace.NoParent)
	b.x.Stack(t.row, func(span int32) bool {
		if b.x.Is(span, timeline.OptimizerStep) {
			within = span
		}
		return within == trace.NoParent
	})
	if within == trace.NoParent {
		return false
	}
	if within != b.span {
		b.enter(within)
	}
	return t.family != zeroFill || t.row < b.first
}

// enter finds the first operator that updates in an optimizer's span.
func (b *begun) enter(span int32) {
	end, trackEnd := b.x.End(span), b.x.TrackEnd(span)
	b.span, b.first = span, span+1
	for b.first < trackEnd && b.x.Col.Start[b.first] < end && !updates(b.x.Name(b.first)) {
		b.first++
	}
}

// ofNew reports whether a row fills a tensor that the operator around it makes, such as
// aten::zeros_like.
func ofNew(x *timeline.Rank, row int32) bool {
	parent := x.Col.Parent[row]
	return parent != trace.NoParent && x.Is(parent, timeline.AtenOp) && !strings.HasSuffix(x.Name(parent), "_")
}

// ofFSDP reports whether an operation copies parameters that FSDP gathers: into the message, or out of it.
func ofFSDP(x *timeline.Rank, t *operation) bool {
	if t.family != copyInto {
		return false
	}
	found := false
	x.Stack(t.row, func(span int32) bool {
		found = found || x.Is(span, timeline.FSDP2)
		return !found
	})
	return found
}

// writes reports whether an operation changes the tensors that it touches in place.
func (t *operation) writes() bool {
	switch t.family {
	case zeroFill, copyInto, multiply, fill:
		return !t.framework
	}
	return false
}

// parameters is of how many parameters some shapes may be.
func (c *shapeCounts) parameters(shapes [][]int64) int {
	n := 0
	for _, s := range shapes {
		switch {
		case len(s) == 1 && s[0] == c.whole:
			n += c.count
		case c.most[shapeKey(s)] > 0 || len(s) == 1 && c.flat[s[0]]:
			n++
		}
	}
	return n
}

// any reports whether one of some shapes is that of a gradient, or of a flat view of it.
func (c *shapeCounts) any(shapes [][]int64) bool {
	for _, s := range shapes {
		if c.most[shapeKey(s)] > 0 || len(s) == 1 && c.flat[s[0]] {
			return true
		}
	}
	return false
}
