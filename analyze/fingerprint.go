package analyze

import (
	"fmt"
	"hash/fnv"
	"slices"

	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/analyze/report"
)

// fingerprintOf reads the fingerprint off one rank; all ranks of a run train the same.
func fingerprintOf(r *facts.Rank) report.Fingerprint {
	f := report.Fingerprint{Model: "unknown", Accumulation: []int{}}
	if len(r.Steps) == 0 || !r.Params.Known() {
		return f
	}
	var lines []string
	for _, c := range r.Params.Classes {
		lines = append(lines, fmt.Sprintf("parameter %v %s %d", c.Dims, c.Dtype, c.Count))
	}
	for _, o := range r.Optimizers {
		lines = append(lines, "optimizer "+o.Name)
		f.Accumulation = append(f.Accumulation, lastAccumulation(r, o.Name))
	}
	slices.Sort(lines)
	h := fnv.New64a()
	for _, line := range lines {
		fmt.Fprintln(h, line)
	}
	f.Model = fmt.Sprintf("%016x", h.Sum64())
	return f
}

// lastAccumulation is the last known accumulation steps of an optimizer.
func lastAccumulation(r *facts.Rank, name string) int {
	last := facts.Unknown
	for i := range r.Steps {
		for _, o := range r.Steps[i].PerOptimizer {
			if o.Name == name && o.Accumulation != facts.Unknown {
				last = o.Accumulation
			}
		}
	}
	return last
}
