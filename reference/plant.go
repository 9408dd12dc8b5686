package reference

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/gaprof/gaprof/reference/device"
)

// bug is a set of faults in the loop that no option can express. In the comments below,
// N is the number of tokens of a step, R of ranks, and A of micro-batches per rank.
type bug uint

const (
	noWorldFactor    bug = 1 << iota // 1/N on top of a mean over R ranks: gradients R times too small
	preshiftCount                    // tokens are counted before labels are shifted
	noRescale                        // mean losses are added without dividing by A
	backwardOutside                  // backward runs after the loop: for the last micro-batch only
	zeroEach                         // gradients are cleared before every backward
	zeroNever                        // gradients are not cleared
	scaleEach                        // gradients are divided by A after every backward
	clipEach                         // gradients are clipped after every backward
	divideWhole                      // gradients are divided by R before they are reduce-scattered as a sum
	scaleByOne                       // gradients are multiplied by the number one
	noSyncAround                     // no_sync is entered behind the forward pass, which has decided by then
	normEach                         // the norm of each gradient is all-reduced by itself
	partialWindow                    // the data ends mid-step, and the step is taken and divided by A regardless
	keepUsed                         // gradients consumed by an optimizer in backward are not cleared
	normLoop                         // clipping takes the norm of each gradient by itself
	normOnly                         // the norm is computed, and nothing is clipped
	clipTwice                        // gradients are clipped twice
	clipStrided                      // clipping multiplies gradients one by one, with a kernel that is not vectorized
	expertsElsewhere                 // other ranks compute the MLP of each block, all of them a part
	neighbours                       // the next rank computes the MLP of each block
	broadcastBuffers                 // a buffer of each block is broadcast before its forward pass
	compileLate                      // code is compiled in the first step that is recorded
	loseKernels                      // of the recording: some kernels are missing
	loseCollective                   // one collective of one rank is missing
	clockOff                         // the clock of one rank is off
	unnumbered                       // traces do not say whose they are
	anyway                           // a combination that is normally rejected is run
)

// ownRecording are the faults that make the recording of each rank one of its own.
const ownRecording = loseCollective | clockOff | unnumbered

// setting is an argument list of Options.Set. Token counts are those of one rank, for every rank; a
// global batch size that ends in x is that of so many micro-batches.
type setting struct{ name, value string }

// of is the value for options whose earlier settings are made.
func (s setting) of(o *Options) string {
	micros, ok := strings.CutSuffix(s.value, "x")
	switch {
	case s.name == "token-counts" && s.value != "":
		return s.value + strings.Repeat("/"+s.value, max(0, o.WorldSize-1))
	case s.name == "global-batch-size" && ok:
		n, _ := strconv.Atoi(micros)
		return strconv.Itoa(n * cmp.Or(o.LocalBatchSize, o.Rows()) * o.WorldSize)
	}
	return s.value
}

// plant is a deliberate fault: settings, plus what settings cannot express.
type plant struct {
	name     string
	about    string
	settings []setting
	bug      bug // tested where that trainer went wrong; 0 if settings suffice
}

// plants holds, first, one plant per rule, which should trigger that rule and no other;
// then the loops of other trainers whose faults no option can express.
var plants = []plant{
	{"GS001", "a scale pass at accumulation 1 on one rank",
		[]setting{{"world-size", "1"}, {"global-batch-size", "-1"}, {"token-counts", ""}, {"scale", "pass"}}, 0},
	{"GS002", "a scale pass that the loss could carry",
		[]setting{{"scale", "pass"}}, 0},
	{"GS003", "clipping multiplies gradients one by one, with a kernel that is not vectorized",
		[]setting{{"scale", "loss"}, {"clip-grad-norm", "0.05"}}, clipStrided},
	{"GS004", "whole gradients are divided by the ranks before they are reduce-scattered",
		[]setting{{"scale", "loss"}, {"reduce-scatter", "hook"}}, divideWhole},
	{"GS005", "gradients are clipped twice",
		shortKernels(setting{"clip-grad-norm", "0.05"}, setting{"width", "128"}, setting{"sequence-length", "16"},
			setting{"local-batch-size", "1"}), clipTwice},
	{"GS006", "gradients are multiplied by one",
		[]setting{{"scale", "loss"}}, scaleByOne},
	{"GS007", "zero_grad before every backward",
		[]setting{{"scale", "loss"}}, zeroEach},
	{"GS008", "zero_grad is forgotten",
		[]setting{{"scale", "loss"}}, zeroNever},
	{"AC001", "all-reduces in every micro-batch",
		[]setting{{"scale", "loss"}, {"sync", "every-micro-batch"}, {"reduce-scatter", ""}}, 0},
	{"AC002", "all-reduces in every micro-batch, though no_sync is around backward",
		[]setting{{"scale", "loss"}, {"sync", "every-micro-batch"}, {"reduce-scatter", ""}}, noSyncAround},
	{"AC003", "replicas of shards all-reduce them in every micro-batch",
		[]setting{{"scale", "loss"}, {"sync", "every-micro-batch"}, {"reduce-scatter", ""}, {"sharding", "full"},
			{"replicas", "2"}}, 0},
	{"AC004", "reduce-scatters in every micro-batch",
		[]setting{{"scale", "loss"}, {"sync", "every-micro-batch"},
			{"grad-sync", "reduce-then-accumulate"}, {"reduce-scatter", "hook"}}, 0},
	{"AC005", "one backward over all micro-batches",
		[]setting{{"scale", "loss"}, {"backward", "step"}}, 0},
	{"OV001", "the gradient of a large embedding, ready last, is reduce-scattered after backward",
		[]setting{{"scale", "loss"}, {"reduce-scatter", "hook"}, {"global-batch-size", "-1"}, {"token-counts", ""},
			{"vocabulary", "4096"}}, 0},
	{"OV004", "reduce-scatters inside the optimizer's step",
		[]setting{{"scale", "loss"}, {"reduce-scatter", "step"}}, 0},
	{"OV007", "buckets are reduced in the order of forward: the first is ready last",
		[]setting{{"scale", "loss"}, {"bucket-order", "forward"}, {"reduce-scatter", ""}}, 0},
	{"OV008", "all gradients are in one bucket, which is all-reduced when the last of them is ready",
		[]setting{{"scale", "loss"}, {"bucket-bytes", "1000000000"}, {"reduce-scatter", ""},
			{"global-batch-size", "-1"}, {"token-counts", ""}}, 0},
	{"OV009", "blocks are gathered when they are needed",
		[]setting{{"scale", "loss"}, {"layers", "2"}, {"sharding", "full"}, {"prefetch", "false"},
			{"reduce-scatter", ""}}, 0},
	{"OV010", "the next rank computes the MLP of each block, and is sent its input meanwhile",
		[]setting{{"scale", "loss"}}, neighbours},
	{"OV011", "the MLP of each block is computed by all ranks, each a part of the positions, as with experts",
		[]setting{{"scale", "loss"}}, expertsElsewhere},
	{"OV012", "a buffer of each block is broadcast before its forward pass",
		[]setting{{"scale", "loss"}}, broadcastBuffers},
	{"NM001", "each rank divides by its own tokens",
		[]setting{{"normalization", "per-rank"}, {"scale", "loss"}}, 0},
	{"NM002", "mean of micro-batch means",
		[]setting{{"normalization", "micro-mean"}, {"scale", ""}}, 0},
	{"NM003", "1/N on top of a mean over ranks",
		[]setting{{"scale", "loss"}}, noWorldFactor},
	{"NM004", "the last window is partial, and divided by all its micro-batches",
		[]setting{{"normalization", "micro-mean"},
			{"scale", ""}, {"token-counts", "60,60,60,60"}}, partialWindow},
	{"ST001", "rank 1 is slower",
		[]setting{{"straggler", "1=3"}}, 0},
	{"ST001-kernels", "the kernels of rank 1 take longer",
		[]setting{{"straggler", "1=3"}}, 0},
	{"ST001-data", "rank 1 loads its batches slowly, in the thread of its loop",
		shortKernels(setting{"world-size", "2"}, setting{"loader-delay", "1=40ms"}), 0},
	{"ST001-tokens", "rank 1 has three times as many tokens",
		[]setting{{"more-rows", "1=3"}}, 0},
	{"ID001", "batches are loaded in the thread of the loop, slowly",
		shortKernels(setting{"loader-delay", "25ms"}), 0},
	{"ID002", "the loss is read with item() before each step's logging, which would be hidden otherwise",
		shortKernels(setting{"local-batch-size", "8"}, setting{"read-loss", "step"}, setting{"host-delay", "2ms"}), 0},
	{"ID003", "cached memory is given back after every step and allocated anew in the next",
		shortKernels(setting{"empty-cache", "true"}), 0},
	{"ID004", "launching a kernel takes longer than running it",
		shortKernels(setting{"optimizer", "sgd"}, setting{"launch-delay", "200us"}), 0},
	{"ID005", "the host does something else between steps",
		shortKernels(setting{"host-delay", "25ms"}), 0},
	{"CL001", "clipping takes the norm of each gradient by itself, after the loss was waited for",
		[]setting{{"scale", "loss"}, {"clip-grad-norm", "0.05"}, {"read-loss", "backward"}}, normLoop},
	{"CL002", "clipping all-reduces the norm of each gradient by itself",
		[]setting{{"scale", "loss"}, {"reduce-scatter", "hook"}, {"clip-grad-norm", "0.05"}}, normEach},
	{"CL003", "the norm of all gradients is computed, and nothing is clipped",
		[]setting{{"scale", "loss"}, {"clip-grad-norm", "0.05"}}, normOnly},
	{"CL004", "gradients are clipped after every micro-batch",
		[]setting{{"scale", "loss"}, {"clip-grad-norm", "0.05"}}, clipEach},
	{"OP001", "the optimizer updates tensor by tensor, in nine operations, after the loss was waited for",
		[]setting{{"scale", "loss"}, {"optimizer", "dist-adam"}, {"read-loss", "backward"}}, 0},
	{"OP002", "the optimizer runs in every backward of an accumulation, on gradients that are kept",
		[]setting{{"world-size", "1"}, {"token-counts", ""},
			{"scale", "loss"}, {"optimizer-in-backward", "true"}}, keepUsed | anyway},
	{"ST002", "a collective is missing in the recording of rank 1",
		[]setting{{"scale", "loss"}, {"reduce-scatter", "hook"}}, loseCollective},
	{"TH001", "the program is killed while the trace of the last rank is written",
		[]setting{{"scale", "loss"}}, 0},
	{"TH002", "the profiler loses some kernels",
		[]setting{{"scale", "loss"}}, loseKernels},
	{"TH003", "traces do not say whose they are, nor do the names of their files",
		[]setting{{"scale", "loss"}}, unnumbered},
	{"TH004", "recording begins while the device works on what was launched before",
		[]setting{{"scale", "loss"}}, 0},
	{"TH005", "the clock of the host of rank 1 is off by 5 ms",
		[]setting{{"scale", "loss"}}, clockOff},
	{"TH006", "code is compiled in the first step that is recorded",
		[]setting{{"scale", "loss"}}, compileLate},

	{"torchtune_1917_merged", "1 / num_tokens in the scale pass, without the world size",
		[]setting{{"scale", "pass"}, {"sync", "every-micro-batch"}}, noWorldFactor},
	{"torchtune_2543", "token_count / num_tokens in the loss, without the world size",
		[]setting{{"scale", "loss"}, {"sync", "every-micro-batch"}}, noWorldFactor},
	{"tnt_1049_literal", "summed losses scaled by 1 / total_tokens on top of a mean over ranks",
		[]setting{{"scale", "pass"}, {"loss-reduction", "sum"}, {"sync", "last"}}, noWorldFactor},
	{"torchtune_2172_preshift_count", "tokens are counted before labels are shifted",
		[]setting{{"scale", "pass"}, {"sync", "every-micro-batch"}}, preshiftCount},
	{"micro_mean_no_rescale", "micro-batch means are added up",
		[]setting{{"normalization", "micro-mean"}, {"sync", "every-micro-batch"}}, noRescale},
	{"tnt_pre1049", "summed losses / accumulation steps",
		[]setting{{"normalization", "micro-mean"}, {"loss-reduction", "sum"}, {"sync", "last"}}, 0},
	{"ddp_sum_hook_sync_every_microbatch", "gradients that were already reduced are accumulated and summed over " +
		"ranks again",
		[]setting{{"scale", "pass"}, {"grad-reduction", "sum"}, {"sync", "every-micro-batch"}}, anyway},
	{"nathan_az_literal", "backward is called after the loop",
		[]setting{{"scale", "loss"}, {"sync", "every-micro-batch"}}, backwardOutside},
	{"zero_grad_each_microbatch", "zero_grad before every backward",
		[]setting{{"scale", "pass"}, {"sync", "every-micro-batch"}}, zeroEach},
	{"scale_each_microbatch_ema", "gradients are divided by A after every micro-batch",
		[]setting{{"scale", "pass"}, {"sync", "every-micro-batch"}}, scaleEach},
	{"accum1_skip_naive_distributed", "the shortcut for one rank, taken on several",
		[]setting{{"scale", "skip"}, {"global-batch-size", "-1"}}, anyway},
}

// shortKernels are the settings of one rank whose device has little to do beside what the
// host does and waits for nobody else, and more, which go before them.
func shortKernels(more ...setting) []setting {
	return append([]setting{{"scale", "loss"}, {"token-counts", ""}, {"world-size", "1"},
		{"global-batch-size", "-1"}, {"local-batch-size", "2"}, {"layers", "1"}, {"width", "32"},
		{"heads", "2"}, {"hidden", "0"}, {"sequence-length", "48"}}, more...)
}

// shardedInHooks is what faults of sharded gradients set where they are not sharded anyway.
var shardedInHooks = setting{"reduce-scatter", "hook"}

// longKernels are the settings of one rank whose simulated GPU has enough to do that its host is ahead of
// it, and more, which go before them: kernels of a model for a cpu take less than their launches there.
func longKernels(more ...setting) []setting {
	return append([]setting{{"scale", "loss"}, {"token-counts", ""}, {"world-size", "1"},
		{"global-batch-size", "-1"}, {"local-batch-size", "16"}, {"model", "gpt"}, {"layers", "4"}, {"width", "1024"},
		{"heads", "16"}, {"hidden", "0"}, {"sequence-length", "1024"}, {"vocabulary", "10240"}, {"dtype", "bfloat16"}},
		more...)
}

// simulated are the settings of plants that are others where a GPU is simulated.
var simulated = map[string][]setting{
	"ID002": longKernels(setting{"read-loss", "step"}, setting{"host-delay", "2ms"}),
	"ID003": longKernels(setting{"empty-cache", "true"}),
	"ID005": longKernels(setting{"host-delay", "25ms"}),
	"OV001": {{"scale", "loss"}, {"reduce-scatter", "hook"}, {"global-batch-size", "-1"}, {"token-counts", ""},
		{"vocabulary", "131072"}},
	// Kernels that are judged move several MB each: the tensors of a model without biases do.
	"GS003": {{"scale", "loss"}, {"clip-grad-norm", "0.05"}, {"token-counts", ""}, {"model", "llama-3.2-1b"},
		{"layers", "2"}, {"width", "0"}, {"heads", "0"}, {"kv-heads", "0"}, {"hidden", "0"}, {"vocabulary", "4096"},
		{"sequence-length", "1024"}, {"local-batch-size", "16"}, {"global-batch-size", "2x"}, {"dtype", "bfloat16"}},
	"GS005": {{"scale", "loss"}, {"clip-grad-norm", "0.05"}, {"token-counts", ""}, {"local-batch-size", "16"},
		{"global-batch-size", "3x"}},
	"OV009": {{"scale", "loss"}, {"sharding", "full"}, {"prefetch", "false"}, {"reduce-scatter", ""}},
	// Blocks compute long enough to be gathered and reduced beside.
	"AC003": {{"scale", "loss"}, {"sync", "every-micro-batch"}, {"reduce-scatter", ""}, {"sharding", "full"},
		{"replicas", "2"}, {"token-counts", ""}, {"local-batch-size", "64"}, {"global-batch-size", "4x"}},
}

// onlySimulated are the plants whose effect a cpu does not have: there a launch takes less than a kernel.
var onlySimulated = []string{"CL001", "OP001"}

// on are the settings of a plant on a backend.
func (p *plant) on(target device.Traits) []setting {
	if list := simulated[p.name]; target.Shapes && list != nil {
		return list
	}
	return p.settings
}

// Plants returns the names of all deliberate faults.
func Plants() []string {
	names := make([]string, len(plants))
	for i, p := range plants {
		names[i] = p.name
	}
	return names
}

// AboutPlant describes a deliberate fault; it returns "" for an unknown name.
func AboutPlant(name string) string {
	if i := slices.IndexFunc(plants, func(p plant) bool { return p.name == name }); i >= 0 {
		return plants[i].about
	}
	return ""
}

// planted returns the options with the settings of their plant applied, and its bug.
func (o Options) planted() (Options, bug, error) {
	if o.Plant == "" {
		return o, 0, nil
	}
	i := slices.IndexFunc(plants, func(p plant) bool { return p.name == o.Plant })
	if i < 0 {
		return o, 0, &OptionError{Option: "plant", Reason: "no fault of the name " + o.Plant}
	}
	if !o.Target.Shapes && slices.Contains(onlySimulated, o.Plant) {
		return o, 0, &OptionError{"plant", o.Plant + " shows on a GPU only", "take a simulated `device`"}
	}
	for _, s := range plants[i].on(o.Target) {
		if s == shardedInHooks && o.Sharding != "" {
			continue // full sharding reduces there, too
		}
		if err := o.Set(s.name, s.of(&o)); err != nil {
			return o, 0, err
		}
	}
	return o, plants[i].bug, nil
}
