package model

import (
	"math/rand/v2"

	"github.com/gaprof/gaprof/reference/device"
)

// Shape says which network it is and how large.
type Shape struct {
	Model          string  // gpt or mlp; "" is gpt
	Layers         int     // blocks of a gpt
	Width          int     // of the residual stream
	Heads          int     // of attention in a gpt; they divide Width
	Hidden         int     // width inside the MLP; 0 is four times Width
	SequenceLength int     // tokens of a row
	Vocabulary     int     // tokens that there are; 0 is what the data has
	NormEpsilon    float64 // of LayerNorm; 0 is 1e-5
}

// Filled returns the shape with its defaults filled in, except for Vocabulary, which
// only the data knows.
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

// Activations returns roughly how many elements the forward pass of a micro-batch keeps
// for backward.
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

// Spec is a parameter before there is memory for it.
type Spec struct {
	Name  string
	Shape []int
	// Matrix reports whether it is a matrix inside a block: SGD has those where AdamW
	// has the rest and does not step every time.
	Matrix bool

	begin func(rng *rand.Rand) float64
}

// Initial returns the values that a parameter begins with: those of weights under its
// name, else drawn by the seed.
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

// nameSeed is FNV-1a. Drawing by name makes what a parameter begins with independent of
// its neighbours: a model with one layer more begins with the same weights in the others.
func nameSeed(name string) uint64 {
	h := uint64(14695981039346656037)
	for _, c := range []byte(name) {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return h
}

// normal passes through float32, so that runs of either precision begin alike.
func normal(rng *rand.Rand) float64 { return float64(float32(rng.NormFloat64() * 0.02)) }
func one(*rand.Rand) float64        { return 1 }
func zero(*rand.Rand) float64       { return 0 }

func weight(name string, shape ...int) Spec { return Spec{Name: name, Shape: shape, begin: normal} }
func matrix(name string, shape ...int) Spec {
	return Spec{Name: name, Shape: shape, begin: normal, Matrix: true}
}
func gain(name string, n int) Spec { return Spec{Name: name, Shape: []int{n}, begin: one} }
func bias(name string, n int) Spec { return Spec{Name: name, Shape: []int{n}, begin: zero} }
