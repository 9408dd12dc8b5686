package optim

import (
	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/reference/ops"
)

// Hyperparameters say how parameters are updated.
type Hyperparameters struct {
	Optimizer    string  // adamw or sgd
	LearningRate float64 // of both
	Beta1        float64 // of AdamW: decay of the mean of gradients
	Beta2        float64 // of AdamW: decay of the mean of their squares
	Epsilon      float64 // of AdamW
	WeightDecay  float64 // decoupled from the gradient, of both; 0 is none
	AdamEvery    int     // from 2 on, AdamW steps at every so many-th step, and SGD has the matrices
}

// The names of optimizers in traces are those of their classes.
const (
	adamW = "AdamW"
	sgd   = "SGD"
)

// Group is the parameters that one optimizer updates together.
type Group struct {
	Name  string // of the optimizer's class: AdamW
	Every int    // it steps at every so many-th training step; 1 is every one
}

// Due reports whether the group steps at the end of a training step.
func (g *Group) Due(step int) bool { return (step+1)%g.Every == 0 }

// StepName is the annotation that PyTorch writes around an optimizer's step.
func (g *Group) StepName() string { return "Optimizer.step#" + g.Name + ".step" }

// ZeroGradName is the annotation that PyTorch writes around zero_grad.
func (g *Group) ZeroGradName() string { return "Optimizer.zero_grad#" + g.Name + ".zero_grad" }

// Target is what an update reads and writes of one parameter, whole or a shard of it.
type Target struct {
	Index       int // of the parameter: its state is kept under it
	Value, Grad *device.Buffer
}

// Optimizer is the optimizers of one rank with their state.
type Optimizer struct {
	rank   *device.Rank
	hyper  Hyperparameters
	groups []*Group
	states map[int]*state // by parameter
}

// state is what AdamW remembers of a parameter; SGD remembers nothing.
type state struct {
	mean, square *device.Buffer // moments
	updates      int
}

// New returns the optimizers of a rank, without a group yet.
func New(rank *device.Rank, h Hyperparameters) *Optimizer {
	return &Optimizer{rank: rank, hyper: h, states: make(map[int]*state)}
}

// Groups returns the groups in the order in which GroupFor has met them.
func (o *Optimizer) Groups() []*Group { return o.groups }

// GroupFor returns the group of a parameter, by whether it is a matrix inside a block.
func (o *Optimizer) GroupFor(matrix bool) *Group {
	name, every := adamW, o.hyper.AdamEvery
	if o.hyper.Optimizer == "sgd" || every > 1 && matrix {
		name, every = sgd, 1
	}
	for _, g := range o.groups {
		if g.Name == name {
			return g
		}
	}
	g := &Group{Name: name, Every: every}
	o.groups = append(o.groups, g)
	return g
}

// Update enqueues one step of some parameters of a group, in one launch. Gradients are
// multiplied by factor on the way, where it is not nil.
func (o *Optimizer) Update(g *Group, factor *device.Buffer, targets []Target) {
	var values, grads []*device.Buffer
	for _, t := range targets {
		values, grads = append(values, t.Value), append(grads, t.Grad)
	}
	h := o.hyper
	if g.Name == sgd {
		o.rank.Run(ops.SGD{P: values, G: grads, Factor: factor, LR: h.LearningRate, Decay: h.WeightDecay})
		return
	}
	op := ops.AdamW{P: values, G: grads, Factor: factor, LR: h.LearningRate,
		Beta1: h.Beta1, Beta2: h.Beta2, Eps: h.Epsilon, Decay: h.WeightDecay}
	for _, t := range targets {
		s := o.state(t)
		s.updates++
		op.M, op.V = append(op.M, s.mean), append(op.V, s.square)
	}
	op.Step = o.states[targets[0].Index].updates
	o.rank.Run(op)
}

// state returns the moments of a parameter. Like PyTorch's they are made by the first
// update, so that a trace shows them there.
func (o *Optimizer) state(t Target) *state {
	s := o.states[t.Index]
	if s == nil {
		s = &state{mean: o.rank.Zeros(t.Value.Shape...), square: o.rank.Zeros(t.Value.Shape...)}
		o.states[t.Index] = s
	}
	return s
}
