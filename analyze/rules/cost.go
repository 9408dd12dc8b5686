package rules

import (
	"fmt"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/internal/units"
)

// perStep is "1.75 ms/step (2.9 % of 61.0 ms)".
func perStep(cost, step int64) string {
	return fmt.Sprintf("%s/step (%.1f %% of %.1f ms)", units.Milliseconds(cost), 100*float64(cost)/float64(step),
		units.MS(step))
}

// inFew is ", all of it in 1 of 8 steps" where a cost lies in few of the steps that it is a mean
// over, as that of a checkpoint does; "" where it does not.
func inFew(cost *analyze.Cost, ranks []*analyze.Rank) string {
	few, of, on, whole := cost.Few(ranks)
	if few == 0 {
		return ""
	}
	text := ", nearly all of it"
	if whole {
		text = ", all of it"
	}
	text += fmt.Sprintf(" in %d of %d steps", few, of)
	if on > 1 {
		text += fmt.Sprintf(" of %d ranks", on)
	}
	return text
}
