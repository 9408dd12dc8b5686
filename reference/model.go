package reference

import (
	"fmt"

	"github.com/gaprof/gaprof/reference/device"
)

// model is a network: its parameters, and its logits for tokens.
type model struct {
	specs   func(p *plan) []spec
	forward func(t *tape, tokens *device.Buffer) *value
}

var models = map[string]model{
	"gpt": {gptSpecs, gptForward},
	"mlp": {mlpSpecs, mlpForward},
}

// mlpSpecs: a position-wise network, nothing mixes positions.
func mlpSpecs(p *plan) []spec {
	v, d, f := p.Vocabulary, p.Width, p.Hidden
	return []spec{
		{"tok.weight", []int{v, d}, normal, false},
		{"fc1.weight", []int{f, d}, normal, true},
		{"fc1.bias", []int{f}, none, false},
		{"fc2.weight", []int{v, f}, normal, true},
		{"fc2.bias", []int{v}, none, false},
	}
}

func mlpForward(t *tape, tokens *device.Buffer) *value {
	p := t.r.named
	e := t.embedding(p["tok.weight"], tokens)
	h := t.gelu(t.linear(e, p["fc1.weight"], p["fc1.bias"]))
	return t.linear(h, p["fc2.weight"], p["fc2.bias"])
}

// gptSpecs: pre-LayerNorm blocks, learned positions, an untied head, no biases in
// attention, because that of the keys has exactly zero gradient, which Adam amplifies.
func gptSpecs(p *plan) []spec {
	v, d, f := p.Vocabulary, p.Width, p.Hidden
	list := []spec{{"tok.weight", []int{v, d}, normal, false}, {"pos.weight", []int{p.SequenceLength, d}, normal, false}}
	for i := range p.Layers {
		block := fmt.Sprintf("blocks.%d.", i)
		list = append(list, spec{block + "ln1.weight", []int{d}, one, false}, spec{block + "ln1.bias", []int{d}, none, false})
		for _, name := range []string{"wq", "wk", "wv", "wo"} {
			list = append(list, spec{block + name + ".weight", []int{d, d}, normal, true})
		}
		list = append(list, spec{block + "ln2.weight", []int{d}, one, false}, spec{block + "ln2.bias", []int{d}, none, false},
			spec{block + "fc1.weight", []int{f, d}, normal, true}, spec{block + "fc1.bias", []int{f}, none, false},
			spec{block + "fc2.weight", []int{d, f}, normal, true}, spec{block + "fc2.bias", []int{d}, none, false})
	}
	return append(list, spec{"lnf.weight", []int{d}, one, false}, spec{"lnf.bias", []int{d}, none, false}, spec{"head.weight", []int{v, d}, normal, false})
}

func gptForward(t *tape, tokens *device.Buffer) *value {
	r := t.r
	x := t.addPositions(t.embedding(r.named["tok.weight"], tokens), r.named["pos.weight"])
	for i := range r.p.Layers {
		p := func(name string) *param { return r.named[fmt.Sprintf("blocks.%d.%s", i, name)] }
		h := t.layerNorm(x, p("ln1.weight"), p("ln1.bias"))
		q, k, v := t.linear(h, p("wq.weight"), nil), t.linear(h, p("wk.weight"), nil), t.linear(h, p("wv.weight"), nil)
		a := t.attention(q, k, v, r.p.LocalBatchSize, r.p.SequenceLength, r.p.Heads)
		x = t.add(x, t.linear(a, p("wo.weight"), nil))
		h = t.layerNorm(x, p("ln2.weight"), p("ln2.bias"))
		h = t.gelu(t.linear(h, p("fc1.weight"), p("fc1.bias")))
		x = t.add(x, t.linear(h, p("fc2.weight"), p("fc2.bias")))
	}
	x = t.layerNorm(x, r.named["lnf.weight"], r.named["lnf.bias"])
	return t.linear(x, r.named["head.weight"], nil)
}
