package gradients

import (
	"slices"

	"github.com/gaprof/gaprof/reference/autograd"
	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/reference/optim"
)

// Hooks are what a Set calls; those that are nil are not called.
type Hooks struct {
	// Ready is called when a gradient is complete for its backward pass, and its
	// reduction, if there is one, is enqueued. An optimizer in backward steps here.
	Ready func(p *Param)
	// Span brackets a reduce_scatter; number is the training step.
	Span func(name string, number int) (end func())
}

// Set is the gradients of one rank.
type Set struct {
	rank   *device.Rank
	policy Policy
	hooks  Hooks
	params []*Param

	// Of the backward pass that runs.
	step    int
	sync    bool      // its gradients are reduced
	written []written // by the node that runs
}

var _ autograd.Accumulator = (*Set)(nil)

// New returns a Set without parameters.
func New(rank *device.Rank, policy Policy, hooks Hooks) *Set {
	return &Set{rank: rank, policy: policy, hooks: hooks}
}

// Insert makes memory for a parameter, which begins with the values given.
func (s *Set) Insert(name string, shape []int, group *optim.Group, values []float64) {
	p := &Param{Param: autograd.Param{Name: name, Index: len(s.params), Shape: shape}, Group: group}
	if s.policy.Sharded() {
		s.makeShard(p)
	} else {
		p.Value = s.rank.Alloc(shape...)
	}
	s.rank.Upload(p.Value, device.Host{Floats: values})
	s.params = append(s.params, p)
}

// Complete makes memory for the gradients of all parameters that are there.
func (s *Set) Complete() {
	if s.policy.Sharded() {
		return // shards bring their own
	}
	var open []*Param
	size := 0
	for i, p := range slices.Backward(s.params) {
		open = append(open, p)
		size += device.Elements(p.Shape)
		if i == 0 || s.closes(s.params[i-1], p, size) {
			s.makeBucket(open, size)
			open, size = nil, 0
		}
	}
}

// closes reports whether a bucket of size elements ends with p, before next. An
// optimizer in backward wants each gradient as soon as it is there.
func (s *Set) closes(next, p *Param, size int) bool {
	full := size*int(s.rank.DType.Size()) >= s.policy.BucketBytes
	return full || next.Group != p.Group || s.hooks.Ready != nil
}

// Params returns all parameters in the order of the model.
func (s *Set) Params() []*Param { return s.params }

// Of returns the parameters of a group in the order of the model.
func (s *Set) Of(g *optim.Group) []*Param {
	var list []*Param
	for _, p := range s.params {
		if p.Group == g {
			list = append(list, p)
		}
	}
	return list
}

// Begin begins the backward pass of a training step, or one of several; sync says that
// its gradients are reduced.
func (s *Set) Begin(step int, sync bool) {
	s.step, s.sync = step, sync
	for _, p := range s.params {
		if p.bucket != nil {
			p.bucket.ready, p.bucket.sent = 0, false
		}
	}
}

// End lets the compute stream wait for all-reduces of a backward pass. Shards wait for
// their own reduction when somebody asks for them.
func (s *Set) End() {
	if s.policy.Sharded() {
		return
	}
	for _, p := range s.params {
		s.TakeBack(p)
	}
}

// Stored returns the gradients that a pass between backward and optimizer goes over:
// the shards where they have been reduced already.
func (s *Set) Stored() []*device.Buffer {
	var list []*device.Buffer
	for _, p := range s.params {
		g := p.Grad
		if p.shard != nil && s.policy.ReduceScatter == "hook" {
			s.Await(p)
			g = p.shard.grad
		}
		list = append(list, g)
	}
	return list
}

// Await lets the compute stream wait for the last reduction of a gradient.
func (s *Set) Await(p *Param) {
	if p.reduced != nil && !p.reduced.waited {
		p.reduced.waited = true
		s.rank.StreamWaitEvent(s.rank.Compute, p.reduced.event)
	}
}
