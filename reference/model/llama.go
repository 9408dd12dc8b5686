package model

import (
	"fmt"
	"math"

	"github.com/gaprof/gaprof/reference/autograd"
	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/reference/ops"
)

// llamaSpecs: Llama 3 with the names of its own checkpoints, which torchtitan has, too.
func llamaSpecs(s Shape) []Spec {
	v, d, f, kv := s.Vocabulary, s.Width, s.Hidden, s.KVHeads*s.headSize()
	list := []Spec{weight("tok_embeddings.weight", v, d)}
	for i := range s.Layers {
		block := layerName(i)
		list = append(list,
			matrix(block+"attention.wq.weight", d, d), matrix(block+"attention.wk.weight", kv, d),
			matrix(block+"attention.wv.weight", kv, d), matrix(block+"attention.wo.weight", d, d),
			matrix(block+"feed_forward.w1.weight", f, d), matrix(block+"feed_forward.w2.weight", d, f),
			matrix(block+"feed_forward.w3.weight", f, d),
			gain(block+"attention_norm.weight", d), gain(block+"ffn_norm.weight", d))
	}
	list = append(list, gain("norm.weight", d))
	if s.TiedHead != yes {
		list = append(list, weight("output.weight", v, d))
	}
	return list
}

func layerName(i int) string { return fmt.Sprintf("layers.%d.", i) }

func llamaForward(n *Network, t *autograd.Tape, tokens *device.Buffer) *autograd.Value {
	p := n.params
	x := t.Embedding(p["tok_embeddings.weight"], tokens)
	for i := range n.shape.Layers {
		name := layerName(i)
		n.before()
		x = t.Module(autograd.ModuleOf(name), x, func(x *autograd.Value) *autograd.Value {
			return n.llamaBlock(t, x, name, tokens.Shape[0])
		})
	}
	x = t.RMSNorm(x, p["norm.weight"], n.shape.NormEpsilon)
	if n.shape.TiedHead == yes {
		return t.Tied(x, p["tok_embeddings.weight"])
	}
	return t.Linear(x, p["output.weight"], nil)
}

// llamaBlock is attention with grouped queries followed by a gated MLP.
func (n *Network) llamaBlock(t *autograd.Tape, x *autograd.Value, name string, rows int) *autograd.Value {
	p := func(part string) *autograd.Param { return n.params[name+part+".weight"] }
	s := n.shape
	heads := s.heads(rows)
	h := t.RMSNorm(x, p("attention_norm"), s.NormEpsilon)
	q := t.Linear(h, p("attention.wq"), nil)
	k := t.Linear(h, p("attention.wk"), nil)
	v := t.Linear(h, p("attention.wv"), nil)
	q = t.Rotate(q, n.rotation, s.SequenceLength, heads.Size)
	k = t.Rotate(k, n.rotation, s.SequenceLength, heads.Size)
	a := t.FlashAttention(q, k, v, heads)
	x = t.Residual(x, t.Linear(a, p("attention.wo"), nil))
	return t.Residual(x, n.mlp(t, t.RMSNorm(x, p("ffn_norm"), s.NormEpsilon), func(h *autograd.Value) *autograd.Value {
		return n.llamaMLP(t, h, p)
	}))
}

func (n *Network) llamaMLP(t *autograd.Tape, h *autograd.Value, p func(string) *autograd.Param) *autograd.Value {
	gated := t.SwiGLU
	if n.shape.FusedSwiGLU {
		gated = t.FusedSwiGLU
	}
	h = gated(t.Linear(h, p("feed_forward.w1"), nil), t.Linear(h, p("feed_forward.w3"), nil))
	return t.Linear(h, p("feed_forward.w2"), nil)
}

// heads are the sizes of attention over that many rows.
func (s Shape) heads(rows int) ops.Heads {
	return ops.Heads{B: rows, T: s.SequenceLength, Q: s.Heads, KV: s.KVHeads, Size: s.headSize()}
}

func (s Shape) headSize() int { return s.Width / s.Heads }

// rotation uploads the table of rotary position embedding: for each position the cosine and
// sine of the angle of each pair of elements.
func rotation(rank *device.Rank, s Shape) *device.Buffer {
	size := s.headSize()
	table := make([]float64, 0, s.SequenceLength*size)
	for position := range s.SequenceLength {
		for i := range size / 2 {
			sin, cos := math.Sincos(float64(position) * s.frequency(i))
			table = append(table, cos, sin)
		}
	}
	b := rank.Scalar(s.SequenceLength, size)
	rank.Upload(b, device.Host{Floats: table})
	return b
}

// The scaling of frequencies of Llama 3.1 and later: wavelengths of more than the positions of
// training / lowest get longer by the factor, those below positions / highest stay, and between
// them it is interpolated (apply_scaling of meta-llama/llama-models).
const (
	ropeTrained = 8192.0
	ropeLowest  = 1.0
	ropeHighest = 4.0
)

// frequency is the angle between neighbouring positions for pair i of a head.
func (s Shape) frequency(i int) float64 {
	f := math.Pow(s.RopeTheta, -2*float64(i)/float64(s.headSize()))
	if s.RopeFactor == 0 {
		return f
	}
	waves := ropeTrained * f / (2 * math.Pi) // in the positions of training
	smooth := min(max((waves-ropeLowest)/(ropeHighest-ropeLowest), 0), 1)
	return f * (smooth + (1-smooth)/s.RopeFactor)
}
