package gradients

import (
	"github.com/gaprof/gaprof/reference/autograd"
	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/reference/ops"
)

// written is a gradient of a parameter that a backward node has just written: into
// the parameter's own memory, or into memory of its own, to be added.
type written struct {
	p     *Param
	fresh *device.Buffer // nil for the parameter's own
}

// Gradient returns where a backward node writes the gradient of a parameter.
func (s *Set) Gradient(of *autograd.Param) *device.Buffer {
	p := s.params[of.Index]
	if p.shard != nil {
		s.Await(p) // a reduction may still be reading
	}
	w := written{p: p}
	if p.has || p.seen > 0 {
		w.fresh = s.rank.Alloc(p.Shape...)
	}
	s.written = append(s.written, w)
	if w.fresh != nil {
		return w.fresh
	}
	return p.Grad
}

// take returns what the node that has just run wrote.
func (s *Set) take() []written {
	list := s.written
	s.written = nil
	return list
}

// Add adds gradients of one micro-batch of several in one backward: the parameter has
// not had its last one yet.
func (s *Set) Add() {
	for _, w := range s.take() {
		s.addFresh(w)
		w.p.seen++
	}
}

func (s *Set) addFresh(w written) {
	if w.fresh != nil {
		s.rank.Run(ops.Accumulate{Y: w.p.Grad, X: w.fresh})
		s.rank.Free(w.fresh)
	}
}

// Accumulate runs the AccumulateGrad nodes of gradients that are complete for this
// backward, and the hooks on them.
func (s *Set) Accumulate() {
	for _, w := range s.take() {
		evaluate := s.rank.Range("cpu_op", "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad")
		inner := s.rank.Range("cpu_op", "torch::autograd::AccumulateGrad", device.Tensor(w.p.Grad))
		if w.fresh == nil {
			s.rank.Range("cpu_op", "aten::detach", device.Tensor(w.p.Grad))()
		}
		s.addFresh(w)
		w.p.has, w.p.seen = true, 0
		inner()
		s.ready(w.p)
		evaluate()
	}
}

// ready is the hook behind AccumulateGrad.
func (s *Set) ready(p *Param) {
	if s.rank.World > 1 && s.sync && p.Group.Due(s.step) {
		switch {
		case s.policy.ReduceScatter == "hook":
			s.ReduceScatter(p)
		case !s.policy.InStep():
			s.bucketReady(p)
		}
	}
	if s.hooks.Ready != nil {
		s.hooks.Ready(p)
	}
}
