package reference

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/gaprof/gaprof/reference/model"
)

// Field describes one option, so that a program can offer it as a flag or in a form.
type Field struct {
	Name   string   // identifies it in Set, plants and errors: global-batch-size
	Usage  string   // one line; names other options in backquotes
	Values []string // the allowed values of a choice; nil if any value is
	Value  any      // a pointer into the Options: *string, *int, *float64 or *bool
}

// Fields returns all options in reading order, with pointers into o.
func (o *Options) Fields() []Field {
	return slices.Concat(o.modelFields(), o.batchingFields(), o.lossFields(), o.backwardFields(),
		o.optimizerFields(), o.runFields())
}

func (o *Options) modelFields() []Field {
	return []Field{
		{"model", "gpt (pre-norm transformer), mlp (position-wise), llama, or one with the sizes of that name",
			model.Names(), &o.Model},
		{"layers", "blocks, 0 for those of the model", nil, &o.Layers},
		{"width", "width of the model, 0 for its own", nil, &o.Width},
		{"heads", "attention heads, 0 for those of the model", nil, &o.Heads},
		{"kv-heads", "heads of keys and values of a llama, each for as many of queries; 0 for those of the model",
			nil, &o.KVHeads},
		{"hidden", "width inside the MLP; 0 for that of the model, where it has none 4 x `width`", nil, &o.Hidden},
		{"sequence-length", "tokens of a row, 0 for those of the model", nil, &o.SequenceLength},
		{"vocabulary", "tokens that there are, 0 for what the model or the data has", nil, &o.Vocabulary},
		{"tied-head", "the head of a gpt2 or llama is the embedding; the model's own choice if left out",
			[]string{"yes", "no"}, &o.TiedHead},
		{"fused-swiglu", "the gate of a llama's MLP is one kernel that saves its inputs only; without, two, as eager " +
			"PyTorch has it", nil, &o.FusedSwiGLU},
	}
}

func (o *Options) batchingFields() []Field {
	return []Field{
		{"world-size", "ranks", nil, &o.WorldSize},
		{"local-batch-size", "rows of a micro-batch, 0 for those of the model", nil, &o.LocalBatchSize},
		{"global-batch-size", "rows of a step over all ranks; 0 for four micro-batches of each, negative for one. " +
			"Accumulation steps follow", nil, &o.GlobalBatchSize},
		{"token-counts", "valid tokens of each micro-batch, ranks by /, micro-batches by comma: " +
			"59,60,14,11/12,268,133,6", nil, &o.TokenCounts},
		{"more-rows", "rank=factor: the micro-batches of a rank have as many times as many rows", nil, &o.MoreRows},
		{"max-steps", "optimizer steps", nil, &o.MaxSteps},
		{"seed", "of weights and data", nil, &o.Seed},
		{"dtype", "precision of everything; of bfloat16, weights, gradients and activations",
			[]string{"float32", "float64", "bfloat16"}, &o.DType},
	}
}

func (o *Options) lossFields() []Field {
	return []Field{
		{"normalization", "what the loss of a token is divided by",
			[]string{"global", "per-rank", "micro-mean", "sum"}, &o.Normalization},
		{"scale", "where that happens",
			[]string{"pass", "foreach", "skip", "loss", "optimizer", "clip"}, &o.Scale},
		{"loss-reduction", "of the cross entropy of a micro-batch", []string{"mean", "sum"}, &o.LossReduction},
		{"grad-reduction", "of gradients over ranks", []string{"mean", "sum"}, &o.GradReduction},
	}
}

func (o *Options) backwardFields() []Field {
	return []Field{
		{"backward", "after each micro-batch, or once over all of a step",
			[]string{"micro-batch", "step"}, &o.Backward},
		{"activation-checkpoint", "full: blocks save their inputs only, and run forward again in backward; " +
			"selective: every second one does, as torchtitan's option 2", []string{"full", "selective"}, &o.Checkpoint},
		{"sync", "gradients are reduced in every micro-batch or in the last",
			[]string{"every-micro-batch", "last"}, &o.Sync},
		{"grad-sync", "DDP's or FSDP's order",
			[]string{"accumulate-then-reduce", "reduce-then-accumulate"}, &o.GradSync},
		{"reduce-scatter", "sharded optimizer: gradients are reduce-scattered in the optimizer's step or in " +
			"backward hooks", []string{"step", "hook"}, &o.ReduceScatter},
		{"sharding", "full: each rank holds its shards of parameters, gradients and optimizer state; blocks are " +
			"gathered for their passes, and their gradients reduce-scattered after backward: FSDP2",
			[]string{"full"}, &o.Sharding},
		{"replicas", "with `sharding` full, groups of ranks that hold all shards, whose gradients are all-reduced: " +
			"HSDP", nil, &o.Replicas},
		{"replica-sync", "with `replicas` and `sync` every-micro-batch, last: gradients are all-reduced over " +
			"replicas in the last micro-batch only", []string{"every-micro-batch", "last"}, &o.ReplicaSync},
		{"reshard-after-forward", "with `sharding` full, gathered blocks are freed after forward and gathered again " +
			"for backward; without, they are kept until then", nil, &o.ReshardAfterForward},
		{"prefetch", "with `sharding` full, a block is gathered while the one before it computes; without, when it " +
			"is needed", nil, &o.Prefetch},
		{"all-reduce", "optimizer that is not sharded: gradients are all-reduced in backward hooks, by " +
			"buckets, or each in the optimizer's step", []string{"hook", "step"}, &o.AllReduce},
		{"matrix-reduce", "step: with `reduce-scatter` hook, gradients of matrices that `matrix-optimizer` has are " +
			"reduced in its step", []string{"step"}, &o.MatrixReduce},
		{"compiled", "the backward pass is one graph, as torch.compile makes it: gradients are accumulated, and " +
			"hooks run, when all of it has run", nil, &o.Compiled},
		{"step-order", "of parameters in a sharded optimizer; explicit is small ones first",
			[]string{"forward", "reverse", "explicit"}, &o.StepOrder},
		{"bucket-bytes", "bytes of gradients that are all-reduced at once", nil, &o.BucketBytes},
		{"bucket-order", "buckets are filled and reduced from the last parameter on, which is ready first, or in the " +
			"order of forward", []string{"backward", "forward"}, &o.BucketOrder},
		{"gradient-as-bucket-view", "gradients live in the buckets of DDP; without, it divides them into those " +
			"and copies them back", nil, &o.BucketView},
	}
}

func (o *Options) optimizerFields() []Field {
	return []Field{
		{"optimizer", "adamw, dist-adam (Adam of nine operations with moments in the model's precision) or sgd",
			[]string{"adamw", "dist-adam", "sgd"}, &o.Optimizer},
		{"matrix-optimizer", "of matrices inside blocks, which step every time; the same as of all others if left out",
			[]string{"sgd", "muon"}, &o.Matrices},
		{"momentum", "of Muon", nil, &o.Momentum},
		{"lr", "learning rate", nil, &o.LearningRate},
		{"beta1", "of Adam", nil, &o.Beta1},
		{"beta2", "of Adam", nil, &o.Beta2},
		{"eps", "of Adam", nil, &o.Epsilon},
		{"weight-decay", "decoupled from the gradient", nil, &o.WeightDecay},
		{"adam-every", "Adam has embeddings, norms, biases and head and steps every k-th step; SGD or Muon has the " +
			"matrices", nil, &o.AdamEvery},
		{"master-weights", "AdamW keeps the weights and moments of a bfloat16 model in float32; without, moments " +
			"are bfloat16 and there are no other weights", nil, &o.MasterWeights},
		{"optimizer-in-backward", "each parameter is updated when its gradient is ready",
			nil, &o.OptimizerInBackward},
		{"clip-grad-norm", "largest norm of the gradient, 0 for any", nil, &o.ClipGradNorm},
		{"foreach-clip", "clipping is one call for all gradients; without, one for each", nil, &o.ForeachClip},
	}
}

func (o *Options) runFields() []Field {
	return []Field{
		{"reduce-loss", "the sum of losses is all-reduced behind the last backward, for the log",
			nil, &o.ReduceLoss},
		{"straggler", "rank=factor: the kernels of a rank take as many times as long", nil, &o.Straggler},
		{"loader-delay", "time that loading a micro-batch takes longer, of every rank or rank=time: 20ms, 1=20ms",
			nil, &o.LoaderDelay},
		{"launch-delay", "time that launching a kernel takes longer", nil, &o.LaunchDelay},
		{"host-delay", "time in which the host does something else after every step", nil, &o.HostDelay},
		{"read-loss", "wait for the loss and read it, as item() does: after each step, each micro-batch, or the last " +
			"backward of a step; without, it is copied while the next step runs",
			[]string{"step", "micro-batch", "backward"}, &o.ReadLoss},
		{"empty-cache", "give freed device memory back after every step, to allocate it anew", nil, &o.EmptyCache},
		{"plant", "a fault on purpose: " + strings.Join(Plants(), ", "), Plants(), &o.Plant},
	}
}

// Set parses value and assigns it to the option with the given name.
func (o *Options) Set(name, value string) error {
	fields := o.Fields()
	i := slices.IndexFunc(fields, func(f Field) bool { return f.Name == name })
	if i < 0 {
		return fmt.Errorf("no option `%s`", name)
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

// take assigns the value that another field of the same option points to.
func (f Field) take(from any) {
	switch p := f.Value.(type) {
	case *string:
		*p = *from.(*string)
	case *int:
		*p = *from.(*int)
	case *float64:
		*p = *from.(*float64)
	case *bool:
		*p = *from.(*bool)
	}
}

// check rejects a value that is not one of the field's. An empty choice is the default.
func (f Field) check() error {
	text, ok := f.Value.(*string)
	if !ok || f.Values == nil || *text == "" || slices.Contains(f.Values, *text) {
		return nil
	}
	return &OptionError{f.Name, fmt.Sprintf("%q is none of its values", *text), "take " + strings.Join(f.Values, ", ")}
}

// OptionError reports an option whose value, alone or together with others, cannot be
// run. Its texts quote the names of options in backquotes. The library does not know
// whether those are flags, keys of a file or widgets: programs substitute their own
// notation with RewriteOptions.
type OptionError struct {
	Option string // name of the option to blame, see Field.Name
	Reason string // why it is rejected
	WayOut string // what to do instead; "" if that is obvious
}

func (e *OptionError) Error() string {
	text := "`" + e.Option + "`: " + e.Reason
	if e.WayOut != "" {
		text += "; " + e.WayOut
	}
	return text
}

var quotedName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("`[a-z0-9-]+`") })

// RewriteOptions rewrites the names of options in a text of this package, such as
// Field.Usage or OptionError.Reason, to the caller's notation. notation receives the bare
// name; its result replaces the name and its backquotes.
func RewriteOptions(text string, notation func(name string) string) string {
	return quotedName().ReplaceAllStringFunc(text, func(quoted string) string {
		return notation(strings.Trim(quoted, "`"))
	})
}
