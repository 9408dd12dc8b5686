package optim

import (
	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/reference/ops"
)

// Hyperparameters configure the optimizers.
type Hyperparameters struct {
	Optimizer    string  // adamw, dist-adam or sgd
	Matrices     string  // of matrices inside blocks: sgd or muon; "" for the same, or SGD with AdamEvery
	LearningRate float64 // of all
	Beta1        float64 // of Adam: decay rate of the first moment
	Beta2        float64 // of Adam: decay rate of the second moment
	Epsilon      float64 // of Adam: added to the denominator
	Momentum     float64 // of Muon: decay rate of the momentum
	WeightDecay  float64 // of all, decoupled from the gradient; 0 for none
	// MasterWeights makes AdamW keep weights and moments of a BF16 model in F32. Without, there
	// are no other weights than those of the model, and moments are BF16 too.
	MasterWeights bool

	AdamEvery int // k > 1: Adam steps on every k-th step only, and SGD or Muon updates matrices
}

// In traces, optimizers have the names of their PyTorch classes.
const (
	adamW    = "AdamW"
	distAdam = "DistAdam"
	sgd      = "SGD"
	muon     = "Muon"
)

// classes are their names by those of options.
var classes = map[string]string{"adamw": adamW, "dist-adam": distAdam, "sgd": sgd, "muon": muon}

// Group is a set of parameters that one optimizer updates together.
type Group struct {
	Name  string // class of the optimizer: AdamW, DistAdam, SGD or Muon
	Every int    // the group steps on every k-th step; 1 means all of them

	Matrices bool // its parameters are the matrices inside blocks, and another group has the others
}

// Due reports whether the group steps at the end of the given step, counted from 0.
func (g *Group) Due(step int) bool { return (step+1)%g.Every == 0 }

// StepName returns the annotation that PyTorch puts around a step of the optimizer.
func (g *Group) StepName() string { return "Optimizer.step#" + g.Name + ".step" }

// ZeroGradName returns the annotation that PyTorch puts around zero_grad.
func (g *Group) ZeroGradName() string { return "Optimizer.zero_grad#" + g.Name + ".zero_grad" }

// Target is a parameter to update, or a shard of one.
type Target struct {
	Index       int // of the parameter; identifies its state
	Value, Grad *device.Buffer
	Whole       []int // shape of the whole parameter
	// Shards are the ranks that the rows are divided among; nil if Value is the whole parameter.
	// Each has as many, of which the last ones may be padding.
	Shards device.Communicator
}

// Optimizer holds the optimizers of one rank and their state.
type Optimizer struct {
	rank   *device.Rank
	hyper  Hyperparameters
	groups []*Group
	states map[int]*state // by index of the parameter
}

// state is what an optimizer keeps for a parameter; SGD keeps nothing.
type state struct {
	mean, square *device.Buffer // moments; Muon has the first only
	master       *device.Buffer // the weights as they are kept; nil if those of the model are
	updates      int
}

// New returns the optimizers of a rank. Groups are created by GroupFor.
func New(rank *device.Rank, h Hyperparameters) *Optimizer {
	return &Optimizer{rank: rank, hyper: h, states: make(map[int]*state)}
}

// Groups returns the groups in the order in which GroupFor created them.
func (o *Optimizer) Groups() []*Group { return o.groups }

// GroupFor returns the group of a parameter, given whether it is a matrix inside a block.
func (o *Optimizer) GroupFor(matrix bool) *Group {
	h := o.hyper
	name, every := classes[h.Optimizer], h.AdamEvery
	switch {
	case matrix && h.Matrices != "":
		name, every = classes[h.Matrices], 1
	case h.Optimizer == "sgd" || every > 1 && matrix:
		name, every = sgd, 1
	}
	for _, g := range o.groups {
		if g.Name == name {
			return g
		}
	}
	g := &Group{Name: name, Every: every, Matrices: matrix && name != classes[h.Optimizer]}
	o.groups = append(o.groups, g)
	return g
}

// Update enqueues one update of some parameters of a group: of AdamW and SGD a single launch. If
// factor is not nil, those multiply gradients by it on the fly.
func (o *Optimizer) Update(g *Group, factor *device.Buffer, targets []Target) {
	one := map[string]func(*state, Target){distAdam: o.distAdam, muon: o.muon}[g.Name]
	if one == nil {
		o.fused(g, factor, targets)
		return
	}
	for _, t := range targets {
		one(o.state(g, t), t)
	}
}

// fused updates all targets in one launch.
func (o *Optimizer) fused(g *Group, factor *device.Buffer, targets []Target) {
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
		s := o.state(g, t)
		s.updates++
		op.M, op.V = append(op.M, s.mean), append(op.V, s.square)
		if s.master != nil {
			op.Master = append(op.Master, s.master)
		}
	}
	op.Step = o.states[targets[0].Index].updates
	o.rank.Run(op)
}

// state returns the moments of a parameter. They are allocated by the first update, as in
// PyTorch, so that a trace shows the allocation in the same place.
func (o *Optimizer) state(g *Group, t Target) *state {
	s := o.states[t.Index]
	if s != nil {
		return s
	}
	dt := t.Value.DType
	if g.Name == adamW && o.hyper.MasterWeights {
		dt = dt.Kept()
	}
	s = &state{mean: o.rank.ZerosOf(dt, t.Value.Shape...)}
	if g.Name != muon {
		s.square = o.rank.ZerosOf(dt, t.Value.Shape...)
	}
	if dt != t.Value.DType {
		s.master = o.rank.Malloc(dt, t.Value.Shape...)
		o.rank.Run(ops.Cast{Y: s.master, X: t.Value})
	}
	o.states[t.Index] = s
	return s
}
