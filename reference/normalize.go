package reference

import (
	"github.com/gaprof/gaprof/reference/autograd"
	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/reference/ops"
)

// normalizer makes the losses of a step what backward begins from. The right token
// weight is 1/N, N the tokens of all ranks and micro-batches; where it is applied, to
// losses or to gradients, and which N a loop takes for it, are its options.
type normalizer struct {
	plan    *plan
	dev     *device.Rank
	s       *scalars
	scratch *device.Buffer // one number
}

func newNormalizer(p *plan, dev *device.Rank, s *scalars) *normalizer {
	return &normalizer{plan: p, dev: dev, s: s, scratch: dev.Alloc()}
}

// loss ends a forward pass: the cross entropy of micro-batch j, as the loop makes a
// loss of it.
func (n *normalizer) loss(t *autograd.Tape, logits *autograd.Value, targets *device.Buffer, j int) {
	p := n.plan
	l := t.CrossEntropy(logits, targets, n.s.losses[j], p.LossReduction == "mean")
	switch {
	case p.Normalization == "micro-mean":
		if !p.has(noRescale) {
			t.Div(l, float64(p.accumulation))
		}
	case p.Normalization == "global" && p.Scale == "skip": // the mean of the only micro-batch is right
	default:
		if p.LossReduction == "mean" {
			l = t.Mul(l, n.s.counts[j]) // a sum again
		}
		if p.scalesLoss() {
			t.Mul(l, n.s.factor)
		}
	}
}

// countFirst makes the factor of losses: it needs the tokens of all micro-batches, and
// of all ranks where the normalization is global, before the first forward.
func (n *normalizer) countFirst(micros int) {
	n.sumCounts(micros)
	if n.plan.Normalization == "global" {
		n.reduceCount()
	}
	n.makeFactor()
}

// sumCounts adds up the tokens of this rank.
func (n *normalizer) sumCounts(micros int) {
	for j := range micros {
		n.dev.Run(ops.Accumulate{Y: n.s.local, X: n.s.counts[j]})
	}
}

// reduceCount is the token all-reduce.
func (n *normalizer) reduceCount() {
	n.dev.MemcpyDtoDAsync(n.dev.Compute, n.s.total, n.s.local)
	n.allReduce(n.s.total)
}

// reduceLoss adds up the losses of all tokens, over ranks too: a second all-reduce of one
// number, which only the log wants.
func (n *normalizer) reduceLoss(micros int) {
	for j := range micros {
		sum := n.s.losses[j]
		if n.plan.LossReduction == "mean" {
			sum = n.scratch
			n.dev.Run(ops.Mul{Y: sum, A: n.s.losses[j], B: n.s.counts[j]})
		}
		n.dev.Run(ops.Accumulate{Y: n.s.logged, X: sum})
	}
	n.allReduce(n.s.logged)
}

// allReduce sums a number over ranks.
func (n *normalizer) allReduce(b *device.Buffer) {
	if n.dev.World > 1 {
		n.dev.Collective(func() { n.dev.Comm.AllReduce(n.dev.Comms, b, device.Sum) })
	}
}

// makeFactor computes what summed losses, or their gradients, are multiplied by: ranks/N
// under a mean over ranks, 1/N under a sum, 1/own tokens. It returns where that is.
func (n *normalizer) makeFactor() *device.Buffer {
	tokens, ranks := n.s.total, 1.0
	if n.plan.Normalization == "per-rank" {
		tokens = n.s.local
	} else if n.plan.GradReduction == "mean" && !n.plan.has(noWorldFactor) {
		ranks = float64(n.dev.World)
	}
	n.dev.Run(ops.Reciprocal{Y: n.scratch, X: tokens})
	n.dev.Run(ops.MulScalar{Y: n.s.factor, X: n.scratch, Value: ranks})
	return n.s.factor
}
