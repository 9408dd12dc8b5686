package model

import (
	"cmp"
	"math/rand/v2"

	"github.com/gaprof/gaprof/reference/device"
)

// Shape selects a network and its size. A zero stands for what the model has.
type Shape struct {
	Model          string  // one of Names; "" means gpt
	Layers         int     // blocks
	Width          int     // of the residual stream
	Heads          int     // attention heads; must divide Width
	KVHeads        int     // of keys and values of a llama; must divide Heads
	Hidden         int     // width inside the MLP; four times Width where the model has none
	SequenceLength int     // tokens per row
	Vocabulary     int     // vocabulary size; that of the data where the model has none
	Context        int     // positions that the model knows; 0 where any number will do
	NormEpsilon    float64 // added to variances in LayerNorm, and to mean squares; 1e-5
	RopeTheta      float64 // base of the angles of rotary position embedding; 0 for none
	RopeFactor     float64 // by which its long wavelengths are longer; 0 for none
	TiedHead       string  // yes if the head is the embedding, no if it has weights of its own
	FusedSwiGLU    bool    // the gate of a llama's MLP is one kernel
}

// Filled returns the shape with the sizes of its model filled in, except for Vocabulary where
// it depends on the data.
func (s Shape) Filled() Shape {
	s.Model = cmp.Or(s.Model, "gpt")
	m := models[s.Model]
	s.Layers = cmp.Or(s.Layers, m.Layers)
	s.Width = cmp.Or(s.Width, m.Width)
	s.Heads = cmp.Or(s.Heads, m.Heads)
	s.KVHeads = cmp.Or(s.KVHeads, m.KVHeads, s.Heads)
	s.Hidden = cmp.Or(s.Hidden, m.Hidden, 4*s.Width)
	s.SequenceLength = cmp.Or(s.SequenceLength, m.SequenceLength)
	s.Vocabulary = cmp.Or(s.Vocabulary, m.Vocabulary)
	s.Context = cmp.Or(s.Context, m.Context)
	s.NormEpsilon = cmp.Or(s.NormEpsilon, 1e-5)
	s.RopeTheta = cmp.Or(s.RopeTheta, m.RopeTheta)
	s.RopeFactor = cmp.Or(s.RopeFactor, m.RopeFactor)
	s.TiedHead = cmp.Or(s.TiedHead, m.TiedHead, no)
	return s
}

// Family returns what the model is one of: gpt, mlp, gpt2, nanogpt or llama; "" if it is unknown.
func (s Shape) Family() string { return models[cmp.Or(s.Model, "gpt")].family }

// Rows is how many rows a micro-batch has unless something else is asked for.
func (s Shape) Rows() int { return models[cmp.Or(s.Model, "gpt")].rows }

// Activations estimates the number of elements that the forward and backward pass of a
// micro-batch hold at most: what is saved for backward, the gradient of the logits, and that of a
// tied head, which waits for the one of the embedding. With checkpoints, every n-th block, or none
// for 0, saves its input, and one of them at a time what it would save without.
func (s Shape) Activations(rows, checkpoints int) float64 {
	d, f := float64(s.Width), float64(s.Hidden)
	ends, block := 2*float64(s.Vocabulary), s.saved()
	switch s.Family() {
	case "mlp":
		ends += 2*f + 2*d
	case "gpt2", "llama":
		ends += 2 * d
	case "nanogpt":
		ends += (2 + mostTables) * d
	}
	gradients := 2*f + d // those of a block at a time
	most := float64(s.Layers)*block + max(ends, gradients)
	if checkpoints > 0 { // when backward begins, or while the last block runs backward
		with := s.Layers / checkpoints
		most = float64(with)*d + float64(s.Layers-with)*block + max(ends, gradients)
		if s.Layers%checkpoints == 0 {
			most = float64(with)*d + float64(s.Layers-with)*block + max(ends, block+gradients)
		}
	}
	waiting := 0.0
	if s.TiedHead == yes {
		waiting = float64(s.Vocabulary) * d
	}
	return float64(rows)*float64(s.SequenceLength)*most + waiting
}

// saved is what a block saves of a token.
func (s Shape) saved() float64 {
	d, f, heads := float64(s.Width), float64(s.Hidden), float64(s.Heads)
	switch s.Family() {
	case "gpt":
		return 8*d + 2*f + heads*float64(s.SequenceLength)
	case "gpt2":
		return 8*d + 2*f + heads + 4
	case "nanogpt":
		return 8*d + 2*f + heads + 4
	case "llama":
		n := 6*d + 2*float64(s.KVHeads*s.headSize()) + 4*f + heads + 2
		if s.FusedSwiGLU {
			n -= f
		}
		return n
	}
	return 0
}

// Specs returns the parameters in the order of the model.
func (s Shape) Specs() []Spec { return networks[s.Family()].specs(s) }

// Parameters returns the number of elements of all parameters. It is a float64, because models
// that are too large overflow.
func (s Shape) Parameters() float64 {
	all := 0.0
	for _, spec := range s.Specs() {
		n := 1.0
		for _, d := range spec.Shape {
			n *= float64(d)
		}
		all += n
	}
	return all
}

// Spec describes a parameter.
type Spec struct {
	Name  string
	Shape []int
	// Matrix is set for matrices inside blocks. If AdamW does not step every time, SGD
	// updates those, as with optimizers that treat matrices differently.
	Matrix bool
	// Transposed is set for one whose gradient comes transposed, so that kernels which add it to another one are not
	// vectorized.
	Transposed bool

	begin func(rng *rand.Rand) float64
}

// Initial returns the initial values of a parameter: from weights if they contain its
// name, else drawn from a generator seeded with seed and name.
func (s Spec) Initial(seed int, weights map[string][]float64) []float64 {
	if values, ok := weights[s.Name]; ok {
		return values
	}
	rng := rand.New(rand.NewPCG(uint64(seed), nameSeed(s.Name)))
	values := make([]float64, device.Elements(s.Shape))
	for i := range values {
		values[i] = s.begin(rng)
	}
	return values
}

// nameSeed is FNV-1a. Seeding by name makes parameters independent of each other: a model
// with one more layer starts with the same weights in all other layers.
func nameSeed(name string) uint64 {
	h := uint64(14695981039346656037)
	for _, c := range []byte(name) {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return h
}

// normal rounds to float32, so that runs in either precision start with equal weights.
func normal(rng *rand.Rand) float64 { return float64(float32(rng.NormFloat64() * 0.02)) }
func one(*rand.Rand) float64        { return 1 }
func zero(*rand.Rand) float64       { return 0 }

func weight(name string, shape ...int) Spec { return Spec{Name: name, Shape: shape, begin: normal} }
func matrix(name string, shape ...int) Spec {
	return Spec{Name: name, Shape: shape, begin: normal, Matrix: true}
}
func gain(name string, n int) Spec { return Spec{Name: name, Shape: []int{n}, begin: one} }
func bias(name string, n int) Spec { return Spec{Name: name, Shape: []int{n}, begin: zero} }
