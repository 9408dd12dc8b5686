package gradients

import (
	"github.com/gaprof/gaprof/analyze/steps"
	"github.com/gaprof/gaprof/analyze/timeline"
)

// written reports, by step, whether a tensor with the shape of a parameter is filled,
// multiplied or overwritten between the start of the update before and the first
// accumulation of the step, other than by DDP or FSDP: then the gradients that backward
// adds to may have been cleared, in whatever way. ops are the gradient operations.
func written(x *timeline.Rank, list []steps.Step, own []Step, c *shapeCounts, ops []operation) []bool {
	all := make([]bool, len(list))
	for i := 1; i < len(list); i++ {
		if len(own[i].Backwards) == 0 {
			continue
		}
		for k := from(ops, list[i-1].Update.Start); k < len(ops) && ops[k].start < own[i].Backwards[0].First; k++ {
			t := &ops[k]
			inUpdate := x.Inside(t.row, timeline.OptimizerStep) && t.family != zeroFill
			if !inUpdate && t.writes() && c.any(t.shapes()) {
				all[i] = true
				break
			}
		}
	}
	return all
}

// writes reports whether an operation changes the tensors that it touches in place.
func (t *operation) writes() bool {
	switch t.family {
	case zeroFill, copyInto, multiply, fill:
		return !t.framework
	}
	return false
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
