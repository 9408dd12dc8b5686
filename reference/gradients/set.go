package gradients

import (
	"slices"

	"github.com/gaprof/gaprof/reference/autograd"
	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/reference/optim"
)

// Hooks are callbacks of a Set. Any of them may be nil.
type Hooks struct {
	// Divide divides what is reduce-scattered next, the whole gradients of some parameters, by the ranks. The reduction
	// is a sum then.
	Divide func(grads *device.Buffer, of ...*Param)
	// Ready is called when a gradient is complete for its backward pass, after its
	// reduction, if any, was enqueued. An optimizer in backward steps here.
	Ready func(p *Param)
	// Did is called for what happens to a gradient, when it is enqueued.
	Did func(p *Param, e Event)
	// Span is called at the beginning of a reduce_scatter with the number of the step;
	// the function it returns is called at the end.
	Span func(name string, number int) (end func())
}

// Set holds the parameters and gradients of one rank. Use Insert for every parameter,
// then Complete, before anything else.
type Set struct {
	rank   *device.Rank
	policy Policy
	hooks  Hooks
	params []*Param
	full   *full // nil unless sharding is full

	buckets []*bucket // in the order of their parameters
	became  []*Param  // parameters in the order in which they were ready in the first pass that reduced all

	// State of the current backward pass.
	step    int
	turn    int       // the bucket whose turn it is, where order is kept
	sync    bool      // gradients are reduced
	merge   bool      // ... over replicas, too
	written []written // by the current node

	deferred []written // by all nodes of a compiled backward pass
}

var _ autograd.Accumulator = (*Set)(nil)

// New returns an empty Set.
func New(rank *device.Rank, policy Policy, hooks Hooks) *Set {
	s := &Set{rank: rank, policy: policy, hooks: hooks}
	if policy.Full() {
		s.full = newFull(s)
	}
	return s
}

// Insert allocates a parameter and uploads its initial values.
func (s *Set) Insert(name string, shape []int, group *optim.Group, values []float64) *Param {
	p := &Param{Param: autograd.Param{Name: name, Index: len(s.params), Shape: shape}, Group: group}
	s.params = append(s.params, p)
	switch {
	case s.full != nil:
		s.full.insert(p, values)
		return p
	case s.policy.Sharded():
		s.makeShard(p)
	default:
		p.Value = s.rank.Alloc(shape...)
	}
	s.rank.Upload(p.Value, device.Host{Floats: values})
	return p
}

// Complete allocates the gradients of all parameters. It comes after the last Insert
// because buckets are filled from the last parameter to the first.
func (s *Set) Complete() {
	if s.policy.Sharded() {
		return // Insert has allocated them with the shards
	}
	order := slices.Clone(s.params)
	if s.policy.BucketOrder != "forward" {
		slices.Reverse(order)
	}
	s.makeBuckets(order)
}

// makeBuckets fills buckets with parameters in an order.
func (s *Set) makeBuckets(order []*Param) {
	var open []*Param
	size := 0
	for i, p := range order {
		open = append(open, p)
		size += device.Elements(p.Shape)
		if i == len(order)-1 || s.closes(order[i+1], p, size) {
			s.makeBucket(open, size)
			open, size = nil, 0
		}
	}
}

// closes reports whether p is the last parameter of a bucket that has reached size
// elements, next being the parameter that follows. An optimizer in backward needs each
// gradient as soon as it is ready, hence a bucket for each.
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

// Begin starts a backward pass of the given step. sync says whether gradients are reduced
// in this pass, last whether it is that of the step's last micro-batch.
func (s *Set) Begin(step int, sync, last bool) {
	s.step, s.sync, s.turn = step, sync, 0
	s.rebuild()
	if len(s.became) < len(s.params) {
		s.became = nil // a pass that reduced some only is no order of all
	}
	s.merge = last || s.policy.ReplicaSync != "last"
	for _, p := range s.params {
		if p.bucket != nil {
			p.bucket.ready, p.bucket.sent = 0, false
		}
	}
}

// End accumulates what a compiled backward pass has left, in the order of the model, and makes the
// compute stream wait for the all-reduces of a backward pass. For shards it does nothing more: the
// wait for each is deferred until its gradient is used.
func (s *Set) End() {
	slices.SortStableFunc(s.deferred, func(a, b written) int { return a.p.Index - b.p.Index })
	s.accumulate(s.deferred)
	s.deferred = nil
	if s.policy.Sharded() {
		return
	}
	for _, p := range s.params {
		s.TakeBack(p)
	}
}

// Stored returns the gradients that scaling and clipping between backward and optimizer
// operate on: shards if those have been reduced, else whole gradients.
func (s *Set) Stored() []*device.Buffer {
	var list []*device.Buffer
	for _, p := range s.params {
		g := p.Grad
		if s.Scattered(p) {
			s.Await(p)
			g = p.shard.grad
		}
		list = append(list, g)
	}
	return list
}

// Await makes the compute stream wait for the most recent reduction of a gradient.
func (s *Set) Await(p *Param) {
	if p.reduced != nil && !p.reduced.waited {
		p.reduced.waited = true
		s.rank.StreamWaitEvent(s.rank.Compute, p.reduced.event)
	}
}

// Hooks are what a module does around its passes: autograd.Tape calls them. They are nil if
// parameters are whole, or it has none.
func (s *Set) Hooks(module string) autograd.Hooks {
	if s.full == nil {
		return nil
	}
	for _, u := range s.full.units {
		if u.name == module {
			return u
		}
	}
	return nil
}

// Shards returns the communicator of the ranks that together have all gradients, once those
// are reduced; nil if this rank has all of them.
func (s *Set) Shards() device.Communicator {
	c := s.rank.Comm
	if s.full != nil {
		c = s.full.shards
	}
	if !s.policy.Sharded() || c.Size() == 1 {
		return nil
	}
	return c
}
