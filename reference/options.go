package reference

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Options are the choices of a run. Each field but the last three is an option of the
// command line, listed by Fields; "" and 0 mean the default where Fields says so.
type Options struct {
	Model          string // gpt or mlp
	Layers         int
	Width          int
	Heads          int
	Hidden         int // width inside the MLP; 0 is four times Width
	SequenceLength int
	Vocabulary     int // 0 is what the data has

	WorldSize       int
	LocalBatchSize  int // rows of a micro-batch
	GlobalBatchSize int // rows of a step over all ranks; negative is local x world size
	TokenCounts     string
	MaxSteps        int
	Seed            int
	DType           string // float32 or float64

	Normalization       string // global, per-rank, micro-mean or sum
	Scale               string // pass, foreach, skip, loss, optimizer or clip
	LossReduction       string // mean or sum
	GradReduction       string // mean or sum
	Backward            string // micro-batch or step
	Sync                string // every-micro-batch or last
	GradSync            string // accumulate-then-reduce or reduce-then-accumulate
	ReduceScatter       string // "", step or hook
	AllReduce           string // hook or step, where nothing is sharded
	StepOrder           string // forward, reverse or explicit
	BucketBytes         int    // of an all-reduce
	BucketView          bool   // gradients live in the buckets; else DDP divides them into those, and copies them back
	Optimizer           string // adamw or sgd
	LearningRate        float64
	Beta1, Beta2        float64
	Epsilon             float64
	WeightDecay         float64
	AdamEvery           int
	OptimizerInBackward bool
	ClipGradNorm        float64 // 0 is off
	ForeachClip         bool    // clipping is one call for all gradients, else one for each
	ReduceLoss          bool    // losses are added up over ranks for the log
	Straggler           string  // rank=factor
	Plant               string  // a fault, by the rule that finds it or the loop that had it

	NormEpsilon float64              // of LayerNorm; 0 is 1e-5
	Weights     map[string][]float64 // to begin with, by parameter; nil draws them by Seed
	Uniform     bool                 // the data has equally many valid tokens in all micro-batches of all ranks
}

// Defaults returns the options of a run that nobody has changed: four micro-batches a
// step on two ranks, normalised by the global token count, folded into the loss.
func Defaults() Options {
	return Options{
		Model: "gpt", Layers: 2, Width: 64, Heads: 4, SequenceLength: 128,
		WorldSize: 2, LocalBatchSize: 4, GlobalBatchSize: 32, MaxSteps: 12, Seed: 1, DType: "float32",
		Normalization: "global", LossReduction: "mean", GradReduction: "mean", Backward: "micro-batch", Sync: "last", AllReduce: "hook",
		GradSync: "accumulate-then-reduce", StepOrder: "forward", BucketBytes: 64 << 10, BucketView: true,
		Optimizer: "adamw", LearningRate: 3e-3, Beta1: 0.9, Beta2: 0.95, Epsilon: 1e-8, WeightDecay: 0.1, AdamEvery: 1, ForeachClip: true,
	}
}

// Field is one option of the command line.
type Field struct {
	Name   string
	Usage  string
	Values []string // all that are allowed, for a choice
	Value  any      // points into the Options: *string, *int, *float64 or *bool
}

// Fields returns the options in the order of the command line, with pointers into o.
func (o *Options) Fields() []Field {
	return []Field{
		{"model", "gpt (pre-norm transformer) or mlp (position-wise)", []string{"gpt", "mlp"}, &o.Model},
		{"layers", "blocks of a gpt", nil, &o.Layers},
		{"width", "width of the model", nil, &o.Width},
		{"heads", "attention heads of a gpt", nil, &o.Heads},
		{"hidden", "width inside the MLP, 0 for 4 x --width", nil, &o.Hidden},
		{"sequence-length", "tokens of a row", nil, &o.SequenceLength},
		{"vocabulary", "tokens that there are, 0 for what the data has", nil, &o.Vocabulary},
		{"world-size", "ranks", nil, &o.WorldSize},
		{"local-batch-size", "rows of a micro-batch", nil, &o.LocalBatchSize},
		{"global-batch-size", "rows of a step over all ranks; negative for local x world size. Accumulation steps follow", nil, &o.GlobalBatchSize},
		{"token-counts", "valid tokens of each micro-batch, ranks by /, micro-batches by comma: 59,60,14,11/12,268,133,6", nil, &o.TokenCounts},
		{"max-steps", "optimizer steps", nil, &o.MaxSteps},
		{"seed", "of weights and data", nil, &o.Seed},
		{"dtype", "precision of everything", []string{"float32", "float64"}, &o.DType},
		{"normalization", "what the loss of a token is divided by", []string{"global", "per-rank", "micro-mean", "sum"}, &o.Normalization},
		{"scale", "where that happens", []string{"pass", "foreach", "skip", "loss", "optimizer", "clip"}, &o.Scale},
		{"loss-reduction", "of the cross entropy of a micro-batch", []string{"mean", "sum"}, &o.LossReduction},
		{"grad-reduction", "of gradients over ranks", []string{"mean", "sum"}, &o.GradReduction},
		{"backward", "after each micro-batch, or once over all of a step", []string{"micro-batch", "step"}, &o.Backward},
		{"sync", "gradients are reduced in every micro-batch or in the last", []string{"every-micro-batch", "last"}, &o.Sync},
		{"grad-sync", "DDP's or FSDP's order", []string{"accumulate-then-reduce", "reduce-then-accumulate"}, &o.GradSync},
		{"reduce-scatter", "sharded optimizer: gradients are reduce-scattered in the optimizer's step or in backward hooks", []string{"step", "hook"}, &o.ReduceScatter},
		{"all-reduce", "optimizer that is not sharded: gradients are all-reduced in backward hooks, by buckets, or each in the optimizer's step", []string{"hook", "step"}, &o.AllReduce},
		{"step-order", "of parameters in a sharded optimizer; explicit is small ones first", []string{"forward", "reverse", "explicit"}, &o.StepOrder},
		{"bucket-bytes", "bytes of gradients that are all-reduced at once", nil, &o.BucketBytes},
		{"gradient-as-bucket-view", "gradients live in the buckets of DDP; without, it divides them into those and copies them back", nil, &o.BucketView},
		{"optimizer", "adamw or sgd", []string{"adamw", "sgd"}, &o.Optimizer},
		{"lr", "learning rate", nil, &o.LearningRate},
		{"beta1", "of AdamW", nil, &o.Beta1},
		{"beta2", "of AdamW", nil, &o.Beta2},
		{"eps", "of AdamW", nil, &o.Epsilon},
		{"weight-decay", "decoupled from the gradient", nil, &o.WeightDecay},
		{"adam-every", "AdamW has embeddings, norms, biases and head and steps every k-th step; SGD has the matrices", nil, &o.AdamEvery},
		{"optimizer-in-backward", "each parameter is updated when its gradient is ready", nil, &o.OptimizerInBackward},
		{"clip-grad-norm", "largest norm of the gradient, 0 for any", nil, &o.ClipGradNorm},
		{"foreach-clip", "clipping is one call for all gradients; without, one for each", nil, &o.ForeachClip},
		{"reduce-loss", "the sum of losses is all-reduced behind the last backward, for the log", nil, &o.ReduceLoss},
		{"straggler", "rank=factor: the kernels of a rank take as many times as long", nil, &o.Straggler},
		{"plant", "a fault on purpose: " + strings.Join(Plants(), ", "), Plants(), &o.Plant},
	}
}

// Set gives the option of that name a value, written as on the command line.
func (o *Options) Set(name, value string) error {
	fields := o.Fields()
	i := slices.IndexFunc(fields, func(f Field) bool { return f.Name == name })
	if i < 0 {
		return fmt.Errorf("no option --%s", name)
	}
	var err error
	switch p := fields[i].Value.(type) {
	case *string:
		*p = value
	case *int:
		*p, err = strconv.Atoi(value)
	case *float64:
		*p, err = strconv.ParseFloat(value, 64)
	case *bool:
		*p, err = strconv.ParseBool(value)
	}
	if err != nil {
		return &OptionError{Option: name, Reason: fmt.Sprintf("%q is not a number that it takes", value)}
	}
	return nil
}

// OptionError is a choice that cannot be, with the reason and a way out.
type OptionError struct{ Option, Reason, WayOut string }

func (e *OptionError) Error() string {
	text := "--" + e.Option + ": " + e.Reason
	if e.WayOut != "" {
		text += "; " + e.WayOut
	}
	return text
}
