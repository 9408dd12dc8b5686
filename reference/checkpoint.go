package reference

import "github.com/gaprof/gaprof/reference/optim"

// Checkpoint is what one rank needs, beside the options and the data, to go on after a step as if
// the run had never ended.
type Checkpoint struct {
	Rank    int
	Steps   int                   // that are done
	Weights []Tensor              // whole parameters, in the order of the model; the same on all ranks
	Moments map[string]optim.Kept // by parameter, or of this rank's shard of it
}

// Resume is where a run goes on; the Weights of the options are those of the checkpoints.
type Resume struct {
	Steps   int                     // that are done
	Moments []map[string]optim.Kept // by rank
}

// first is the first step of a run.
func (r *Resume) first() int {
	if r == nil {
		return 0
	}
	return r.Steps
}

// Tensor is a parameter, or the gradient of one, on the host.
type Tensor struct {
	Name   string
	Shape  []int
	Values []float64 // row-major
}
