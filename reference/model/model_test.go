package model

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/reference/autograd"
	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/reference/device/devicetest"
)

var shapes = []Shape{
	{Model: "gpt", Layers: 2, Width: 8, Heads: 2, SequenceLength: 4, Vocabulary: 11},
	{Model: "mlp", Width: 8, SequenceLength: 4, Vocabulary: 11},
	{Model: "gpt2", Layers: 2, Width: 8, Heads: 2, SequenceLength: 4, Vocabulary: 11, Context: 6},
	{Model: "gpt2", Layers: 1, Width: 8, Heads: 2, SequenceLength: 4, Vocabulary: 11, TiedHead: "no"},
	{Model: "modded-nanogpt", Layers: 1, Width: 16, Heads: 2, Hidden: 24, SequenceLength: 4, Vocabulary: 11},
	{Model: "modded-nanogpt", Layers: 5, Width: 16, Heads: 2, Hidden: 24, SequenceLength: 4, Vocabulary: 11},
	{Model: "llama", Layers: 2, Width: 16, Heads: 4, SequenceLength: 4, Vocabulary: 11},
	{Model: "llama", Layers: 2, Width: 16, Heads: 4, SequenceLength: 4, Vocabulary: 11, FusedSwiGLU: true},
	{Model: "llama-3.2-1b", Layers: 1, Width: 16, Heads: 4, KVHeads: 1, Hidden: 12, SequenceLength: 4, Vocabulary: 11},
}

// sink counts the gradients of each parameter.
type sink struct {
	rank     *device.Rank
	counts   map[string]int
	complete int // nodes whose gradients are complete
}

func (s *sink) Gradient(p *autograd.Param) *device.Buffer {
	s.counts[p.Name]++
	return s.rank.Alloc(p.Shape...)
}
func (s *sink) Add()        {}
func (s *sink) Accumulate() { s.complete++ }

// Every parameter gets one gradient in a backward pass, and no memory is left behind.
func TestEveryParameter(t *testing.T) {
	for _, shape := range shapes {
		shape = shape.Filled()
		script, rank := devicetest.NewRank(1, device.F32)
		var params []*autograd.Param
		for i, spec := range shape.Specs() {
			params = append(params, &autograd.Param{Name: spec.Name, Index: i, Shape: spec.Shape,
				Value: rank.Alloc(spec.Shape...)})
		}
		tokens := rank.Malloc(device.I64, 3, shape.SequenceLength)
		targets := rank.Malloc(device.I64, 3, shape.SequenceLength)
		loss, one := rank.Alloc(), rank.Alloc()
		s := &sink{rank: rank, counts: make(map[string]int)}
		network := New(rank, shape, params)
		live := script.Live
		for range 2 {
			tape := autograd.NewTape(rank, s)
			logits := network.Forward(tape, tokens)
			if !slices.Equal(logits.Shape, []int{12, 11}) {
				t.Errorf("%s: logits of %v", shape.Model, logits.Shape)
			}
			tape.Div(tape.CrossEntropy(logits, targets, loss, true), 2)
			tape.Backward(one, true)
		}
		if left := script.Live - live - 2*len(params); left != 0 {
			t.Errorf("%s: %d blocks are left", shape.Model, left)
		}
		if len(s.counts) != len(params) || slices.Max(slices.Collect(maps.Values(s.counts))) != 2 {
			t.Errorf("%s: %v", shape.Model, s.counts)
		}
	}
}

// Initial values depend on seed and name only, and are float32.
func TestInitial(t *testing.T) {
	initial := func(layers int, name string, seed int) []float64 {
		s := shapes[0]
		s.Layers = layers
		for _, spec := range s.Filled().Specs() {
			if spec.Name == name {
				return spec.Initial(seed, nil)
			}
		}
		return nil
	}
	two, three := initial(2, "head.weight", 1), initial(3, "head.weight", 1)
	if !slices.Equal(two, three) || slices.Equal(two, initial(2, "head.weight", 2)) {
		t.Error("initial values depend on other layers, or not on the seed")
	}
	if slices.ContainsFunc(two, func(v float64) bool { return float64(float32(v)) != v }) {
		t.Error("not representable in float32")
	}
	if gains := initial(1, "lnf.weight", 1); !slices.Equal(gains, slices.Repeat([]float64{1}, 8)) {
		t.Errorf("gains %v", gains)
	}
	given := map[string][]float64{"a": {1, 2}}
	if got := weight("a", 2).Initial(1, given); !slices.Equal(got, []float64{1, 2}) {
		t.Errorf("given %v", got)
	}
}

// Matrices are those inside blocks; embeddings and the head are not among them.
func TestMatrices(t *testing.T) {
	for _, shape := range shapes {
		for _, s := range shape.Filled().Specs() {
			inside := shape.Model == "mlp" && strings.HasPrefix(s.Name, "fc") || autograd.ModuleOf(s.Name) != ""
			inside = inside && !strings.HasPrefix(s.Name, "value_embeds.")
			if s.Matrix != (inside && len(s.Shape) == 2) {
				t.Errorf("%s %s: matrix %v", shape.Model, s.Name, s.Matrix)
			}
		}
	}
}

func TestFilled(t *testing.T) {
	if got := (Shape{Width: 3}).Filled(); got.Model != "gpt" || got.Hidden != 12 || got.NormEpsilon != 1e-5 {
		t.Errorf("%+v", got)
	}
	if got := (Shape{Model: "mlp", Hidden: 5, NormEpsilon: 1}).Filled(); got.Hidden != 5 || got.NormEpsilon != 1 {
		t.Errorf("%+v", got)
	}
}
