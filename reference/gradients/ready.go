package gradients

import (
	"github.com/gaprof/gaprof/reference/autograd"
	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/reference/ops"
)

// written is a gradient that the current node writes, either directly into Grad or into a
// temporary buffer that is then added to it.
type written struct {
	p     *Param
	fresh *device.Buffer // the temporary buffer; nil if written into Grad
}

// Gradient implements autograd.Accumulator.
func (s *Set) Gradient(of *autograd.Param) *device.Buffer {
	p := s.params[of.Index]
	if p.shard != nil {
		s.Await(p) // a reduction may still be reading
	}
	if p.Grad == nil {
		p.Grad = s.rank.Alloc(p.Shape...)
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

// take returns what the current node wrote, and resets the list for the next one.
func (s *Set) take() []written {
	list := s.written
	s.written = nil
	return list
}

// Add implements autograd.Accumulator: it adds the gradients of one of several
// micro-batches in a backward pass. They do not count as accumulated before the last.
func (s *Set) Add() {
	for _, w := range s.take() {
		s.addFresh(w)
		w.p.seen++
	}
}

func (s *Set) addFresh(w written) {
	if w.fresh != nil {
		s.rank.Run(ops.Accumulate{Y: w.p.Grad, X: w.fresh, Transposed: w.p.Transposed})
		s.rank.Free(w.fresh)
	}
}

// Accumulate implements autograd.Accumulator: it runs AccumulateGrad nodes, and the hooks
// on them. Those of a compiled program run after the single node of its whole backward pass.
func (s *Set) Accumulate() {
	list := s.take()
	if s.policy.Compiled {
		s.deferred = append(s.deferred, list...)
		return
	}
	s.accumulate(list)
}

// accumulate runs AccumulateGrad nodes, and the hooks on them.
func (s *Set) accumulate(list []written) {
	for _, w := range list {
		evaluate := s.rank.Range("cpu_op", "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad")
		inner := s.rank.Range("cpu_op", "torch::autograd::AccumulateGrad", device.Tensor(w.p.Grad))
		if w.fresh == nil {
			s.rank.Range("cpu_op", "aten::detach", device.Tensor(w.p.Grad))()
		}
		s.addFresh(w)
		w.p.has, w.p.seen = true, 0
		s.did(w.p, Accumulated)
		inner()
		s.ready(w.p)
		evaluate()
	}
}

// ready is the hook that runs after AccumulateGrad.
func (s *Set) ready(p *Param) {
	if s.rank.World > 1 && s.full == nil && s.sync && p.Group.Due(s.step) {
		switch {
		case s.policy.StepReduces(p.Group):
		case s.policy.ReduceScatter == "hook":
			s.ReduceScatter(p)
		default:
			s.bucketReady(p)
		}
	}
	if s.hooks.Ready != nil {
		s.hooks.Ready(p)
	}
}
