package gradients

import (
	"slices"

	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/reference/ops"
)

func (s *Set) makeShard(p *Param) {
	shape := padded(p.Shape, s.rank.World)
	rows := slices.Clone(shape)
	rows[0] /= s.rank.World
	sh := &shard{among: s.rank.Comm, padded: s.rank.Zeros(shape...), paddedGrad: s.rank.Zeros(shape...)}
	sh.grad = s.rank.Zeros(rows...)
	sh.fresh = s.rank.Zeros(rows...)
	sh.value = sh.padded.View(s.rank.Index*device.Elements(rows), rows...)
	p.shard = sh
	p.Value = sh.padded.View(0, p.Shape...)
	p.Grad = sh.paddedGrad.View(0, p.Shape...)
}

// padded returns a shape whose first dimension is a multiple of ranks.
func padded(shape []int, ranks int) []int {
	out := slices.Clone(shape)
	out[0] = (shape[0] + ranks - 1) / ranks * ranks
	return out
}

// ReduceScatter reduces the gradient of p into this rank's shard, adding to what earlier
// micro-batches left there. The whole gradient counts as consumed.
func (s *Set) ReduceScatter(p *Param) {
	if s.hooks.Span != nil {
		defer s.hooks.Span("reduce_scatter", s.step)()
	}
	sh, comms := p.shard, s.rank.Comms
	to := sh.grad
	if sh.has {
		to = sh.fresh
	}
	op := s.policy.Reduction()
	if s.hooks.Divide != nil {
		s.hooks.Divide(p.Grad, p)
		op = device.Sum
	}
	s.rank.Fork()
	s.rank.Comm.ReduceScatter(comms, sh.paddedGrad, to, op)
	if sh.has {
		s.rank.Launch(comms, ops.Accumulate{Y: sh.grad, X: sh.fresh})
	}
	sh.has, p.has = true, false
	s.did(p, reduced(op, AveragedShard, SummedShard))
	p.reduced = &reduction{event: s.rank.EventRecord(comms)}
}

// Gather returns the whole reduced gradient of a parameter, which is gathered first if it is
// sharded: in place of the one that this rank computed alone, or with full sharding in memory
// that free gives back.
func (s *Set) Gather(p *Param) (all *device.Buffer, free func()) {
	if p.unit != nil {
		return s.full.whole(p, p.shard.grad)
	}
	if p.shard != nil {
		s.Await(p)
		s.rank.Collective(func() { s.rank.Comm.AllGather(s.rank.Comms, p.shard.grad, p.shard.paddedGrad) })
	}
	return p.Grad, func() {}
}

// Whole returns a parameter as a whole, in memory that free gives back with full sharding.
func (s *Set) Whole(p *Param) (all *device.Buffer, free func()) {
	if p.unit != nil {
		return s.full.whole(p, p.shard.value)
	}
	return p.Value, func() {}
}

// GatherValue restores a whole parameter after its shards were updated. The compute
// stream does not wait for it: call Join on the rank before the parameter is used.
func (s *Set) GatherValue(p *Param) {
	s.rank.Fork()
	s.rank.Comm.AllGather(s.rank.Comms, p.shard.value, p.shard.padded)
}
