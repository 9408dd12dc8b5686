package model

import (
	"maps"
	"slices"
)

// models are those that can be named, with their sizes. Networks of one family differ in size
// only. Vocabulary 0 is that of the data.
//
// The sizes of gpt2 are those of config.json of openai-community/gpt2, gpt2-medium, gpt2-large
// and gpt2-xl on the Hugging Face hub: n_layer, n_embd, n_head, n_ctx, vocab_size,
// layer_norm_epsilon. Those of Llama are those of params.json of meta-llama/Llama-3.2-1B,
// Llama-3.1-8B and Llama-3.1-70B: n_layers, dim, n_heads, n_kv_heads, vocab_size, norm_eps,
// rope_theta, use_scaled_rope; hidden widths and the factors of the scaling are those of their
// config.json: intermediate_size, rope_scaling, and max_position_embeddings. What a row has of
// tokens is ours for Llama, and how many rows a micro-batch has for all: what fits 80 GB, sharded from 8B on. Those of
// modded-nanogpt are what the traces of its PR 149 show: shapes of operators and of gradients.
var models = map[string]struct {
	family string
	rows   int
	Shape
}{
	"gpt": {"gpt", 4, Shape{Layers: 2, Width: 64, Heads: 4, SequenceLength: 128}},
	"mlp": {"mlp", 4, Shape{Layers: 2, Width: 64, Heads: 4, SequenceLength: 128}},
	"gpt2": {"gpt2", 32, Shape{Layers: 12, Width: 768, Heads: 12, SequenceLength: 1024, Vocabulary: 50257,
		Context: 1024, TiedHead: yes}},
	"gpt2-medium": {"gpt2", 16, Shape{Layers: 24, Width: 1024, Heads: 16, SequenceLength: 1024, Vocabulary: 50257,
		Context: 1024, TiedHead: yes}},
	"gpt2-large": {"gpt2", 16, Shape{Layers: 36, Width: 1280, Heads: 20, SequenceLength: 1024, Vocabulary: 50257,
		Context: 1024, TiedHead: yes}},
	"gpt2-xl": {"gpt2", 8, Shape{Layers: 48, Width: 1600, Heads: 25, SequenceLength: 1024, Vocabulary: 50257,
		Context: 1024, TiedHead: yes}},
	"modded-nanogpt": {"nanogpt", 16, Shape{Layers: 11, Width: 768, Heads: 6, Hidden: 3072, SequenceLength: 2048,
		Vocabulary: 50_304, TiedHead: no}},
	"llama": {"llama", 4, Shape{Layers: 2, Width: 64, Heads: 4, KVHeads: 2, SequenceLength: 128, RopeTheta: 500_000,
		TiedHead: no}},
	"llama-3.2-1b": {"llama", 8, Shape{Layers: 16, Width: 2048, Heads: 32, KVHeads: 8, Hidden: 8192,
		SequenceLength: 2048, Vocabulary: 128_256, Context: 131_072, RopeTheta: 500_000, RopeFactor: 32,
		TiedHead: yes}},
	"llama-3.1-8b": {"llama", 2, Shape{Layers: 32, Width: 4096, Heads: 32, KVHeads: 8, Hidden: 14_336,
		SequenceLength: 2048, Vocabulary: 128_256, Context: 131_072, RopeTheta: 500_000, RopeFactor: 8,
		TiedHead: no}},
	"llama-3.1-70b": {"llama", 1, Shape{Layers: 80, Width: 8192, Heads: 64, KVHeads: 8, Hidden: 28_672,
		SequenceLength: 2048, Vocabulary: 128_256, Context: 131_072, RopeTheta: 500_000, RopeFactor: 8,
		TiedHead: no}},
}

// The values of Shape.TiedHead.
const (
	yes = "yes"
	no  = "no"
)

// Names returns the models that Shape.Model can be, in the order of families and sizes.
func Names() []string {
	rank := func(name string) int { return models[name].Width * models[name].Layers }
	return slices.SortedFunc(maps.Keys(models), func(a, b string) int {
		if by := slices.Index(families, models[a].family) - slices.Index(families, models[b].family); by != 0 {
			return by
		}
		return rank(a) - rank(b)
	})
}

var families = []string{"gpt", "mlp", "gpt2", "nanogpt", "llama"}
