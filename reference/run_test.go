package reference_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/reference"
	"github.com/gaprof/gaprof/reference/cpu"
	"github.com/gaprof/gaprof/reference/cpu/simd"
	"github.com/gaprof/gaprof/reference/device"
)

// small are options of a run that takes milliseconds.
func small(t *testing.T, changes ...string) reference.Options {
	t.Helper()
	o := reference.Defaults()
	o.Layers, o.Width, o.Heads, o.SequenceLength, o.LocalBatchSize, o.MaxSteps = 1, 8, 2, 24, 2, 2
	o.GlobalBatchSize, o.BucketBytes, o.DType = 16, 2000, "float64"
	for _, change := range changes {
		name, value, ok := strings.Cut(change, "=")
		if !ok {
			continue
		}
		if err := o.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	return o
}

// trained is what a run leaves.
type trained struct {
	result    reference.Result
	steps     []reference.StepResult
	gradients map[[2]int][]reference.Tensor // by rank and step
	weights   map[int][]reference.Tensor
	messages  []string
}

func train(t *testing.T, o reference.Options, d reference.Data, b device.Backend) *trained {
	t.Helper()
	if d == nil {
		var err error
		if d, err = reference.NewText(o); err != nil {
			t.Fatal(err)
		}
	}
	got := &trained{gradients: make(map[[2]int][]reference.Tensor), weights: make(map[int][]reference.Tensor)}
	var err error
	got.result, err = reference.Run(t.Context(), o, b, d, reference.Callbacks{
		Step:      func(s reference.StepResult) { got.steps = append(got.steps, s) },
		Gradients: func(rank, step int, list []reference.Tensor) { got.gradients[[2]int{rank, step}] = list },
		Weights:   func(rank int, list []reference.Tensor) { got.weights[rank] = list },
		Message:   func(text string) { got.messages = append(got.messages, text) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// apart returns the largest max|a-b|/max|b| over two lists of tensors.
func apart(a, b []reference.Tensor) float64 {
	most := 0.0
	for i := range a {
		diff, size := 0.0, 0.0
		for j, v := range a[i].Values {
			diff, size = math.Max(diff, math.Abs(v-b[i].Values[j])), math.Max(size, math.Abs(b[i].Values[j]))
		}
		if math.IsNaN(diff) || diff > most*size {
			most = diff / size
		}
	}
	if len(a) != len(b) {
		return math.Inf(1)
	}
	return most
}

// All ways to the global mean give the same weights on all ranks, whatever the order
// and place of reductions.
func TestGlobalWaysAgree(t *testing.T) {
	for _, counts := range []string{"", "token-counts=20,0,7,1/3,46,0,2", "token-counts=0,0/9,4"} {
		want := train(t, small(t, counts), nil, cpu.Backend{Poison: true})
		for _, way := range []string{
			"scale=pass", "scale=foreach", "scale=optimizer", "scale=pass sync=every-micro-batch",
			"loss-reduction=sum", "grad-reduction=sum",
			"backward=step", "backward=step reduce-scatter=step", "reduce-scatter=hook",
			"reduce-scatter=step step-order=reverse", "reduce-scatter=step step-order=explicit",
			"reduce-scatter=step scale=pass", "reduce-scatter=hook scale=pass", "grad-sync=reduce-then-accumulate",
			"grad-sync=reduce-then-accumulate sync=every-micro-batch",
			"grad-sync=reduce-then-accumulate sync=every-micro-batch scale=foreach grad-reduction=sum",
			"bucket-bytes=0", "bucket-bytes=100000000", "gradient-as-bucket-view=false",
			"gradient-as-bucket-view=false sync=every-micro-batch scale=pass",
			"gradient-as-bucket-view=false grad-reduction=sum backward=step",
			"all-reduce=step", "all-reduce=step scale=optimizer",
			"all-reduce=step scale=pass grad-reduction=sum gradient-as-bucket-view=false",
			"all-reduce=step backward=step reduce-loss=true",
			"scale=clip clip-grad-norm=1e9", "scale=clip clip-grad-norm=1e9 foreach-clip=false reduce-loss=true",
			"backward=step grad-sync=reduce-then-accumulate scale=optimizer",
			"read-loss=micro-batch empty-cache=true", "read-loss=micro-batch backward=step", "read-loss=step",
			"launch-delay=1us loader-delay=1=1us",
			"sharding=full", "sharding=full sync=every-micro-batch scale=foreach clip-grad-norm=1e9",
			"sharding=full replicas=2 reshard-after-forward=false", "activation-checkpoint=full",
			"plant=GS004", "plant=GS006", "plant=AC002", // what they do changes nothing but the time
		} {
			t.Run(counts+" "+way, func(t *testing.T) {
				got := train(t, small(t, append(strings.Fields(way), counts)...), nil, cpu.Backend{Poison: true})
				for rank := range 2 {
					if off := apart(got.weights[rank], want.weights[0]); !(off < 1e-9) {
						t.Errorf("rank %d: weights are off by %.2g", rank, off)
					}
					for step := range 2 {
						if off := apart(got.gradients[[2]int{rank, step}],
							want.gradients[[2]int{0, step}]); !(off < 1e-9) {
							t.Errorf("rank %d step %d: gradients are off by %.2g", rank, step, off)
						}
					}
				}
				if math.Abs(got.steps[1].Loss-want.steps[1].Loss) > 1e-10 {
					t.Errorf("loss %v, want %v", got.steps[1].Loss, want.steps[1].Loss)
				}
			})
		}
	}
}

// Norms that are reduced one by one clip as one that is reduced once does.
func TestNormOneByOne(t *testing.T) {
	run := func(options string) *trained {
		return train(t, small(t, strings.Fields(options)...), nil, cpu.Backend{Poison: true})
	}
	free, once := run("reduce-scatter=hook"), run("reduce-scatter=hook clip-grad-norm=0.05")
	each := run("plant=CL002")
	if off := apart(each.weights[1], once.weights[1]); !(off < 1e-9) {
		t.Errorf("weights are off by %.2g", off)
	}
	if apart(free.weights[1], once.weights[1]) < 1e-6 {
		t.Error("nothing is clipped, so this test shows nothing")
	}
}

// Two ranks with two micro-batches are one rank with four.
func TestRanksAreMicroBatches(t *testing.T) {
	two := train(t, small(t, "token-counts=20,1/7,33"), nil, cpu.Backend{})
	o := small(t, "token-counts=20,1/7,33")
	text, err := reference.NewText(o)
	if err != nil {
		t.Fatal(err)
	}
	var list []reference.Batch
	for step := range o.MaxSteps {
		for rank := range 2 {
			list = append(list, text.Batch(rank, 2*step), text.Batch(rank, 2*step+1))
		}
	}
	one := train(t, small(t, "world-size=1", "global-batch-size=8"),
		reference.Batches{Words: text.Vocabulary(), Ranks: [][]reference.Batch{list}}, cpu.Backend{})
	if off := apart(two.weights[1], one.weights[0]); !(off < 1e-9) || len(one.steps) != 2 {
		t.Errorf("off by %.2g after %d steps", off, len(one.steps))
	}
}

// sameBits tells whether tensors are the same to the bit.
func sameBits(a, b []reference.Tensor) bool {
	return slices.EqualFunc(a, b, func(x, y reference.Tensor) bool {
		return slices.EqualFunc(x.Values, y.Values, func(v,
			w float64) bool {
			return math.Float64bits(v) == math.Float64bits(w)
		})
	})
}

// Two runs are equal to the bit, with other memory and another number of cores too.
func TestBitsRepeat(t *testing.T) {
	for _, way := range []string{"dtype=float32", "dtype=float32 reduce-scatter=hook scale=pass clip-grad-norm=0.5",
		"grad-sync=reduce-then-accumulate sync=every-micro-batch",
		"dtype=float32 world-size=3 global-batch-size=12 reduce-scatter=step step-order=explicit",
		"sharding=full layers=3 sync=every-micro-batch activation-checkpoint=full",
		"sharding=full layers=3 world-size=4 replicas=2 clip-grad-norm=0.5 dtype=float32",
		"sharding=full backward=step reshard-after-forward=false",
	} {
		first := train(t, small(t, strings.Fields(way)...), nil, cpu.Backend{})
		for _, b := range []cpu.Backend{{}, {Poison: true}, {Cores: 1}, {Cores: 4}} {
			again := train(t, small(t, strings.Fields(way)...), nil, b)
			for key, list := range first.gradients {
				if !sameBits(list, again.gradients[key]) {
					t.Errorf("%s, %+v: gradients of rank and step %v differ", way, b, key)
				}
			}
			for rank := range first.weights {
				if !sameBits(first.weights[rank], again.weights[rank]) ||
					!sameBits(first.weights[0], first.weights[rank]) {
					t.Errorf("%s, %+v: weights of rank %d differ", way, b, rank)
				}
			}
		}
	}
}

// Neither do the instructions of the machine matter.
func TestBitsOnEveryMachine(t *testing.T) {
	for _, way := range []string{
		"dtype=float32 model=gpt width=40 clip-grad-norm=0.5", "dtype=float64 model=gpt width=40",
		"dtype=float32 model=mlp optimizer=sgd",
	} {
		var plain *trained
		for _, level := range simd.Levels() {
			back := simd.Use(level)
			run := train(t, small(t, strings.Fields(way)...), nil, cpu.Backend{})
			back()
			if level == simd.Plain {
				plain = run
			} else if !sameBits(plain.weights[0], run.weights[0]) {
				t.Errorf("%s: %s gives other weights than plain Go", way, level)
			}
		}
	}
}

// A rank, or all, may have no token in a micro-batch, or in a step: nothing is NaN.
func TestEmptyMicroBatches(t *testing.T) {
	for _, counts := range []string{"0,5/3,0", "0,0/0,9", "0/0"} {
		for _, way := range []string{"", "scale=pass", "normalization=per-rank", "normalization=micro-mean",
			"normalization=sum", "scale=clip clip-grad-norm=1", "loss-reduction=sum"} {
			got := train(t, small(t, append(strings.Fields(way), "token-counts="+counts)...), nil,
				cpu.Backend{Poison: true})
			for rank, list := range got.weights {
				for _, w := range list {
					if slices.ContainsFunc(w.Values, math.IsNaN) {
						t.Errorf("%s %s: %s of rank %d has NaN", counts, way, w.Name, rank)
					}
				}
			}
			for _, s := range got.steps {
				if math.IsNaN(s.Loss) || math.IsNaN(s.Logged) {
					t.Errorf("%s %s: loss %v, logged %v", counts, way, s.Loss, s.Logged)
				}
			}
		}
	}
	got := train(t, small(t, "token-counts=0/0", "max-steps=1"), nil, cpu.Backend{})
	for _, g := range got.gradients[[2]int{0, 0}] {
		if !slices.Equal(g.Values, make([]float64, len(g.Values))) {
			t.Errorf("%s has a gradient without a token", g.Name)
		}
	}
}

// shortened is data that ends, rank by rank.
type shortened struct {
	reference.Data
	lens []int
}

func (s shortened) Len(rank int) int { return s.lens[rank] }

func TestDataEnds(t *testing.T) {
	o := small(t, "max-steps=5") // four micro-batches a step
	text, err := reference.NewText(o)
	if err != nil {
		t.Fatal(err)
	}
	whole := train(t, small(t, "max-steps=2"), nil, cpu.Backend{})
	for _, c := range []struct {
		lens    []int
		steps   int
		end     string
		message string
	}{
		{[]int{8, 8}, 2, reference.EndData, ""},
		{[]int{11, 11}, 2, reference.EndData, "last step was canceled"},
		{[]int{8, 30}, 2, reference.EndData, "last step was canceled"},
		{[]int{3, 3}, 0, reference.EndData, "last step was canceled"},
		{[]int{20, 20}, 5, reference.EndSteps, ""},
		{[]int{23, 21}, 5, reference.EndSteps, ""},
	} {
		got := train(t, o, shortened{text, c.lens}, cpu.Backend{})
		if got.result.Steps != c.steps || len(got.steps) != c.steps || got.result.End != c.end {
			t.Errorf("%v: %d steps, %d told, ended by %s", c.lens, got.result.Steps, len(got.steps), got.result.End)
		}
		if message := strings.Join(got.messages, "; "); !strings.Contains(message, c.message) ||
			(message == "") != (c.message == "") {
			t.Errorf("%v: %q", c.lens, message)
		}
		if c.steps == 2 && !sameBits(got.weights[1], whole.weights[1]) {
			t.Errorf("%v: the steps that were done are not those of a run of two", c.lens)
		}
	}
	if _, err := reference.Run(t.Context(), o, cpu.Backend{}, shortened{text, []int{8, 0}},
		reference.Callbacks{}); err == nil || !strings.Contains(err.Error(), "no data for rank 1") {
		t.Errorf("a rank without data: %v", err)
	}
}

// A cancelled run ends, on all ranks after the same step, and has told of each.
func TestCancel(t *testing.T) {
	o := small(t, "max-steps=100000", "world-size=3", "global-batch-size=12")
	text, _ := reference.NewText(o)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	steps, weights := 0, make(map[int][]reference.Tensor)
	result, err := reference.Run(ctx, o, cpu.Backend{}, text, reference.Callbacks{
		Step: func(s reference.StepResult) {
			if steps++; steps == 3 {
				cancel()
			}
		},
		Weights: func(rank int, list []reference.Tensor) { weights[rank] = list },
	})
	if err != nil || result.End != reference.EndCancel || result.Steps != steps || steps < 3 || steps > 1000 {
		t.Errorf("%+v after %d steps, error %v", result, steps, err)
	}
	if !sameBits(weights[0], weights[2]) {
		t.Error("ranks have not ended together")
	}
}

// broken has a token outside the vocabulary on one rank.
type broken struct{ reference.Data }

func (b broken) Batch(rank, i int) reference.Batch {
	batch := b.Data.Batch(rank, i)
	if rank == 1 && i == 5 {
		batch.Tokens[0] = 1000
	}
	return batch
}

// A rank that cannot go on does not leave the others waiting.
func TestOneRankFails(t *testing.T) {
	o := small(t)
	text, _ := reference.NewText(o)
	_, err := reference.Run(t.Context(), o, cpu.Backend{}, broken{text}, reference.Callbacks{})
	if err == nil || strings.Count(err.Error(), "rank 1, step 1, micro-batch 1: token 1000") != 1 {
		t.Error(err)
	}
}

// AdamW every second step has the gradients of two.
func TestAdamEvery(t *testing.T) {
	every := train(t, small(t, "adam-every=2", "max-steps=2"), nil, cpu.Backend{Poison: true})
	if n := len(every.gradients[[2]int{0, 0}]); n != 6 {
		t.Errorf("%d parameters step at first, want the 6 matrices", n)
	}
	if n := len(every.gradients[[2]int{0, 1}]); n != 17 {
		t.Errorf("%d parameters step at second, want all", n)
	}
	for _, way := range []string{"sync=every-micro-batch", "grad-reduction=sum", "all-reduce=step",
		"reduce-scatter=hook", "reduce-scatter=step", "grad-sync=reduce-then-accumulate sync=every-micro-batch"} {
		got := train(t, small(t, append(strings.Fields(way), "adam-every=2", "max-steps=2")...), nil,
			cpu.Backend{Poison: true})
		if off := apart(got.weights[0], every.weights[0]); !(off < 1e-9) {
			t.Errorf("%s: off by %.2g", way, off)
		}
	}
}

// The optimizer in backward does what it does behind it.
func TestOptimizerInBackward(t *testing.T) {
	for _, world := range []string{"world-size=1", "world-size=2"} {
		behind := train(t, small(t, world, "global-batch-size=-1", "max-steps=3"), nil, cpu.Backend{Poison: true})
		in := train(t, small(t, world, "global-batch-size=-1", "max-steps=3", "optimizer-in-backward=true"), nil,
			cpu.Backend{Poison: true})
		if off := apart(in.weights[0], behind.weights[0]); !(off < 1e-9) {
			t.Errorf("%s: off by %.2g", world, off)
		}
	}
}

// The loss of a small model goes down.
func TestLearns(t *testing.T) {
	for _, model := range []string{"gpt", "mlp"} {
		got := train(t, small(t, "model="+model, "max-steps=30", "dtype=float32", "lr=0.03"), nil, cpu.Backend{})
		first, last := got.steps[0].Loss, got.steps[len(got.steps)-1].Loss
		if !(math.Abs(first-math.Log(257)) < 0.1 && last < 4) {
			t.Errorf("%s: loss %v to %v", model, first, last)
		}
	}
}

// Clipping one by one is clipping at once, to the bit.
func TestForeachClip(t *testing.T) {
	for _, way := range []string{"", "scale=clip", "reduce-scatter=hook"} {
		changes := append(strings.Fields(way), "clip-grad-norm=0.05")
		once := train(t, small(t, changes...), nil, cpu.Backend{Poison: true})
		each := train(t, small(t, append(changes, "foreach-clip=false")...), nil, cpu.Backend{Poison: true})
		if !sameBits(once.weights[1], each.weights[1]) || !(each.steps[0].Ranks[1].ClipCoef < 1) {
			t.Errorf("%s: weights differ, or nothing is clipped: %v", way, each.steps[0].Ranks[1].ClipCoef)
		}
	}
}

// The loss that is reduced for the log is that of all tokens of all ranks.
func TestReduceLoss(t *testing.T) {
	for _, way := range []string{"", "scale=pass", "loss-reduction=sum", "backward=step", "world-size=1"} {
		for _, s := range train(t, small(t, append(strings.Fields(way), "reduce-loss=true")...), nil,
			cpu.Backend{Poison: true}).steps {
			for _, r := range s.Ranks {
				if want := s.Loss * float64(s.Tokens); !(math.Abs(r.ReducedLoss-want) < 1e-9*want) ||
					math.Abs(s.Logged-s.Loss) > 1e-9 {
					t.Errorf("%s step %d: rank %d has %v, want %v; logged %v of %v", way, s.Step, r.Rank,
						r.ReducedLoss, want, s.Logged, s.Loss)
				}
			}
		}
	}
}

// Given token counts are those of every step.
func TestTokenCounts(t *testing.T) {
	got := train(t, small(t, "token-counts=20,0,7/3,46,2"), nil, cpu.Backend{})
	for _, s := range got.steps {
		if text := fmt.Sprint(s.Ranks[0].Tokens, s.Ranks[1].Tokens, s.Tokens, s.Ranks[1].LocalTokens,
			s.Ranks[1].GlobalTokens); text != "[20 0 7] [3 46 2] 78 51 78" {
			t.Error(text)
		}
	}
}
