package reference

import (
	"context"
	"fmt"
	"slices"

	"github.com/gaprof/gaprof/oracle"
	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/reference/model"
	"github.com/gaprof/gaprof/reference/ops"
)

// OracleRun selects a loop of the oracle: a variant, optionally with changes.
type OracleRun struct {
	Variant string   // one of Variants
	DType   string   // float32 or float64
	Steps   int      // all on the same data; 0 means 1
	Change  []Change // applied on top of the variant's settings
}

// Change sets one option, as Options.Set does.
type Change struct {
	Option string // its Field.Name
	Value  string
}

// OracleResult is the outcome of a loop of the oracle.
type OracleResult struct {
	Options   Options      // as passed to Run
	Steps     []StepResult // in order
	Gradients [][][]Tensor // by step, rank and parameter, before clipping
	Weights   [][]Tensor   // by rank, after the last step
}

// RunOracle runs one loop literally on the inputs of an oracle, with its ranks,
// micro-batches and weights.
func RunOracle(ctx context.Context, in *oracle.Inputs, run OracleRun, b device.Backend) (*OracleResult, error) {
	v, ok := findVariant(run.Variant)
	if !ok {
		return nil, fmt.Errorf("the trainer has no loop %q", run.Variant)
	}
	o, err := oracleOptions(in, run)
	if err != nil {
		return nil, err
	}
	if err := o.apply(v, run.Change); err != nil {
		return nil, err
	}
	data, err := oracleData(in, v.first, o.MaxSteps)
	if err != nil {
		return nil, err
	}
	result := &OracleResult{Options: o, Weights: make([][]Tensor, o.WorldSize)}
	for range o.MaxSteps {
		result.Gradients = append(result.Gradients, make([][]Tensor, o.WorldSize))
	}
	_, err = Run(ctx, o, b, data, Callbacks{
		Step:      func(s StepResult) { result.Steps = append(result.Steps, s) },
		Gradients: func(rank, step int, list []Tensor) { result.Gradients[step][rank] = list },
		Weights:   func(rank int, list []Tensor) { result.Weights[rank] = list },
	})
	return result, err
}

// apply applies the settings of a variant, then changes.
func (o *Options) apply(v variant, changes []Change) error {
	for _, s := range v.settings {
		if err := o.Set(s.name, s.value); err != nil {
			return err
		}
	}
	for _, c := range changes {
		if err := o.Set(c.Option, c.Value); err != nil {
			return err
		}
	}
	if v.first {
		o.GlobalBatchSize = -1
	}
	return nil
}

// oracleOptions returns the options that the inputs determine.
func oracleOptions(in *oracle.Inputs, run OracleRun) (Options, error) {
	o := Defaults()
	c := in.Config
	o.Shape = model.Shape{Width: c.D, Hidden: c.F, SequenceLength: c.T, Vocabulary: c.V, NormEpsilon: c.LNEps}
	switch in.Model {
	case "mlp":
		o.Model, o.Heads, o.Layers = "mlp", 1, 1
	case "transformer":
		o.Model, o.Heads, o.Layers = "gpt", c.H, c.L
	default:
		return o, fmt.Errorf("the trainer has no model %q", in.Model)
	}
	if c.Gelu != "" && c.Gelu != "tanh" || c.TiedHead || c.IgnoreIndex != ops.IgnoreIndex {
		return o, fmt.Errorf("the trainer has no model with gelu %q, tied head %v, ignore index %d",
			c.Gelu, c.TiedHead, c.IgnoreIndex)
	}
	o.Batching = Batching{WorldSize: in.WorldSize, LocalBatchSize: c.B,
		GlobalBatchSize: c.B * in.WorldSize * in.Accumulation, MaxSteps: max(1, run.Steps)}
	o.DType = run.DType
	o.Weights = make(map[string][]float64, len(in.Weights))
	for name, values := range in.Weights {
		o.Weights[name] = values
	}
	return o, nil
}

// oracleData repeats the micro-batches of one step, or only the first of them, for all
// steps.
func oracleData(in *oracle.Inputs, first bool, steps int) (Data, error) {
	data := Batches{Words: in.Config.V}
	if len(in.Data) != in.WorldSize {
		return nil, fmt.Errorf("the oracle has data of %d ranks, a world of %d", len(in.Data), in.WorldSize)
	}
	for rank, micros := range in.Data {
		if len(micros) != in.Accumulation || len(micros) == 0 {
			return nil, fmt.Errorf("the oracle has %d micro-batches of rank %d, an accumulation of %d",
				len(micros), rank, in.Accumulation)
		}
		if first {
			micros = micros[:1]
		}
		var list []Batch
		for _, m := range micros {
			list = append(list, Batch{Tokens: flat(m.Tokens), Labels: flat(m.Labels), Targets: flat(m.Targets)})
		}
		data.Ranks = append(data.Ranks, slices.Repeat(list, steps))
	}
	return data, nil
}

func flat(rows [][]int) []int64 {
	var list []int64
	for _, row := range rows {
		for _, v := range row {
			list = append(list, int64(v))
		}
	}
	return list
}
