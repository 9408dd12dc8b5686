package main

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/reference"
	"github.com/gaprof/gaprof/reference/kineto"
	"github.com/gaprof/gaprof/reference/sim"
	"github.com/gaprof/gaprof/trace/text"
)

// simulated runs options on a simulated machine.
func simulated(t testing.TB, preset, figures, options string) *trained {
	t.Helper()
	m, err := sim.Lookup(preset)
	if err == nil && figures != "" {
		err = m.Set(figures)
	}
	if err != nil {
		t.Fatal(err)
	}
	o := reference.Defaults()
	o.GlobalBatchSize = -1
	for _, change := range strings.Fields(options) {
		name, value, _ := strings.Cut(change, "=")
		if err := o.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	job := &trainJob{options: o, window: kineto.All, backend: sim.Backend{Machine: m}}
	run, err := job.train(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// gpt2 is GPT-2 124M, with 16 rows of 1024 tokens on each rank.
const gpt2 = "layers=12 width=768 heads=12 sequence-length=1024 vocabulary=50304 dtype=bfloat16 local-batch-size=16 " +
	"bucket-bytes=25000000 "

// A clean run on simulated GPUs has nothing above a note, on 2 ranks and on 8.
func TestSimulatedClean(t *testing.T) {
	for _, options := range []string{"world-size=2 global-batch-size=128", "world-size=8 global-batch-size=512"} {
		run := simulated(t, "h100x8", "", gpt2+"max-steps=4 "+options)
		for _, f := range run.report().Findings {
			if f.Severity != "note" {
				t.Errorf("%s: %s %s: %s", options, f.Rule, f.Severity, f.Message)
			}
		}
	}
}

// The scale pass of torchtune issue 2515, Llama-3.1-8B at 2 TB/s: 32.1 GB in 16.06 ms at the least. It
// was seen to take 42.5 ms of 800; what may have caused that is told apart, with what it costs.
func TestSimulatedScalePass(t *testing.T) {
	const llama = "model=llama-3.1-8b sequence-length=600 local-batch-size=16 dtype=bfloat16 master-weights=false " +
		"world-size=1 max-steps=4 scale=pass read-loss=micro-batch"
	for _, c := range []struct {
		figures  string
		from, to int64   // ns that the pass costs
		share    float64 // of the step
		why      string
	}{
		{"", 16_500_000, 16_700_000, 0.021, ""},
		{",eager=146us", 42_500_000, 43_500_000, 0.053, "launch-bound: 63 % of its span is gaps between 291 kernels"},
		{",scale=756GB/s", 42_500_000, 43_500_000, 0.053, "not vectorized: it moves 754 of 4800 GB/s"},
	} {
		run := simulated(t, "h200", "hbm=2.0TB/s,elementwise=1"+c.figures, llama)
		f := run.report().Findings[0]
		if f.Rule != "GS001" || *f.Cost < c.from || *f.Cost > c.to || math.Abs(*f.Share-c.share) > 0.0006 ||
			f.Saving.High > *f.Cost || f.Saving.Low < *f.Cost/100*98 || !strings.HasSuffix(f.Why, c.why) {
			t.Errorf("%s: %s %d ns, %.4f of the step, saves %+v: %s", c.figures, f.Rule, *f.Cost, *f.Share, *f.Saving,
				f.Why)
		}
		if c.why == "" && regexp.MustCompile("launch-bound|vectorized").MatchString(f.Why) {
			t.Errorf("%s: %s", c.figures, f.Why)
		}
	}
}

// A small run, event by event: the second rank, for which the first one stands.
func TestSimulatedGolden(t *testing.T) {
	run := simulated(t, "h200x2@ib-hdr", "", "model=mlp width=64 sequence-length=64 world-size=4 max-steps=1 "+
		"dtype=bfloat16 reduce-scatter=hook")
	var b strings.Builder
	if err := text.Write(&b, run.trace(1)); err != nil {
		t.Fatal(err)
	}
	options := regexp.MustCompile(`(?m)^extra "gaprof".*\n`)
	compareGolden(t, filepath.Join("testdata", "simulated.txt"), options.ReplaceAllString(b.String(), ""))
}

// What gaprof train writes of a simulation: the same bytes every time, logs without losses.
func TestSimulatedFolder(t *testing.T) {
	flags := strings.Fields("train --device sim:h100x8 --world-size 3 --global-batch-size -1 --max-steps 2 -q " +
		"--layers 2")
	var first map[string]string
	for range 2 {
		dir := filepath.Join(t.TempDir(), "run")
		code, out, stderr := runWith("", append(slices.Clone(flags), "-o", dir)...)
		if code != 0 || !strings.Contains(out, "simulated gpt2 on 3 ranks, 2 of 2 steps") ||
			!strings.Contains(out, "s of simulated time, ") {
			t.Fatalf("%d: %s%s", code, out, stderr)
		}
		files := make(map[string]string)
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			data, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			files[e.Name()] = string(data)
		}
		if len(files) != 5 || strings.Contains(files["loss.jsonl"], "loss_sum") || files["rank1.json.gz"] == "" {
			t.Fatalf("%d files", len(files))
		}
		if first == nil {
			first = files
		}
		for name := range files {
			if files[name] != first[name] {
				t.Errorf("%s differs", name)
			}
		}
	}
}

// What cannot be simulated is refused with what to do instead.
func TestSimulatedRefused(t *testing.T) {
	for _, c := range []struct{ flags, want string }{
		{"--device sim", "--device sim names no device"},
		{"--device sim:h10O", "did you mean h100?"},
		{"--device sim:H100", "did you mean h100?"},
		{"--device sim:rtx4090", "there is no device rtx4090; take one of a100, "},
		{"--device sim:none.yaml", "docs/simulation.md says what a file of presets has"},
		{"--device sim:h100 --set hmb=2TB/s", "there is no figure hmb; did you mean hbm?"},
		{"--device sim:h100 --set gpus-per-node=2.5", `gpus-per-node is a whole number: write 8, not "2.5"`},
		{"--device sim:h100x4 --model llama-3.1-8b --max-steps 2",
			"less is taken by --sharding full (weights, gradients and optimizer state are those of a shard), " +
				"--activation-checkpoint full"},
		{"--device sim:h100x4 --model llama-3.1-70b --sharding full --layers 40 --max-steps 2",
			"less is taken by --sync every-micro-batch (gradients are not kept whole), --activation-checkpoint full"},
		{"--device gpu", "--device gpu: there is no such device"},
		{"--device cpu:fast", "a cpu has no presets"},
		{"--set hbm=2TB/s", "--set changes a simulated machine"},
		{"--device sim:h100 --set hbm=2us", `"us" is no unit of that: write 2.0TB/s`},
		{"--device sim:h100 --set hbm=2TB/s --set hbm=3TB/s", "hbm is given twice"},
		{"--device sim:h100 -j 2", "a simulation computes nothing"},
		{"--device sim:h100 --gradients", "a simulation has no gradients"},
		{"--dtype bfloat16", "a cpu does not compute in bfloat16"},
		{"--device sim:a100 --layers 48 --width 4096 --heads 32 --world-size 1 --global-batch-size -1",
			"NVIDIA A100-SXM4-80GB has 85.0 GB, and the run wants "},
	} {
		dir := filepath.Join(t.TempDir(), "run")
		code, _, stderr := runWith("", append([]string{"train", "-o", dir, "--max-steps", "1"},
			strings.Fields(c.flags)...)...)
		if code != exitUsage || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: %d %s, want %q", c.flags, code, stderr, c.want)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%s: the folder is left", c.flags)
		}
	}
}
