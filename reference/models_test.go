package reference_test

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/reference"
	"github.com/gaprof/gaprof/reference/cpu"
	"github.com/gaprof/gaprof/reference/cpu/simd"
	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/reference/model"
	"github.com/gaprof/gaprof/reference/ops"
)

// torchRun is a network with the loss and gradients that PyTorch computes, as written by
// interop/models.py.
type torchRun struct {
	Model                        string
	Layers, Width, Heads, Hidden int
	KVHeads                      int `json:"kv_heads"`
	Rows, Length, Vocabulary     int
	Context                      int
	Theta                        float64
	Tied                         bool
	Loss                         float64
	Gradients                    []struct {
		Name     string
		Shape    []int
		Max, Sum float64   // largest magnitude; sum weighted by draw
		Some     []float64 // elements at equal distances
	}
}

func torchRuns(t *testing.T) []torchRun {
	t.Helper()
	text, err := os.ReadFile("testdata/models.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Runs []torchRun }
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	return file.Runs
}

// draw is element i of a parameter before it is scaled, in [-0.5, 0.5).
func draw(index, i int) float64 { return float64((i*7919+index*104729+12345)%1009)/1009 - 0.5 }

func torchWeight(name string, index, i int) float64 {
	v := draw(index, i)
	switch {
	case strings.Contains(name, "norm") || strings.Contains(name, "ln_") && strings.HasSuffix(name, "weight"):
		return 1 + 0.2*v
	case strings.HasSuffix(name, "bias"):
		return 0.2 * v
	}
	return 0.8 * v
}

func (r torchRun) weights() map[string][]float64 {
	weights := make(map[string][]float64)
	for k, g := range r.Gradients {
		values := make([]float64, device.Elements(g.Shape))
		for i := range values {
			values[i] = torchWeight(g.Name, k, i)
		}
		weights[g.Name] = values
	}
	return weights
}

func (r torchRun) batch() reference.Batches {
	var b reference.Batch
	for row := range r.Rows {
		for i := range r.Length {
			b.Tokens = append(b.Tokens, int64((5*row+3*i+i*i)%r.Vocabulary))
		}
	}
	b.Labels = slices.Clone(b.Tokens)
	b.Labels[r.Length+3] = ops.IgnoreIndex
	for i := range b.Labels {
		target := int64(ops.IgnoreIndex)
		if (i+1)%r.Length != 0 {
			target = b.Labels[i+1]
		}
		b.Targets = append(b.Targets, target)
	}
	return reference.Batches{Words: r.Vocabulary, Ranks: [][]reference.Batch{{b}}}
}

func (r torchRun) options(dtype string) reference.Options {
	o := reference.Defaults()
	o.Shape = model.Shape{Model: r.Model, Layers: r.Layers, Width: r.Width, Heads: r.Heads, KVHeads: r.KVHeads,
		Hidden: r.Hidden, SequenceLength: r.Length, Context: r.Context, Vocabulary: r.Vocabulary, RopeTheta: r.Theta,
		TiedHead: map[bool]string{true: "yes", false: "no"}[r.Tied]}
	o.WorldSize, o.LocalBatchSize, o.GlobalBatchSize, o.MaxSteps, o.DType = 1, r.Rows, -1, 1, dtype
	o.Weights = r.weights()
	return o
}

// Losses and gradients are those of PyTorch, with all instructions of this machine.
func TestModelsAgainstTorch(t *testing.T) {
	for _, r := range torchRuns(t) {
		for _, p := range precisions {
			for _, fused := range []bool{false, true} {
				o := r.options(p.dtype)
				if o.FusedSwiGLU = fused; fused && o.Family() != "llama" {
					continue
				}
				got := train(t, o, r.batch(), cpu.Backend{Poison: true})
				r.compare(t, got, p)
			}
		}
	}
}

func (r torchRun) compare(t *testing.T, got *trained, p precision) {
	t.Helper()
	if loss := got.steps[0].Loss; math.Abs(loss-r.Loss) > p.tolerance*r.Loss {
		t.Errorf("%s %s: loss %v, want %v", r.Model, p.dtype, loss, r.Loss)
	}
	list := got.gradients[[2]int{0, 0}]
	if len(list) != len(r.Gradients) {
		t.Fatalf("%s: %d gradients, want %d", r.Model, len(list), len(r.Gradients))
	}
	for k, want := range r.Gradients {
		g := list[k]
		if g.Name != want.Name || !slices.Equal(g.Shape, want.Shape) {
			t.Fatalf("%s: %s %v, want %s %v", r.Model, g.Name, g.Shape, want.Name, want.Shape)
		}
		sum := 0.0
		for i, v := range g.Values {
			sum += v * draw(k+1, i)
		}
		off := math.Abs(sum-want.Sum) / math.Sqrt(float64(len(g.Values)))
		for i, v := range want.Some {
			off = max(off, math.Abs(g.Values[i*max(1, len(g.Values)/4)]-v))
		}
		if !(off <= p.tolerance*want.Max) {
			t.Errorf("%s %s %s is off by %.2g of %.2g", r.Model, p.dtype, g.Name, off, want.Max)
		}
	}
}

// A run gives the same bits again, with one rank and with every set of instructions.
func TestModelBits(t *testing.T) {
	for _, r := range torchRuns(t) {
		var first []reference.Tensor
		for _, level := range simd.Levels() {
			back := simd.Use(level)
			got := train(t, r.options("float32"), r.batch(), cpu.Backend{})
			back()
			if first == nil {
				first = got.gradients[[2]int{0, 0}]
			}
			for k, g := range got.gradients[[2]int{0, 0}] {
				if !slices.Equal(g.Values, first[k].Values) {
					t.Errorf("%s %s: other bits with %v", r.Model, g.Name, level)
				}
			}
		}
	}
}

// A network with embeddings beside its values learns the same in every way that it can be trained in.
func TestNanogptEveryWay(t *testing.T) {
	var want *trained
	for _, way := range []string{"", "reduce-scatter=step matrix-reduce=step", "reduce-scatter=hook matrix-reduce=step",
		"reduce-scatter=hook compiled=true", "compiled=true"} {
		changes := append(strings.Fields(way), "model=modded-nanogpt", "width=16", "heads=2", "hidden=24",
			"vocabulary=300", "layers=3", "eps=1e-3", "optimizer=dist-adam", "matrix-optimizer=muon", "adam-every=2")
		got := train(t, small(t, changes...), nil, cpu.Backend{Poison: true})
		if want == nil {
			want = got
		}
		if off := furthest(got, want, 2); !(off < 1e-9) {
			t.Errorf("%s: off by %.2g", way, off)
		}
	}
}

// However gradients are reduced, parameters stored and activations kept, networks learn the same.
func TestModelsEveryWay(t *testing.T) {
	for _, network := range []string{"gpt2", "llama", "llama-3.2-1b"} {
		var want *trained
		for _, way := range []string{"", "activation-checkpoint=full", "activation-checkpoint=selective",
			"reduce-scatter=hook", "sharding=full", "sharding=full activation-checkpoint=full", "backward=step",
			"backward=step activation-checkpoint=full", "fused-swiglu=true"} {
			changes := append(strings.Fields(way), "model="+network, "width=16", "heads=4", "kv-heads=4", "hidden=24",
				"vocabulary=300", "layers=2", "eps=1e-3", "read-loss=")
			switch {
			case network != "gpt2":
				changes = append(changes, "kv-heads=2")
			case way == "fused-swiglu=true":
				continue
			}
			o := small(t, changes...)
			got := train(t, o, nil, cpu.Backend{Poison: true})
			if want == nil {
				want = got
			}
			if off := furthest(got, want, 2); !(off < 1e-10) {
				t.Errorf("%s %s: off by %.2g", network, way, off)
			}
		}
	}
}
