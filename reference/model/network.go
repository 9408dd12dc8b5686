package model

import (
	"fmt"

	"github.com/gaprof/gaprof/reference/autograd"
	"github.com/gaprof/gaprof/reference/device"
)

// Network is a model on one rank.
type Network struct {
	shape     Shape
	params    map[string]*autograd.Param
	ones      *device.Buffer // of a nanogpt: a gain that changes nothing
	rotation  *device.Buffer // of a llama: the table of rotary position embedding
	positions *device.Buffer // of a gpt2: their numbers

	// Elsewhere computes the MLP of a block, a function of x, on other ranks; nil for here.
	Elsewhere func(t *autograd.Tape, x *autograd.Value, mlp MLP) *autograd.Value
	// Before is called before each block; nil for nothing.
	Before func()
}

// MLP is the part of a block that computes each position by itself.
type MLP func(x *autograd.Value) *autograd.Value

// mlp computes the MLP of a block.
func (n *Network) mlp(t *autograd.Tape, x *autograd.Value, f MLP) *autograd.Value {
	if n.Elsewhere == nil {
		return f(x)
	}
	return n.Elsewhere(t, x, f)
}

// before is called before each block.
func (n *Network) before() {
	if n.Before != nil {
		n.Before()
	}
}

// New returns the network with the given shape and parameters on a rank.
func New(rank *device.Rank, s Shape, params []*autograd.Param) *Network {
	n := &Network{shape: s, params: make(map[string]*autograd.Param, len(params))}
	for _, p := range params {
		n.params[p.Name] = p
	}
	switch s.Family() {
	case "llama":
		n.rotation = rotation(rank, s)
	case "nanogpt":
		n.ones = ones(rank, s.Width)
	case "gpt2":
		n.positions = positions(rank, s)
	}
	return n
}

// Forward records the forward pass of a micro-batch on a tape and returns the logits, one
// row of Vocabulary elements for each element of tokens. tokens is rows x SequenceLength.
func (n *Network) Forward(t *autograd.Tape, tokens *device.Buffer) *autograd.Value {
	return t.Module("", nil, func(*autograd.Value) *autograd.Value {
		return networks[models[n.shape.Model].family].forward(n, t, tokens)
	})
}

// networks are the families of models.
var networks = map[string]struct {
	specs   func(s Shape) []Spec
	forward func(n *Network, t *autograd.Tape, tokens *device.Buffer) *autograd.Value
}{
	"gpt": {gptSpecs, gptForward},
	"mlp": {mlpSpecs, mlpForward},

	"gpt2":    {gpt2Specs, gpt2Forward},
	"llama":   {llamaSpecs, llamaForward},
	"nanogpt": {nanogptSpecs, nanogptForward},
}

// mlpSpecs: a position-wise network; nothing mixes positions.
func mlpSpecs(s Shape) []Spec {
	v, d, f := s.Vocabulary, s.Width, s.Hidden
	return []Spec{
		weight("tok.weight", v, d),
		matrix("fc1.weight", f, d), bias("fc1.bias", f),
		matrix("fc2.weight", v, f), bias("fc2.bias", v),
	}
}

func mlpForward(n *Network, t *autograd.Tape, tokens *device.Buffer) *autograd.Value {
	p := n.params
	e := t.Embedding(p["tok.weight"], tokens)
	h := t.Gelu(t.Linear(e, p["fc1.weight"], p["fc1.bias"]))
	return t.Linear(h, p["fc2.weight"], p["fc2.bias"])
}

// gptSpecs: pre-norm blocks, learned positions, an untied head. Attention has no biases:
// the gradient of a key bias is exactly zero in theory, and Adam would amplify its
// rounding errors.
func gptSpecs(s Shape) []Spec {
	v, d, f := s.Vocabulary, s.Width, s.Hidden
	list := []Spec{weight("tok.weight", v, d), weight("pos.weight", s.SequenceLength, d)}
	for i := range s.Layers {
		block := blockName(i)
		list = append(list, gain(block+"ln1.weight", d), bias(block+"ln1.bias", d))
		for _, name := range []string{"wq", "wk", "wv", "wo"} {
			list = append(list, matrix(block+name+".weight", d, d))
		}
		list = append(list, gain(block+"ln2.weight", d), bias(block+"ln2.bias", d),
			matrix(block+"fc1.weight", f, d), bias(block+"fc1.bias", f),
			matrix(block+"fc2.weight", d, f), bias(block+"fc2.bias", d))
	}
	return append(list, gain("lnf.weight", d), bias("lnf.bias", d), weight("head.weight", v, d))
}

func blockName(i int) string { return fmt.Sprintf("blocks.%d.", i) }

func gptForward(n *Network, t *autograd.Tape, tokens *device.Buffer) *autograd.Value {
	p := n.params
	x := t.AddPositions(t.Embedding(p["tok.weight"], tokens), p["pos.weight"])
	for i := range n.shape.Layers {
		name := blockName(i)
		n.before()
		x = t.Module(autograd.ModuleOf(name), x, func(x *autograd.Value) *autograd.Value {
			return n.block(t, x, name, tokens.Shape[0])
		})
	}
	x = t.LayerNorm(x, p["lnf.weight"], p["lnf.bias"], n.shape.NormEpsilon)
	return t.Linear(x, p["head.weight"], nil)
}

// block is attention followed by an MLP, each with a LayerNorm in front and a residual
// connection around it.
func (n *Network) block(t *autograd.Tape, x *autograd.Value, name string, rows int) *autograd.Value {
	p := func(part string) *autograd.Param { return n.params[name+part] }
	s := n.shape
	h := t.LayerNorm(x, p("ln1.weight"), p("ln1.bias"), s.NormEpsilon)
	q := t.Linear(h, p("wq.weight"), nil)
	k := t.Linear(h, p("wk.weight"), nil)
	v := t.Linear(h, p("wv.weight"), nil)
	a := t.Attention(q, k, v, rows, s.SequenceLength, s.Heads)
	x = t.Add(x, t.Linear(a, p("wo.weight"), nil))
	h = t.LayerNorm(x, p("ln2.weight"), p("ln2.bias"), s.NormEpsilon)
	return t.Add(x, n.mlp(t, h, func(h *autograd.Value) *autograd.Value {
		h = t.Gelu(t.Linear(h, p("fc1.weight"), p("fc1.bias")))
		return t.Linear(h, p("fc2.weight"), p("fc2.bias"))
	}))
}
