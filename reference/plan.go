package reference

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gaprof/gaprof/reference/device"
)

// plan is the options resolved: everything the loop consults while it runs. Options.plan
// makes it once; all ranks share it and none of them writes to it.
type plan struct {
	Options                // with the settings of the plant applied and defaults filled in
	accumulation int       // micro-batches per step and rank
	counts       [][]int   // valid tokens by rank and micro-batch; nil if the data decides
	times        []int     // factor of rows by rank; nil if all have as many
	slow         []float64 // slowdown of kernels by rank; nil if no rank is slow
	loading      delays    // of micro-batches
	launching    delays    // of kernels
	pausing      delays    // of the host, after a step
	bug          bug
	dtype        device.DType
}

// Accumulation returns the number of micro-batches per step and rank, or the
// *OptionError that Validate would return.
func (o Options) Accumulation() (int, error) {
	p, err := o.plan()
	return p.accumulation, err
}

// Validate returns an *OptionError if the options cannot be run.
func (o Options) Validate() error {
	_, err := o.plan()
	return err
}

// Effective returns the options with the settings of the plant applied and defaults
// filled in.
func (o Options) Effective() (Options, error) {
	p, err := o.plan()
	return p.Options, err
}

func (o Options) plan() (plan, error) {
	for _, f := range o.Fields() {
		if err := f.check(); err != nil {
			return plan{}, err
		}
	}
	o, bug, err := o.planted()
	if err != nil {
		return plan{}, err
	}
	o.Shape = o.Shape.Filled()
	o.LocalBatchSize = cmp.Or(o.LocalBatchSize, o.Rows())
	p := plan{Options: o, bug: bug}
	// The order matters: each relies on what earlier ones have rejected or filled in.
	resolve := []func(*plan) error{(*plan).target, (*plan).ranges, (*plan).batches, (*plan).fill, (*plan).memory,
		(*plan).refuse}
	for _, f := range resolve {
		if err := f(&p); err != nil {
			return plan{}, err
		}
	}
	return p, nil
}

// dtypes are the values of the option.
var dtypes = map[string]device.DType{"": device.F32, "float32": device.F32, "float64": device.F64,
	"bfloat16": device.BF16}

// target rejects a precision that the backend does not have.
func (p *plan) target() error {
	if p.Target.Name == "" {
		p.Target = device.Plain()
	}
	p.dtype = dtypes[p.DType]
	if slices.Contains(p.Target.Types, p.dtype) {
		return nil
	}
	var names []string
	for _, name := range []string{"float32", "float64", "bfloat16"} {
		if slices.Contains(p.Target.Types, dtypes[name]) {
			names = append(names, name)
		}
	}
	return &OptionError{"dtype", fmt.Sprintf("a %s does not compute in %s", p.Target.Name, p.DType),
		"take " + strings.Join(names, " or ") + ", or another `device`"}
}

// between is a number and its range, both ends included.
type between struct {
	option          string
	value, from, to float64
}

// ranges rejects numbers that make no sense.
func (p *plan) ranges() error {
	belowOne := math.Nextafter(1, 0)
	for _, r := range []between{
		{"layers", float64(p.Layers), 1, 1000},
		{"width", float64(p.Width), 1, 1 << 16},
		{"heads", float64(p.Heads), 1, 1 << 12},
		{"kv-heads", float64(p.KVHeads), 1, 1 << 12},
		{"hidden", float64(p.Hidden), 1, 1 << 18},
		{"sequence-length", float64(p.SequenceLength), 2, 1 << 20},
		{"vocabulary", float64(p.Vocabulary), 0, 1 << 24},
		{"world-size", float64(p.WorldSize), 1, 1024},
		{"local-batch-size", float64(p.LocalBatchSize), 1, 1 << 20},
		{"max-steps", float64(p.MaxSteps), 1, 1 << 30},
		{"bucket-bytes", float64(p.BucketBytes), 0, 1 << 40},
		{"lr", p.LearningRate, 0, 1e6},
		{"beta1", p.Beta1, 0, belowOne},
		{"beta2", p.Beta2, 0, belowOne},
		{"eps", p.Epsilon, 0, 1},
		{"momentum", p.Momentum, 0, belowOne},
		{"weight-decay", p.WeightDecay, 0, 1e6},
		{"adam-every", float64(p.AdamEvery), 1, 1 << 20},
		{"clip-grad-norm", p.ClipGradNorm, 0, math.MaxFloat64},
		{"replicas", float64(p.Replicas), 1, 1024},
	} {
		if !(r.value >= r.from && r.value <= r.to) { // NaN is in no range
			return &OptionError{r.option, plain(r.value) + " is out of range",
				"take " + plain(r.from) + " to " + plain(r.to)}
		}
	}
	if err := p.sizes(); err != nil {
		return err
	}
	var err error
	if p.slow, err = parseStraggler(p.Straggler, p.WorldSize); err != nil {
		return err
	}
	if p.times, err = parseMoreRows(p.MoreRows, p.WorldSize); err != nil {
		return err
	}
	return parseAllDelays(p)
}

// plain is a number as it is given: a whole one in digits.
func plain(x float64) string {
	if x == math.Trunc(x) && math.Abs(x) < 1e15 {
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

// sizes rejects a network whose parts do not fit each other.
func (p *plan) sizes() error {
	llama := p.Family() == "llama"
	switch {
	case p.Family() != "mlp" && p.Width%p.Heads != 0:
		reason := fmt.Sprintf("%d heads do not divide a width of %d", p.Heads, p.Width)
		return &OptionError{"heads", reason, "take a divisor"}
	case p.KVHeads != p.Heads && !llama:
		return &OptionError{"kv-heads", "queries of a " + p.Model + " have keys of their own", "leave it out"}
	case p.FusedSwiGLU && !llama:
		return &OptionError{"fused-swiglu", "the MLP of a " + p.Model + " has no gate", "leave it out, or take a llama"}
	case p.Heads%p.KVHeads != 0:
		reason := fmt.Sprintf("%d heads of keys cannot be shared by %d of queries", p.KVHeads, p.Heads)
		return &OptionError{"kv-heads", reason, "take a divisor of `heads`"}
	case llama && p.Width/p.Heads%2 != 0:
		reason := fmt.Sprintf("heads of %d elements cannot be turned in pairs", p.Width/p.Heads)
		return &OptionError{"heads", reason, "take heads of an even number"}
	case p.Context > 0 && p.SequenceLength > p.Context:
		reason := fmt.Sprintf("%s knows %d positions, not %d", p.Model, p.Context, p.SequenceLength)
		return &OptionError{"sequence-length", reason, "take no more"}
	}
	return nil
}

// fill supplies defaults that depend on other choices.
func (p *plan) fill() error {
	if p.GradSync == "reduce-then-accumulate" && p.ReduceScatter == "" && !p.Full() {
		p.ReduceScatter = "hook"
	}
	if p.Full() && p.everyMicroBatch() {
		p.GradSync = "reduce-then-accumulate" // its gradients are those of shards
	}
	if p.AllReduce == "" {
		p.AllReduce = "hook"
	}
	if p.Scale == "" {
		p.Scale = "loss"
	}
	return nil
}

// memory rejects models that would not fit into the memory of the host, where tensors are
// there: a typo in an option should be rejected before the machine runs out of memory. It is a
// rough estimate of weights, gradients, two moments, and the activations kept for backward.
func (p *plan) memory() error {
	if p.Target.Memory == 0 {
		return nil
	}
	elements := p.copies() * p.Parameters()
	kept := p.Activations(mostRows(p), p.checkpoints())
	if p.Backward == "step" {
		kept *= float64(p.accumulation)
	}
	if all := (elements + kept) * float64(p.dtype.Size()) * float64(p.WorldSize); all > float64(p.Target.Memory) {
		return &OptionError{"width", fmt.Sprintf("%d ranks of this model want about %.0f GB", p.WorldSize, all/1e9),
			"take a smaller `width`, `layers`, `sequence-length`, `local-batch-size` or `world-size`"}
	}
	return nil
}

// copies returns how many elements a rank holds per element of the model: the weight, its
// gradient and two moments, or its share of those with full sharding.
func (p *plan) copies() float64 {
	if !p.Full() {
		return 4
	}
	n := 4 / math.Max(1, float64(p.WorldSize/max(1, p.Replicas)))
	if p.accumulation > 1 && p.Sync == "last" {
		n++ // gradients stay whole until the last micro-batch
	}
	if !p.ReshardAfterForward {
		n++
	}
	return n
}

// checkpoints is which blocks have one: 1 all, 2 every second one, 0 none.
func (p *plan) checkpoints() int {
	return map[string]int{"full": 1, "selective": 2}[p.Checkpoint]
}

// has reports whether the loop contains a fault.
func (p *plan) has(b bug) bool { return p.bug&b != 0 }

// even reports whether all ranks are known to have the same number of tokens.
func (p *plan) even() bool {
	return p.WorldSize == 1 || p.times == nil && (p.counts != nil && !ragged(p.counts) || p.Uniform)
}

// scalesStored reports whether the factor is applied to stored gradients, in a pass of
// its own or folded into clipping or the optimizer. Gradients must be complete by then.
func (p *plan) scalesStored() bool { return p.Scale != "loss" && p.Scale != "skip" }

// countsAll reports whether the loop reduces token counts over all ranks.
func (p *plan) countsAll() bool {
	return p.Normalization == "global" && (p.scalesLoss() || p.scalesStored())
}

// scalesLoss reports whether the factor is applied to losses. It depends on the token
// count of the whole step, which therefore must be known before the first forward.
func (p *plan) scalesLoss() bool {
	return p.Scale == "loss" && (p.Normalization == "global" || p.Normalization == "per-rank")
}
