package model

import (
	"fmt"

	"github.com/gaprof/gaprof/reference/autograd"
	"github.com/gaprof/gaprof/reference/device"
)

// gpt2Specs: GPT-2 with the names of nanoGPT and transformers. Weights are outputs x inputs,
// as nanoGPT has them.
func gpt2Specs(s Shape) []Spec {
	v, d, f := s.Vocabulary, s.Width, s.Hidden
	list := []Spec{weight("transformer.wte.weight", v, d), weight("transformer.wpe.weight", s.positions(), d)}
	for i := range s.Layers {
		block := hiddenName(i)
		list = append(list, gain(block+"ln_1.weight", d), bias(block+"ln_1.bias", d),
			matrix(block+"attn.c_attn.weight", 3*d, d), bias(block+"attn.c_attn.bias", 3*d),
			matrix(block+"attn.c_proj.weight", d, d), bias(block+"attn.c_proj.bias", d),
			gain(block+"ln_2.weight", d), bias(block+"ln_2.bias", d),
			matrix(block+"mlp.c_fc.weight", f, d), bias(block+"mlp.c_fc.bias", f),
			matrix(block+"mlp.c_proj.weight", d, f), bias(block+"mlp.c_proj.bias", d))
	}
	list = append(list, gain("transformer.ln_f.weight", d), bias("transformer.ln_f.bias", d))
	if s.TiedHead != yes {
		list = append(list, weight("lm_head.weight", v, d))
	}
	return list
}

func hiddenName(i int) string { return fmt.Sprintf("transformer.h.%d.", i) }

// positions is how many the table of positions has.
func (s Shape) positions() int { return max(s.Context, s.SequenceLength) }

// positions uploads the numbers of positions, by which their vectors are looked up.
func positions(rank *device.Rank, s Shape) *device.Buffer {
	numbers := make([]int64, s.SequenceLength)
	for i := range numbers {
		numbers[i] = int64(i)
	}
	b := rank.Malloc(device.I64, s.SequenceLength)
	rank.Upload(b, device.Host{Ints: numbers})
	return b
}

func gpt2Forward(n *Network, t *autograd.Tape, tokens *device.Buffer) *autograd.Value {
	p := n.params
	x := t.AddRows(t.Embedding(p["transformer.wte.weight"], tokens),
		t.Embedding(p["transformer.wpe.weight"], n.positions))
	for i := range n.shape.Layers {
		name := hiddenName(i)
		n.before()
		x = t.Module(autograd.ModuleOf(name), x, func(x *autograd.Value) *autograd.Value {
			return n.gpt2Block(t, x, name, tokens.Shape[0])
		})
	}
	x = t.LayerNorm(x, p["transformer.ln_f.weight"], p["transformer.ln_f.bias"], n.shape.NormEpsilon)
	if n.shape.TiedHead == yes {
		return t.Tied(x, p["transformer.wte.weight"])
	}
	return t.Linear(x, p["lm_head.weight"], nil)
}

// gpt2Block is attention, whose queries, keys and values come from one product, followed by an
// MLP.
func (n *Network) gpt2Block(t *autograd.Tape, x *autograd.Value, name string, rows int) *autograd.Value {
	linear := func(x *autograd.Value, part string) *autograd.Value {
		return t.Linear(x, n.params[name+part+".weight"], n.params[name+part+".bias"])
	}
	norm := func(x *autograd.Value, part string) *autograd.Value {
		return t.LayerNorm(x, n.params[name+part+".weight"], n.params[name+part+".bias"], n.shape.NormEpsilon)
	}
	qkv := t.Split(linear(norm(x, "ln_1"), "attn.c_attn"), 3)
	a := t.FlashAttention(qkv[0], qkv[1], qkv[2], n.shape.heads(rows))
	x = t.Residual(x, linear(a, "attn.c_proj"))
	h := n.mlp(t, norm(x, "ln_2"), func(h *autograd.Value) *autograd.Value {
		return linear(t.Gelu(linear(h, "mlp.c_fc")), "mlp.c_proj")
	})
	return t.Residual(x, h)
}
