package reference

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gaprof/gaprof/reference/device"
)

// plan is what options mean: all that a loop asks while it runs.
type plan struct {
	Options
	accumulation int
	counts       [][]int   // by rank and micro-batch, nil where the data decides
	slow         []float64 // by rank
	bug          bug
	dt           device.DType
}

// Accumulation returns the micro-batches of a step, or why the options cannot be.
func (o Options) Accumulation() (int, error) {
	p, err := o.plan()
	return p.accumulation, err
}

// Validate returns an *OptionError where the options cannot be.
func (o Options) Validate() error {
	_, err := o.plan()
	return err
}

// Effective returns the options after their plant has set its own, with defaults filled in.
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
	p := plan{Options: o, bug: bug, dt: device.F32}
	if o.DType == "float64" {
		p.dt = device.F64
	}
	for _, step := range []func(*plan) error{(*plan).ranges, (*plan).batches, (*plan).defaults, (*plan).memory, (*plan).refuse} {
		if err := step(&p); err != nil {
			return plan{}, err
		}
	}
	return p, nil
}

// check refuses what is none of a field's values. An empty choice is the default.
func (f Field) check() error {
	if text, ok := f.Value.(*string); ok && f.Values != nil && *text != "" && !slices.Contains(f.Values, *text) {
		return &OptionError{f.Name, fmt.Sprintf("%q is none of its values", *text), "take " + strings.Join(f.Values, ", ")}
	}
	return nil
}

// ranges refuses numbers that mean nothing.
func (p *plan) ranges() error {
	for _, r := range []struct {
		name            string
		value, from, to float64
	}{
		{"layers", float64(p.Layers), 1, 1000}, {"width", float64(p.Width), 1, 1 << 16}, {"heads", float64(p.Heads), 1, 1 << 12},
		{"hidden", float64(p.Hidden), 0, 1 << 18}, {"sequence-length", float64(p.SequenceLength), 2, 1 << 20}, {"vocabulary", float64(p.Vocabulary), 0, 1 << 24},
		{"world-size", float64(p.WorldSize), 1, 1024}, {"local-batch-size", float64(p.LocalBatchSize), 1, 1 << 20}, {"max-steps", float64(p.MaxSteps), 1, 1 << 30},
		{"bucket-bytes", float64(p.BucketBytes), 0, 1 << 40}, {"lr", p.LearningRate, 0, 1e6}, {"beta1", p.Beta1, 0, math.Nextafter(1, 0)},
		{"beta2", p.Beta2, 0, math.Nextafter(1, 0)}, {"eps", p.Epsilon, 0, 1}, {"weight-decay", p.WeightDecay, 0, 1e6},
		{"adam-every", float64(p.AdamEvery), 1, 1 << 20}, {"clip-grad-norm", p.ClipGradNorm, 0, math.MaxFloat64},
	} {
		if !(r.value >= r.from && r.value <= r.to) {
			return &OptionError{r.name, fmt.Sprintf("%g is out of range", r.value), fmt.Sprintf("take %g to %g", r.from, r.to)}
		}
	}
	if p.Model == "gpt" && p.Width%p.Heads != 0 {
		return &OptionError{"heads", fmt.Sprintf("%d heads do not divide a width of %d", p.Heads, p.Width), "take a divisor"}
	}
	var err error
	p.slow, err = parseStraggler(p.Straggler, p.WorldSize)
	return err
}

// batches derives the accumulation.
func (p *plan) batches() error {
	if p.TokenCounts != "" {
		return p.countedBatches()
	}
	unit := p.LocalBatchSize * p.WorldSize
	switch {
	case p.GlobalBatchSize < 0:
		p.accumulation = 1
	case p.GlobalBatchSize == 0 || p.GlobalBatchSize%unit != 0:
		return &OptionError{"global-batch-size", fmt.Sprintf("global batch size must be multiple of local batch size times data-parallel degree (%d %% (%d * %d) != 0)",
			p.GlobalBatchSize, p.LocalBatchSize, p.WorldSize), fmt.Sprintf("take %d, or -1 for no accumulation", max(1, (p.GlobalBatchSize+unit/2)/unit)*unit)}
	default:
		p.accumulation = p.GlobalBatchSize / unit
	}
	return nil
}

// countedBatches takes the accumulation from given token counts.
func (p *plan) countedBatches() error {
	counts, err := ParseTokenCounts(p.TokenCounts)
	if err != nil {
		return err
	}
	if len(counts) != p.WorldSize {
		return &OptionError{"token-counts", fmt.Sprintf("they are of %d ranks, --world-size is %d", len(counts), p.WorldSize), "give every rank its counts"}
	}
	room := p.LocalBatchSize * (p.SequenceLength - 1)
	for rank, list := range counts {
		if most := slices.Max(list); most > room {
			return &OptionError{"token-counts", fmt.Sprintf("%d tokens of rank %d do not fit into %d rows with %d targets", most, rank, p.LocalBatchSize, p.SequenceLength-1),
				fmt.Sprintf("raise --sequence-length to %d", (most+p.LocalBatchSize-1)/p.LocalBatchSize+1)}
		}
	}
	p.counts, p.accumulation = counts, len(counts[0])
	p.GlobalBatchSize = p.LocalBatchSize * p.WorldSize * p.accumulation
	return nil
}

// defaults fills in what depends on other choices.
func (p *plan) defaults() error {
	if p.Hidden == 0 {
		p.Hidden = 4 * p.Width
	}
	if p.NormEpsilon == 0 {
		p.NormEpsilon = 1e-5
	}
	if p.GradSync == "reduce-then-accumulate" && p.ReduceScatter == "" {
		p.ReduceScatter = "hook"
	}
	if p.AllReduce == "" {
		p.AllReduce = "hook"
	}
	if p.Scale == "" {
		p.Scale = "loss"
	}
	return nil
}

// mostMemory is what a run may want, in bytes of all ranks together: a slip in an
// option is refused before the machine is out of memory.
const mostMemory = 64e9

// memory refuses models that no machine of this kind holds: weights, gradients and two
// moments, and the activations that are kept for backward, roughly.
func (p *plan) memory() error {
	weights := 0.0
	for _, s := range models[p.Model].specs(p) {
		n := 4.0
		for _, d := range s.shape {
			n *= float64(d)
		}
		weights += n
	}
	b, t := float64(p.LocalBatchSize), float64(p.SequenceLength)
	kept := b * t * 2 * float64(p.Vocabulary+p.Hidden+p.Width)
	if p.Model == "gpt" {
		kept = b * t * (2*float64(p.Vocabulary) + float64(p.Layers)*(8*float64(p.Width)+2*float64(p.Hidden)+float64(p.Heads)*t))
	}
	if p.Backward == "step" {
		kept *= float64(p.accumulation)
	}
	if all := (weights + kept) * float64(p.dt.Size()) * float64(p.WorldSize); all > mostMemory {
		return &OptionError{"width", fmt.Sprintf("%d ranks of this model want about %.0f GB", p.WorldSize, all/1e9),
			"take a smaller --width, --layers, --sequence-length, --local-batch-size or --world-size"}
	}
	return nil
}

// even tells whether all ranks are known to have equally many tokens.
func (p *plan) even() bool {
	return p.WorldSize == 1 || p.counts != nil && !ragged(p.counts) || p.Uniform
}

func (p *plan) sharded() bool { return p.ReduceScatter != "" }

// reducesInStep tells whether gradients are reduced inside the optimizer's step.
func (p *plan) reducesInStep() bool { return p.ReduceScatter == "step" || p.AllReduce == "step" }

// passes tells of the scale modes that multiply stored gradients, so that all of the
// gradient must be there first.
func (p *plan) passes() bool { return p.Scale != "loss" && p.Scale != "skip" }

// refuse returns the first reason why the options do not go together.
func (p *plan) refuse() error {
	if p.bug&anyway != 0 {
		return nil
	}
	for _, r := range slices.Concat(p.scaleRefusals(), p.syncRefusals(), p.optimizerRefusals()) {
		if r.when {
			return &r.err
		}
	}
	return nil
}

type refusal struct {
	when bool
	err  OptionError
}

func (p *plan) scaleRefusals() []refusal {
	return []refusal{
		{p.Scale == "skip" && p.Normalization == "global" && p.accumulation > 1, OptionError{"scale",
			fmt.Sprintf("skip is right with one micro-batch only, a step has %d", p.accumulation), "take loss, or --global-batch-size -1"}},
		{p.Scale == "skip" && p.Normalization == "global" && !p.even(), OptionError{"scale",
			fmt.Sprintf("skip leaves every rank its own mean, and the %d ranks have ragged token counts", p.WorldSize), "take loss, or even --token-counts"}},
		{p.Scale == "skip" && p.Normalization == "global" && p.LossReduction == "sum", OptionError{"scale",
			"skip leaves the loss as it is, and that is a sum", "take --loss-reduction mean"}},
		{p.Scale == "skip" && p.Normalization == "global" && p.GradReduction == "sum" && p.WorldSize > 1, OptionError{"scale",
			"skip leaves the mean to the reduction, and that is a sum", "take --grad-reduction mean"}},
		{p.Scale == "clip" && p.ClipGradNorm == 0, OptionError{"scale", "clip folds the factor into clipping, and that is off", "give --clip-grad-norm"}},
		{(p.Normalization == "micro-mean" || p.Normalization == "sum") && p.Scale != "loss", OptionError{"scale",
			p.Normalization + " has no factor that " + p.Scale + " could apply", "leave --scale out"}},
		{p.Normalization == "per-rank" && p.Scale != "loss" && p.Scale != "pass" && p.Scale != "foreach", OptionError{"scale",
			"per-rank has another factor on every rank, which " + p.Scale + " cannot apply", "take loss"}},
		{p.Normalization == "per-rank" && p.passes() && p.WorldSize > 1 && !p.reducesInStep(), OptionError{"scale",
			"per-rank factors must be applied before gradients are reduced, and that happens in backward", "take loss, or --reduce-scatter step"}},
		{p.ReduceLoss && (p.Normalization != "global" || p.Scale == "skip"), OptionError{"reduce-loss",
			"the loop knows no token count of all ranks to divide the sum by", "take --normalization global, and --scale loss instead of skip"}},
	}
}

func (p *plan) syncRefusals() []refusal {
	every := p.Sync == "every-micro-batch" && p.accumulation > 1 && p.Backward == "micro-batch"
	first, inStep := p.GradSync == "reduce-then-accumulate", p.AllReduce == "step"
	return []refusal{
		{p.sharded() && p.WorldSize == 1, OptionError{"reduce-scatter", "there is one rank only, nothing is sharded", "take --world-size 2"}},
		{first && p.ReduceScatter == "step", OptionError{"grad-sync", "reduce-then-accumulate reduces in backward, --reduce-scatter step after it", "take --reduce-scatter hook"}},
		{p.sharded() && !first && every, OptionError{"sync", "every reduce-scatter but the last would be thrown away", "take last, or --grad-sync reduce-then-accumulate"}},
		{!p.sharded() && every && p.GradReduction == "sum" && p.WorldSize > 1, OptionError{"grad-reduction",
			"what has been summed over ranks is accumulated and summed again: earlier micro-batches count several times", "take --sync last, or --grad-reduction mean"}},
		{p.StepOrder != "forward" && !p.sharded(), OptionError{"step-order", "it orders a sharded optimizer only", "give --reduce-scatter"}},
		{inStep && p.WorldSize == 1, OptionError{"all-reduce", "there is one rank only, nothing is reduced", "take --world-size 2"}},
		{inStep && p.sharded(), OptionError{"all-reduce", "gradients of a sharded optimizer are reduce-scattered", "leave out --all-reduce, or take --reduce-scatter step alone"}},
		{inStep && every, OptionError{"sync", "the optimizer's step reduces once, what all micro-batches have added up", "take last, or --all-reduce hook"}},
		{p.reducesInStep() && p.ClipGradNorm > 0, OptionError{"clip-grad-norm",
			"the norm needs reduced gradients before the step, and they are reduced inside it", "take --reduce-scatter hook, or --all-reduce hook"}},
	}
}

func (p *plan) optimizerRefusals() []refusal {
	early, rare := p.OptimizerInBackward, p.AdamEvery > 1
	return []refusal{
		{early && p.accumulation > 1, OptionError{"optimizer-in-backward",
			fmt.Sprintf("gradient accumulation is not supported with it, a step has %d micro-batches", p.accumulation), "take --global-batch-size -1, or leave it out"}},
		{early && p.ClipGradNorm > 0, OptionError{"optimizer-in-backward", "clipping needs all gradients before the first update", "leave out one of the two"}},
		{early && p.passes(), OptionError{"optimizer-in-backward", "gradients are used up before --scale " + p.Scale + " could run", "take --scale loss"}},
		{early && p.sharded(), OptionError{"optimizer-in-backward", "a sharded optimizer steps after backward", "leave out --reduce-scatter"}},
		{early && p.AllReduce == "step", OptionError{"optimizer-in-backward", "there is no step behind backward that could reduce", "take --all-reduce hook"}},
		{early && rare, OptionError{"optimizer-in-backward", "every backward updates, --adam-every does not", "leave out one of the two"}},
		{rare && p.Optimizer != "adamw", OptionError{"adam-every", "there is no Adam", "take --optimizer adamw"}},
		{rare && (p.passes() || p.ClipGradNorm > 0), OptionError{"adam-every", "gradients of earlier steps are scaled or clipped already", "take --scale loss without --clip-grad-norm"}},
	}
}
