package reference

import (
	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/reference/ops"
)

// loss ends a forward pass: the cross entropy of micro-batch j, as the loop makes a
// loss of it that backward begins from.
func (r *rank) loss(t *tape, logits *value, j int) *value {
	p := r.p
	l := t.crossEntropy(logits, r.targets[j], r.losses[j], p.LossReduction == "mean")
	if p.Normalization == "micro-mean" {
		if p.bug&noRescale == 0 {
			l = t.over(l, float64(p.accumulation))
		}
		return l
	}
	if p.Normalization == "global" && p.Scale == "skip" {
		return l
	}
	if p.LossReduction == "mean" {
		l = t.times(l, r.counts[j])
	}
	if r.countsFirst() {
		l = t.times(l, r.factor)
	}
	return l
}

// countsFirst tells whether losses are multiplied by a factor of the tokens of the
// whole step, which must be known before the first forward.
func (r *rank) countsFirst() bool {
	return r.p.Scale == "loss" && (r.p.Normalization == "global" || r.p.Normalization == "per-rank")
}

// countAll adds up the tokens of a step, over ranks too where the normalisation is global.
func (r *rank) countAll(micros int) {
	r.sumCounts(micros)
	if r.p.Normalization == "global" {
		r.reduceCount()
	}
}

func (r *rank) sumCounts(micros int) {
	for j := range micros {
		r.launch(ops.Accumulate{Y: r.local, X: r.counts[j]})
	}
}

// reduceCount is the token all-reduce.
func (r *rank) reduceCount() {
	r.d.MemcpyDtoDAsync(r.compute, r.total, r.local)
	if r.world > 1 {
		r.onComms(func() { r.comm.AllReduce(r.comms, r.total, device.Sum) })
	}
}

// reduceLoss adds up the losses of all tokens, over ranks too: a second all-reduce of one
// number, which only the log wants.
func (r *rank) reduceLoss(micros int) {
	for j := range micros {
		sum := r.losses[j]
		if r.p.LossReduction == "mean" {
			sum = r.scratch[0]
			r.launch(ops.Mul{Y: sum, A: r.losses[j], B: r.counts[j]})
		}
		r.launch(ops.Accumulate{Y: r.logged, X: sum})
	}
	if r.world > 1 {
		r.onComms(func() { r.comm.AllReduce(r.comms, r.logged, device.Sum) })
	}
}

// onComms runs a collective behind all that is computed, and lets the compute stream
// wait for it.
func (r *rank) onComms(enqueue func()) {
	r.d.StreamWaitEvent(r.comms, r.d.EventRecord(r.compute))
	enqueue()
	r.d.StreamWaitEvent(r.compute, r.d.EventRecord(r.comms))
}

// makeFactor computes what summed losses, or their gradients, are multiplied by:
// ranks/tokens under a mean over ranks, 1/tokens under a sum, 1/own tokens.
func (r *rank) makeFactor() {
	tokens, ranks := r.total, 1.0
	if r.p.Normalization == "per-rank" {
		tokens = r.local
	} else if r.p.GradReduction == "mean" && r.p.bug&noWorldFactor == 0 {
		ranks = float64(r.world)
	}
	r.launch(ops.Reciprocal{Y: r.scratch[0], X: tokens})
	r.launch(ops.MulScalar{Y: r.factor, X: r.scratch[0], Value: ranks})
}

// finish is what comes between the last backward and the next step.
func (r *rank) finish(micros int) {
	var fold *device.Buffer // a factor that something else carries
	if r.p.passes() && r.p.Normalization == "global" {
		r.reduceCount()
	}
	if r.p.ReduceLoss {
		r.reduceLoss(micros)
	}
	if r.p.passes() {
		r.makeFactor()
		if fold = r.factor; r.p.Scale == "pass" || r.p.Scale == "foreach" {
			r.scalePass()
			fold = nil
		}
	}
	if !r.p.reducesInStep() {
		for _, p := range r.params {
			r.handOut(p)
		}
	}
	if r.p.ClipGradNorm > 0 && r.p.bug&clipEach == 0 {
		if r.p.Scale == "clip" {
			r.clip(fold)
			fold = nil
		} else {
			r.clip(nil)
		}
	}
	r.optimize(fold)
	r.zeroGrad()
}

// present returns the gradients that a pass between backward and optimizer goes over:
// the shards where they have been reduced already.
func (r *rank) present() []*device.Buffer {
	var list []*device.Buffer
	for _, p := range r.params {
		g := p.grad
		if p.shard != nil && r.p.ReduceScatter == "hook" {
			r.await(p)
			g = p.shard.grad
		}
		list = append(list, g)
	}
	return list
}

func (r *rank) scalePass() { r.multiply(r.present(), r.factor, r.p.Scale == "foreach") }

// multiply multiplies gradients, in one call for all or one for each.
func (r *rank) multiply(list []*device.Buffer, by *device.Buffer, foreach bool) {
	if foreach {
		r.launch(ops.ForeachScale{X: list, Factor: by})
		return
	}
	for _, g := range list {
		r.launch(ops.Scale{X: g, Factor: by})
	}
}

// clip is clip_grad_norm_: coefficient min(1, max/(norm + 1e-6)), nothing read by the
// host. With fold, gradients are still to be multiplied by it: the norm is taken
// as if they were, and one pass does both.
func (r *rank) clip(fold *device.Buffer) {
	list := r.present()
	if r.p.ForeachClip {
		r.launch(ops.ForeachNorm{Norms: r.norms, X: list})
	} else {
		for i, g := range list {
			r.launch(ops.VectorNorm{Norm: r.norms.View(i), X: g})
		}
	}
	r.launch(ops.VectorNorm{Norm: r.norm, X: r.norms, Squared: r.p.sharded()})
	if r.p.sharded() {
		r.onComms(func() { r.comm.AllReduce(r.comms, r.norm, device.Sum) })
		r.launch(ops.Sqrt{Y: r.norm, X: r.norm})
	}
	if fold != nil {
		r.launch(ops.Mul{Y: r.norm, A: r.norm, B: fold})
	}
	s := r.scratch
	r.launch(ops.AddScalar{Y: s[1], X: r.norm, Value: 1e-6})
	r.launch(ops.Reciprocal{Y: s[2], X: s[1]})
	r.launch(ops.MulScalar{Y: s[3], X: s[2], Value: r.p.ClipGradNorm})
	r.launch(ops.Clamp{Y: r.coef, X: s[3], Max: 1})
	by := r.coef
	if fold != nil {
		r.launch(ops.Mul{Y: s[1], A: r.coef, B: fold})
		by = s[1]
	}
	r.multiply(list, by, r.p.ForeachClip)
}
