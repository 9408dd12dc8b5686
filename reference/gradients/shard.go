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
	sh := &shard{padded: s.rank.Zeros(shape...), paddedGrad: s.rank.Zeros(shape...)}
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

// ReduceScatter reduces the gradient of p to this rank's shard of it, or onto what is
// there from earlier micro-batches. The whole gradient is used up.
func (s *Set) ReduceScatter(p *Param) {
	if s.hooks.Span != nil {
		defer s.hooks.Span("reduce_scatter", s.step)()
	}
	sh, comms := p.shard, s.rank.Comms
	to := sh.grad
	if sh.has {
		to = sh.fresh
	}
	s.rank.Fork()
	s.rank.Comm.ReduceScatter(comms, sh.paddedGrad, to, s.policy.Reduction())
	if sh.has {
		s.rank.Launch(comms, ops.Accumulate{Y: sh.grad, X: sh.fresh})
	}
	sh.has, p.has = true, false
	p.reduced = &reduction{event: s.rank.EventRecord(comms)}
}

// Gather makes the gradient of a sharded parameter whole again on every rank. It takes
// the place of what this rank had computed alone.
func (s *Set) Gather(p *Param) {
	if p.shard == nil {
		return
	}
	s.Await(p)
	s.rank.Collective(func() { s.rank.Comm.AllGather(s.rank.Comms, p.shard.grad, p.shard.paddedGrad) })
}

// GatherValue makes a parameter whole again once its shards are updated. Whoever reads
// it must join the compute stream with the collectives first.
func (s *Set) GatherValue(p *Param) {
	s.rank.Fork()
	s.rank.Comm.AllGather(s.rank.Comms, p.shard.value, p.shard.padded)
}
