package render

import (
	"cmp"
	"math"
	"slices"

	"github.com/gaprof/gaprof/analyze/normalization"
)

// worstShown is how many tensors are listed.
const worstShown = 5

// worstTensors returns those with the greatest error; an unknown error counts as the worst.
func worstTensors(list []normalization.TensorDeviation) []normalization.TensorDeviation {
	list = slices.Clone(list)
	value := func(v *float64) float64 {
		if v == nil {
			return math.Inf(1)
		}
		return *v
	}
	slices.SortStableFunc(list, func(a, b normalization.TensorDeviation) int {
		return cmp.Compare(value(b.MaxRel), value(a.MaxRel))
	})
	return list[:min(worstShown, len(list))]
}
