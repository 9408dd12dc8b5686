package reference_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/reference"
	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/reference/sim"
)

func TestAccumulation(t *testing.T) {
	for _, c := range []struct {
		changes string
		want    int
	}{
		{"", 4},
		{"local-batch-size=8 world-size=2 global-batch-size=32", 2},
		{"local-batch-size=8 world-size=2 global-batch-size=16", 1},
		{"local-batch-size=8 world-size=2 global-batch-size=-1", 1},
		{"local-batch-size=8 world-size=2 global-batch-size=-7", 1},
		{"token-counts=1,2,3/4,5,6", 3},
		{"plant=GS001", 1},
		{"plant=OP002", 8},
	} {
		o := reference.Defaults()
		apply(t, &o, c.changes)
		if got, err := o.Accumulation(); err != nil || got != c.want {
			t.Errorf("%q: %d, %v, want %d", c.changes, got, err, c.want)
		}
	}
}

func apply(t *testing.T, o *reference.Options, changes string) {
	t.Helper()
	for _, change := range strings.Fields(changes) {
		name, value, _ := strings.Cut(change, "=")
		if err := o.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
}

// What cannot be is refused with the option, the reason and the way out.
func TestRefused(t *testing.T) {
	for _, c := range []struct{ changes, option, words string }{
		{"scale=skip", "scale", "a step has 4; take loss, or --global-batch-size -1"},
		{"scale=skip global-batch-size=-1", "scale", "ragged token counts"},
		{"scale=skip token-counts=3/4", "scale", "the 2 ranks have ragged token counts"},
		{"scale=skip token-counts=3/3 loss-reduction=sum", "scale", "--loss-reduction mean"},
		{"scale=skip token-counts=3/3 grad-reduction=sum", "scale", "--grad-reduction mean"},
		{"scale=clip", "scale", "give --clip-grad-norm"},
		{"normalization=micro-mean scale=pass", "scale", "no factor that pass could apply"},
		{"normalization=sum scale=skip", "scale", "leave --scale out"},
		{"normalization=per-rank scale=optimizer", "scale", "another factor on every rank"},
		{"normalization=per-rank scale=pass", "scale", "before gradients are reduced"},
		{"optimizer-in-backward=true", "optimizer-in-backward",
			"gradient accumulation is not supported with it, a step has 4"},
		{"optimizer-in-backward=true global-batch-size=-1 clip-grad-norm=1", "optimizer-in-backward",
			"clipping needs all gradients"},
		{"optimizer-in-backward=true global-batch-size=-1 scale=pass", "optimizer-in-backward", "--scale pass"},
		{"optimizer-in-backward=true global-batch-size=-1 reduce-scatter=hook", "optimizer-in-backward",
			"leave out --reduce-scatter"},
		{"global-batch-size=30", "global-batch-size",
			"global batch size must be multiple of local batch size times data-parallel degree (30 % (4 * 2) != " +
				"0); take 32"},
		{"local-batch-size=8 global-batch-size=8", "global-batch-size", "(8 % (8 * 2) != 0); take 16"},
		{"global-batch-size=3", "global-batch-size", "take 8, or -1"},
		{"grad-reduction=sum sync=every-micro-batch", "grad-reduction", "earlier micro-batches count several times"},
		{"reduce-scatter=step grad-sync=reduce-then-accumulate", "grad-sync", "--reduce-scatter hook"},
		{"reduce-scatter=hook sync=every-micro-batch", "sync", "would be thrown away"},
		{"reduce-scatter=hook world-size=1", "reduce-scatter", "one rank only"},
		{"reduce-scatter=step clip-grad-norm=1", "clip-grad-norm", "reduced inside it"},
		{"all-reduce=step clip-grad-norm=1", "clip-grad-norm", "reduced inside it"},
		{"all-reduce=step world-size=1", "all-reduce", "one rank only"},
		{"all-reduce=step reduce-scatter=hook", "all-reduce", "are reduce-scattered"},
		{"all-reduce=step sync=every-micro-batch", "sync", "reduces once"},
		{"all-reduce=step optimizer-in-backward=true global-batch-size=-1", "optimizer-in-backward",
			"--all-reduce hook"},
		{"reduce-loss=true normalization=per-rank", "reduce-loss", "take --normalization global"},
		{"reduce-loss=true scale=skip world-size=1 global-batch-size=-1", "reduce-loss",
			"--scale loss instead of skip"},
		{"step-order=reverse", "step-order", "give --reduce-scatter"},
		{"sharding=full reduce-scatter=hook", "sharding", "leave out --reduce-scatter"},
		{"sharding=full all-reduce=step", "sharding", "leave out --all-reduce"},
		{"sharding=full optimizer-in-backward=true global-batch-size=-1", "sharding",
			"leave out --optimizer-in-backward"},
		{"sharding=full gradient-as-bucket-view=false", "sharding", "leave out --gradient-as-bucket-view"},
		{"sharding=full step-order=reverse", "step-order", "give --reduce-scatter"},
		{"sharding=full replicas=3", "replicas", "2 ranks are not 3 replicas of as many shards"},
		{"sharding=full replicas=0", "replicas", "take 1 to"},
		{"sharding=zero", "sharding", "take full"},
		{"replicas=2", "replicas", "give --sharding full"},
		{"reduce-scatter=hook replicas=2", "replicas", "give --sharding full"},
		{"sharding=full replica-sync=last", "replica-sync", "give --replicas"},
		{"sharding=full replicas=2 replica-sync=every-micro-batch", "replica-sync", "take --sync every-micro-batch"},
		{"reshard-after-forward=false", "reshard-after-forward", "give --sharding full"},
		{"activation-checkpoint=full model=mlp", "activation-checkpoint", "take --model gpt"},
		{"optimizer=dist-adam scale=optimizer", "scale", "take loss or pass"},
		{"matrix-optimizer=muon scale=optimizer", "scale", "take loss or pass"},
		{"matrix-optimizer=adamw", "matrix-optimizer", "take sgd, muon"},
		{"momentum=1", "momentum", "take 0 to"},
		{"model=gpt3", "model", "take gpt, mlp, gpt2,"},
		{"model=llama-3.1-8b", "width", "take a smaller"},
		{"model=llama kv-heads=3", "kv-heads", "take a divisor of --heads"},
		{"model=llama width=20", "heads", "take heads of an even number"},
		{"model=gpt kv-heads=2", "kv-heads", "leave it out"},
		{"model=gpt2 sequence-length=1025", "sequence-length", "knows 1024 positions"},
		{"model=llama tied-head=maybe", "tied-head", "take yes, no"},
		{"heads=3", "heads", "take a divisor"},
		{"adam-every=2 scale=pass", "adam-every", "take --scale loss"},
		{"adam-every=2 optimizer=sgd", "adam-every", "there is no Adam"},
		{"adam-every=0", "adam-every", "take 1 to"},
		{"token-counts=1,2", "token-counts", "of 1 ranks, --world-size is 2"},
		{"token-counts=1,2/3", "token-counts", "rank 1 has 1 micro-batches, rank 0 has 2"},
		{"token-counts=1,x/3,4", "token-counts", `"x" of rank 0 is no count`},
		{"token-counts=1,-2/3,4", "token-counts", `"-2"`},
		{"token-counts=1,2/3,700", "token-counts",
			"700 tokens of rank 1 do not fit into 4 rows with 127 targets; raise --sequence-length to 176"},
		{"straggler=2=3", "straggler", "ranks are 0 to 1"},
		{"straggler=1=0.5", "straggler", "factors 1 to 1000"},
		{"straggler=1=NaN", "straggler", "no rank=factor"},
		{"straggler=fast", "straggler", "no rank=factor"},
		{"loader-delay=2=20ms", "loader-delay", "ranks are 0 to 1"},
		{"loader-delay=x=20ms", "loader-delay", `"x=20ms" is no time, nor rank=time`},
		{"launch-delay=20", "launch-delay", "--launch-delay 1=20ms"},
		{"host-delay=-1ms", "host-delay", "times up to 1m0s"},
		{"host-delay=1=2h", "host-delay", "times up to 1m0s"},
		{"read-loss=often", "read-loss", "take step, micro-batch"},
		{"normalization=global-ish", "normalization", "take global, per-rank, micro-mean, sum"},
		{"plant=GS999", "plant", "GS001"},
		{"world-size=0", "world-size", "out of range"},
		{"max-steps=0", "max-steps", "out of range"},
		{"heads=5", "heads", "5 heads do not divide a width of 64"},
		{"lr=NaN", "lr", "NaN is out of range"},
		{"world-size=10000000", "world-size", "10000000 is out of range"},
		{"max-steps=0", "max-steps", "0 is out of range"},
		{"fused-swiglu=true", "fused-swiglu", "the MLP of a gpt has no gate"},
		{"beta1=1", "beta1", "out of range"},
		{"clip-grad-norm=-1", "clip-grad-norm", "out of range"},
		{"clip-grad-norm=+Inf", "clip-grad-norm", "out of range"},
		{"width=65536", "width", "2 ranks of this model want about"},
		{"sequence-length=1000000", "width", "--sequence-length"},
		{"vocabulary=10000000 width=8192", "width", "GB"},
		{"dtype=bfloat16", "dtype", "take float32 or float64, or another --device"},
	} {
		o := reference.Defaults()
		apply(t, &o, c.changes)
		var refused *reference.OptionError
		err := o.Validate()
		if !errors.As(err, &refused) || refused.Option != c.option || !strings.Contains(asFlags(err), c.words) {
			t.Errorf("%s: %v, want --%s: ... %s", c.changes, err, c.option, c.words)
		}
		if strings.Contains(err.Error(), "--") {
			t.Errorf("%s: a library has no flags: %v", c.changes, err)
		}
	}
}

// asFlags is an error with the options that it names as the command line has them.
func asFlags(err error) string {
	return reference.RewriteOptions(err.Error(), func(name string) string { return "--" + name })
}

// What is no name of an option stays as it is.
func TestRewriteOptions(t *testing.T) {
	for text, want := range map[string]string{
		"":                                   "",
		"take `scale` loss without `seed`":   "take <scale> loss without <seed>",
		"`scale`":                            "<scale>",
		"`scale":                             "`scale",
		"no fault of the name a`B`c or ``":   "no fault of the name a`B`c or ``",
		"`optimizer-in-backward`: leave out": "<optimizer-in-backward>: leave out",
	} {
		if got := reference.RewriteOptions(text, func(name string) string { return "<" + name + ">" }); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// What looks alike and is right is allowed.
func TestAllowed(t *testing.T) {
	for _, changes := range []string{
		"", "scale=skip world-size=1 global-batch-size=-1", "scale=skip token-counts=7/7",
		"normalization=per-rank scale=pass world-size=1",
		"normalization=per-rank scale=pass reduce-scatter=step",
		"grad-reduction=sum sync=every-micro-batch grad-sync=reduce-then-accumulate",
		"grad-reduction=sum sync=every-micro-batch global-batch-size=-1",
		"optimizer-in-backward=true global-batch-size=-1", "straggler=1=2.5",
		"all-reduce=step sync=every-micro-batch global-batch-size=-1",
		"normalization=per-rank scale=pass all-reduce=step", "reduce-loss=true world-size=1",
		"loader-delay=1=20ms launch-delay=1us host-delay=0s",
	} {
		o := reference.Defaults()
		apply(t, &o, changes)
		if err := o.Validate(); err != nil {
			t.Errorf("%s: %v", changes, err)
		}
	}
	for _, plant := range reference.Plants() {
		o := reference.Defaults()
		apply(t, &o, "plant="+plant)
		if o.Validate() != nil {
			o.Target = sim.Backend{}.Traits() // it shows on a GPU only
		}
		if err := o.Validate(); err != nil || reference.AboutPlant(plant) == "" {
			t.Errorf("%s: %v, about %q", plant, err, reference.AboutPlant(plant))
		}
	}
}

func TestSet(t *testing.T) {
	o := reference.Defaults()
	if err := o.Set("max-steps", "many"); err == nil || !strings.Contains(asFlags(err), `--max-steps: "many"`) {
		t.Error(err)
	}
	if err := o.Set("maxsteps", "1"); err == nil {
		t.Error("an option that is none")
	}
	var names []string
	for _, f := range o.Fields() {
		if f.Usage == "" || strings.Contains(f.Usage, "--") || slices.Contains(names, f.Name) {
			t.Errorf("--%s: %q", f.Name, f.Usage)
		}
		names = append(names, f.Name)
	}
}

// The options in force are those with the plant's own.
func TestEffective(t *testing.T) {
	o := reference.Defaults()
	apply(t, &o, "plant=AC004")
	got, err := o.Effective()
	if err != nil || got.GradSync != "reduce-then-accumulate" || got.ReduceScatter != "hook" ||
		got.Sync != "every-micro-batch" || got.Scale != "loss" {
		t.Errorf("%+v %v", got, err)
	}
}

// What ranks share, and what they do not save, counts once.
func TestMemoryOfShards(t *testing.T) {
	for options, fits := range map[string]bool{
		"":              false,
		"sharding=full": true,
		"sharding=full reshard-after-forward=false":                              false,
		"sharding=full replicas=4":                                               false,
		"sharding=full global-batch-size=32":                                     false, // gradients stay whole
		"sharding=full sequence-length=2048 heads=64":                            false,
		"sharding=full sequence-length=2048 heads=64 activation-checkpoint=full": true,
	} {
		o := reference.Defaults()
		apply(t, &o, "layers=16 width=4096 world-size=4 local-batch-size=1 global-batch-size=-1 vocabulary=100")
		apply(t, &o, options)
		if err := o.Validate(); (err == nil) != fits {
			t.Errorf("%q: %v", options, err)
		}
	}
}

// Where tensors have shapes only, what is not given is that of a job on GPUs; sizes of zero are those of the model.
func TestFillOn(t *testing.T) {
	gpus := device.Traits{Name: "sim", Types: []device.DType{device.F32, device.BF16}, Shapes: true, Node: 4}
	for _, c := range []struct {
		target device.Traits
		given  string
		want   string
	}{
		{device.Plain(), "", "gpt float32 2 ranks 4 rows 4 micro-batches, buckets of 65536"},
		{gpus, "", "gpt2 bfloat16 4 ranks 32 rows 4 micro-batches, buckets of 26214400"},
		{gpus, "world-size=64 dtype=float32", "gpt2 float32 64 ranks 32 rows 4 micro-batches, buckets of 26214400"},
		{gpus, "model=llama-3.1-8b global-batch-size=-1", "llama-3.1-8b bfloat16 4 ranks 2 rows 1 micro-batches, " +
			"buckets of 26214400"},
		{gpus, "model=gpt local-batch-size=4 global-batch-size=32 world-size=2 bucket-bytes=65536",
			"gpt bfloat16 2 ranks 4 rows 4 micro-batches, buckets of 65536"},
	} {
		o := reference.Defaults()
		apply(t, &o, c.given)
		o.FillOn(c.target, func(name string) bool { return strings.Contains(" "+c.given, " "+name+"=") })
		full, err := o.Effective()
		if err != nil {
			t.Errorf("%s: %v", c.given, err)
			continue
		}
		micros, _ := o.Accumulation()
		got := fmt.Sprintf("%s %s %d ranks %d rows %d micro-batches, buckets of %d", full.Model, full.DType,
			full.WorldSize, full.LocalBatchSize, micros, full.BucketBytes)
		if got != c.want || full.GlobalBatchSize >= 0 && full.GlobalBatchSize !=
			micros*full.WorldSize*full.LocalBatchSize {
			t.Errorf("%s: %s and %d rows a step, want %s", c.given, got, full.GlobalBatchSize, c.want)
		}
	}
}
