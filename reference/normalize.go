package reference

import (
	"github.com/gaprof/gaprof/reference/autograd"
	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/reference/ops"
)

// normalizer gives each token its weight in the gradient. The right weight is 1/N, with N
// the number of tokens over all ranks and micro-batches. The options decide what a loop
// takes for N, and whether it scales losses or gradients.
type normalizer struct {
	plan    *plan
	dev     *device.Rank
	s       *scalars
	follow  *follower
	scratch *device.Buffer // a scalar
}

func newNormalizer(p *plan, dev *device.Rank, s *scalars, f *follower) *normalizer {
	return &normalizer{plan: p, dev: dev, s: s, follow: f, scratch: dev.Scalar()}
}

// loss completes the forward pass of micro-batch j: its cross entropy, scaled as the loop
// scales losses.
func (n *normalizer) loss(t *autograd.Tape, logits *autograd.Value, targets *device.Buffer, j int) {
	p := n.plan
	l := t.CrossEntropy(logits, targets, n.s.losses[j], p.LossReduction == "mean")
	did := lossDeeds{divided: 1}
	defer func() { n.follow.loss(j, did) }()
	switch {
	case p.Normalization == "micro-mean":
		if !p.has(noRescale) {
			t.Div(l, float64(p.accumulation))
			did.divided = float64(p.accumulation)
		}
	case p.Normalization == "global" && p.Scale == "skip": // the mean over the only micro-batch already is 1/N
	default:
		if p.LossReduction == "mean" {
			l = t.Mul(l, n.s.counts[j]) // back to a sum
			did.counts = true
		}
		if p.scalesLoss() {
			t.Mul(l, n.s.factor)
			did.factor = true
		}
	}
}

// countFirst computes the factor for losses before the first forward, from the tokens of
// all micro-batches and, if normalization is global, of all ranks.
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

// reduceLoss sums the losses of all tokens over micro-batches and ranks: a second
// all-reduce of one number, needed for nothing but the log.
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

// allReduce sums a scalar over ranks.
func (n *normalizer) allReduce(b *device.Buffer) {
	if n.dev.World > 1 {
		n.dev.Collective(func() { n.dev.Comm.AllReduce(n.dev.Comms, b, device.Sum) })
	}
}

// makeFactor computes the factor for summed losses, or for their gradients: R/N if the
// reduction over R ranks is a mean, 1/N if it is a sum, 1/own tokens if normalization is
// per rank. It returns the scalar that holds it.
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
