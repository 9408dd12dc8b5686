package rules

import (
	"fmt"

	"github.com/gaprof/gaprof/internal/units"
)

// perStep is "1.75 ms/step (2.9 % of 61.0 ms)".
func perStep(cost, step int64) string {
	return fmt.Sprintf("%s/step (%.1f %% of %.1f ms)", units.Milliseconds(cost), 100*float64(cost)/float64(step),
		units.MS(step))
}
