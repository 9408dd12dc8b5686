package model

import (
	"math/rand/v2"

	"github.com/gaprof/gaprof/reference/device"
)

// Shape selects a network and its size.
type Shape struct {
	Model          string  // gpt or mlp; "" means gpt
	Layers         int     // blocks of a gpt
	Width          int     // of the residual stream
	Heads          int     // attention heads of a gpt; must divide Width
	Hidden         int     // width inside the MLP; 0 means four times Width
	SequenceLength int     // tokens per row
	Vocabulary     int     // vocabulary size; 0 means that of the data
	NormEpsilon    float64 // added to variances in LayerNorm; 0 means 1e-5
}

// Filled returns the shape with defaults filled in, except for Vocabulary, which depends
// on the data.
func (s Shape) Filled() Shape {
	if s.Model == "" {
		s.Model = "gpt"
	}
	if s.Hidden == 0 {
		s.Hidden = 4 * s.Width
	}
	if s.NormEpsilon == 0 {
		s.NormEpsilon = 1e-5
	}
	return s
}

// Activations estimates the number of elements that the forward pass of a micro-batch
// saves for backward.
func (s Shape) Activations(rows int) float64 {
	b, t := float64(rows), float64(s.SequenceLength)
	if s.Model != "gpt" {
		return b * t * 2 * float64(s.Vocabulary+s.Hidden+s.Width)
	}
	block := 8*float64(s.Width) + 2*float64(s.Hidden) + float64(s.Heads)*t
	return b * t * (2*float64(s.Vocabulary) + float64(s.Layers)*block)
}

// Specs returns the parameters in the order of the model.
func (s Shape) Specs() []Spec { return networks[s.Model].specs(s) }

// Spec describes a parameter.
type Spec struct {
	Name  string
	Shape []int
	// Matrix is set for matrices inside blocks. If AdamW does not step every time, SGD
	// updates those, as with optimizers that treat matrices differently.
	Matrix bool

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
