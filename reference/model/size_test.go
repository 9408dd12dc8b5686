package model

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/gaprof/gaprof/reference/autograd"
	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/reference/device/devicetest"
)

// Parameters and tensors of the models by name. Those of Llama are what its checkpoints have;
// those of GPT-2, whose head is the embedding, are the sums that stand beside them:
// V*d + 1024*d + layers*(12*d^2 + 13*d) + 2*d.
func TestSizes(t *testing.T) {
	for _, c := range []struct {
		name       string
		parameters int64
		tensors    int
	}{
		{"gpt2", 124_439_808, 148},
		{"gpt2-medium", 354_823_168, 292},
		{"gpt2-large", 774_030_080, 436},
		{"gpt2-xl", 1_557_611_200, 580},
		{"modded-nanogpt", 5*50_304*768 + 768 + 10*4*768*768 + 11*2*768*3072, 68},
		{"llama-3.2-1b", 1_235_814_400, 146},
		{"llama-3.1-8b", 8_030_261_248, 291},
		{"llama-3.1-70b", 70_553_706_496, 723},
	} {
		s := Shape{Model: c.name}.Filled()
		if got := int64(s.Parameters()); got != c.parameters || len(s.Specs()) != c.tensors {
			t.Errorf("%s: %d parameters in %d tensors, want %d in %d", c.name, got, len(s.Specs()), c.parameters,
				c.tensors)
		}
		d, v, layers := int64(s.Width), int64(s.Vocabulary), int64(s.Layers)
		sum := v*d + 1024*d + layers*(12*d*d+13*d) + 2*d
		if s.Family() == "gpt2" && sum != c.parameters {
			t.Errorf("%s: the sum is %d", c.name, sum)
		}
	}
	want := []string{"gpt", "mlp", "gpt2", "gpt2-medium", "gpt2-large", "gpt2-xl", "modded-nanogpt", "llama",
		"llama-3.2-1b", "llama-3.1-8b", "llama-3.1-70b"}
	if got := Names(); !slices.Equal(got, want) {
		t.Errorf("names %q", got)
	}
}

// What is given overrides the model.
func TestOverrides(t *testing.T) {
	s := Shape{Model: "llama-3.1-8b", Layers: 2, SequenceLength: 64, TiedHead: "yes"}.Filled()
	if s.Layers != 2 || s.SequenceLength != 64 || s.TiedHead != "yes" || s.Width != 4096 || s.Hidden != 14336 {
		t.Errorf("%+v", s)
	}
	if s := (Shape{Model: "gpt2", Width: 32, Heads: 4}).Filled(); s.Hidden != 128 || s.KVHeads != 4 {
		t.Errorf("%+v", s)
	}
}

// weighed is a device that adds up the memory that is in use.
type weighed struct {
	device.Device
	now, most int64
}

func (w *weighed) Malloc(dt device.DType, shape ...int) *device.Buffer {
	b := w.Device.Malloc(dt, shape...)
	w.now += b.Bytes()
	w.most = max(w.most, w.now)
	return b
}

func (w *weighed) Free(b *device.Buffer) {
	w.now -= b.Block.Bytes
	w.Device.Free(b)
}

// kept is an Accumulator with memory for each gradient.
type kept map[*autograd.Param]*device.Buffer

func (k kept) Gradient(p *autograd.Param) *device.Buffer { return k[p] }
func (k kept) Add()                                      {}
func (k kept) Accumulate()                               {}

// The estimate of activations is the most that a forward and a backward pass hold, in bfloat16,
// within 5 %.
func TestActivations(t *testing.T) {
	for _, s := range []Shape{
		{Model: "gpt2"}, {Model: "gpt2-xl", Layers: 3}, {Model: "gpt2", TiedHead: "no", Layers: 2, Vocabulary: 300},
		{Model: "modded-nanogpt"},
		{Model: "llama-3.2-1b"}, {Model: "llama-3.1-8b"}, {Model: "llama-3.1-8b", FusedSwiGLU: true},
		{Model: "llama-3.1-8b", Layers: 2, SequenceLength: 8192}, {Model: "llama-3.1-8b", Vocabulary: 1000},
	} {
		s = s.Filled()
		for _, checkpoints := range []int{0, 1, 2} {
			if checkpoints > 0 && s.Model == "modded-nanogpt" {
				continue // they are refused
			}
			const rows = 2
			got, want := peak(s, rows, checkpoints), 2*s.Activations(rows, checkpoints)
			if math.Abs(got-want) > 0.05*want {
				t.Errorf("%s with %d layers, checkpoints %d: %.4f GB, estimated %.4f", s.Model, s.Layers, checkpoints,
					got/1e9, want/1e9)
			}
		}
	}
}

// peak is what a forward and a backward pass hold at most, in bytes.
func peak(s Shape, rows, checkpoints int) float64 {
	script := &devicetest.Script{World: 1}
	w := &weighed{Device: script}
	rank := device.NewRank(device.Member{Device: w, Comm: script}, device.BF16)
	var params []*autograd.Param
	gradients := make(kept)
	for i, spec := range s.Specs() {
		p := &autograd.Param{Name: spec.Name, Index: i, Shape: spec.Shape, Value: rank.Alloc(spec.Shape...)}
		params = append(params, p)
		gradients[p] = rank.Alloc(spec.Shape...)
	}
	n := New(rank, s, params)
	tokens, targets := rank.Malloc(device.I64, rows, s.SequenceLength), rank.Malloc(device.I64, rows*s.SequenceLength)
	loss, one := rank.Scalar(), rank.Scalar()
	before := w.now
	tape := autograd.NewTape(rank, gradients)
	tape.Checkpoint = checkpoints
	tape.CrossEntropy(n.Forward(tape, tokens), targets, loss, true)
	tape.Backward(one, true)
	return float64(w.most - before)
}

// Frequencies of rotary position embedding, scaled as Llama 3.1 and later have them, are those
// that interop/models.py computes.
func TestFrequencies(t *testing.T) {
	text, err := os.ReadFile("../testdata/models.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Frequencies map[string][]float64 }
	if err := json.Unmarshal(text, &file); err != nil || len(file.Frequencies) != 2 {
		t.Fatal(err, file)
	}
	for name, want := range file.Frequencies {
		s := Shape{Model: name}.Filled()
		for i, f := range want {
			if got := s.frequency(4 * i); math.Abs(got-f) > 1e-14*f {
				t.Errorf("%s: pair %d turns by %v, want %v", name, 4*i, got, f)
			}
		}
	}
}
