package model

import (
	"fmt"
	"slices"

	"github.com/gaprof/gaprof/reference/autograd"
	"github.com/gaprof/gaprof/reference/device"
)

// mostTables is how many tables of modded-nanogpt are added to values: the i-th in the i-th block, and in the i-th of
// the last blocks.
const mostTables = 3

// tables is how many there are: no more than blocks.
func (s Shape) tables() int { return min(mostTables, s.Layers) }

func tableName(i int) string { return fmt.Sprintf("value_embeds.%d.weight", i) }

// nanogptSpecs: modded-nanogpt as of its PR 149, as far as sizes and optimizers go. The only vector, the gain of the
// last norm, stands for its 64 scalars; the head is transposed. Adam has the first six, which are in the order in which
// the traces of the PR add up their gradients.
func nanogptSpecs(s Shape) []Spec {
	v, d, f := s.Vocabulary, s.Width, s.Hidden
	head := weight("lm_head.weight", v, d)
	head.Transposed = true
	var list []Spec
	for i := range s.tables() {
		list = append(list, weight(tableName(i), v, d))
	}
	list = slices.Insert(list, min(2, len(list)), head, gain("norm.weight", d), weight("embed.weight", v, d))
	for i := range s.Layers {
		block := blockName(i)
		if s.attends(i) {
			for _, name := range []string{"q", "k", "v", "proj"} {
				list = append(list, matrix(block+"attn."+name+".weight", d, d))
			}
		}
		list = append(list, matrix(block+"mlp.c_fc.weight", f, d), matrix(block+"mlp.c_proj.weight", d, f))
	}
	return list
}

// attends reports whether a block has attention: all but the middle one of more than three.
func (s Shape) attends(i int) bool { return s.Layers < 4 || i != s.Layers/2 }

// ones uploads a gain that changes nothing: norms inside blocks have none.
func ones(rank *device.Rank, n int) *device.Buffer {
	b := rank.Alloc(n)
	rank.Upload(b, device.Host{Floats: slices.Repeat([]float64{1}, n)})
	return b
}

func nanogptForward(n *Network, t *autograd.Tape, tokens *device.Buffer) *autograd.Value {
	p := n.params
	x := t.Embedding(p["embed.weight"], tokens)
	var values []*autograd.Value
	for i := range n.shape.tables() {
		values = append(values, t.Embedding(p[tableName(i)], tokens))
	}
	for i := range n.shape.Layers {
		name := blockName(i)
		var extra *autograd.Value
		switch late := i - (n.shape.Layers - len(values)); {
		case i < len(values):
			extra = values[i]
		case late >= 0:
			extra = values[late]
		}
		x = n.nanogptBlock(t, x, extra, name, tokens.Shape[0])
	}
	x = t.RMSNorm(x, p["norm.weight"], n.shape.NormEpsilon)
	return t.Linear(x, p["lm_head.weight"], nil)
}

// nanogptBlock is attention, to whose values extra is added, and an MLP.
func (n *Network) nanogptBlock(t *autograd.Tape, x, extra *autograd.Value, name string, rows int) *autograd.Value {
	linear := func(x *autograd.Value, part string) *autograd.Value {
		return t.Linear(x, n.params[name+part+".weight"], nil)
	}
	s := n.shape
	if n.params[name+"attn.q.weight"] != nil {
		h := t.Norm(x, n.ones, s.NormEpsilon)
		q, k, v := linear(h, "attn.q"), linear(h, "attn.k"), linear(h, "attn.v")
		if extra != nil {
			v = t.Residual(extra, v)
		}
		x = t.Residual(x, linear(t.FlashAttention(q, k, v, s.heads(rows)), "attn.proj"))
	}
	h := t.Gelu(linear(t.Norm(x, n.ones, s.NormEpsilon), "mlp.c_fc"))
	return t.Residual(x, linear(h, "mlp.c_proj"))
}
