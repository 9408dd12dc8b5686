package reference

import (
	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/reference/ops"
)

// written is a gradient of a parameter that a backward node has just written: into
// the parameter's own, or into memory of its own, to be added.
type written struct {
	p     *param
	fresh *device.Buffer // nil for the parameter's own
}

// gradientOf returns where a backward node writes the gradient of p.
func (r *rank) gradientOf(p *param) *device.Buffer {
	if p.shard != nil {
		r.await(p) // a reduction may still be reading
	}
	w := written{p: p}
	if p.has || p.seen > 0 {
		w.fresh = r.d.Malloc(r.p.dt, p.shape...)
	}
	r.written = append(r.written, w)
	if w.fresh != nil {
		return w.fresh
	}
	return p.grad
}

// addUp adds gradients of one micro-batch of several in one backward: the parameter
// has not had its last one yet.
func (r *rank) addUp(list []written) {
	for _, w := range list {
		r.addFresh(w)
		w.p.seen++
	}
}

func (r *rank) addFresh(w written) {
	if w.fresh != nil {
		r.launch(ops.Accumulate{Y: w.p.grad, X: w.fresh})
		r.d.Free(w.fresh)
	}
}

// accumulateAll runs the AccumulateGrad nodes of gradients that are final for this
// backward, and what hooks there are on them.
func (r *rank) accumulateAll(list []written) {
	for _, w := range list {
		evaluate := r.d.Range("cpu_op", "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad")
		inner := r.d.Range("cpu_op", "torch::autograd::AccumulateGrad", device.Tensor(w.p.grad))
		if w.fresh == nil {
			r.d.Range("cpu_op", "aten::detach", device.Tensor(w.p.grad))()
		}
		r.addFresh(w)
		w.p.has, w.p.seen = true, 0
		inner()
		r.ready(w.p)
		evaluate()
	}
}

// ready is the hook behind AccumulateGrad.
func (r *rank) ready(p *param) {
	if r.world > 1 && r.syncing && p.group.due(r.step) {
		switch r.p.ReduceScatter {
		case "hook":
			r.reduceScatter(p)
		case "":
			if r.p.AllReduce == "hook" {
				r.bucketReady(p)
			}
		}
	}
	if r.p.OptimizerInBackward {
		r.takeBack(p)
		end := r.d.Range("user_annotation", p.group.stepName())
		r.update(nil, p)
		end()
		p.has = r.p.bug&keepUsed != 0
	}
}

// bucketReady counts, and reduces a bucket whose parameters are all there. DDP divides
// before it sums where gradients are no views of buckets; nothing else would move them.
func (r *rank) bucketReady(p *param) {
	b, op := p.bucket, r.reduction()
	if p.place != nil {
		r.intoBucket(p)
		op = device.Sum
	}
	if b.ready++; b.ready < len(b.params) {
		return
	}
	r.d.StreamWaitEvent(r.comms, r.d.EventRecord(r.compute))
	r.comm.AllReduce(r.comms, b.flat, op)
	b.sent = true
	done := &reduction{event: r.d.EventRecord(r.comms)}
	for _, p := range b.params {
		p.reduced = done
	}
}

// intoBucket is what DDP does with a gradient that is no view.
func (r *rank) intoBucket(p *param) {
	by := 1.0
	if r.p.GradReduction == "mean" {
		by /= float64(r.world)
	}
	end := r.d.Range("cpu_op", "torch::distributed::reducer::mul_out", device.Tensor(p.grad))
	r.launch(ops.MulInto{Y: p.place, X: p.grad, Value: by})
	end()
}

// takeBack lets the compute stream wait for the reduction of a gradient, and copies it
// back where it is no view.
func (r *rank) takeBack(p *param) {
	if r.await(p); p.place == nil || p.bucket == nil || !p.bucket.sent {
		return
	}
	end := r.d.Range("cpu_op", "torch.distributed.ddp.reducer::copy_bucket_to_grad", device.Tensor(p.grad))
	r.d.MemcpyDtoDAsync(r.compute, p.grad, p.place)
	end()
}

// reduction is one that the compute stream may have to wait for.
type reduction struct {
	event  device.Event
	waited bool
}

func (r *rank) reduction() device.Reduce {
	if r.p.GradReduction == "sum" {
		return device.Sum
	}
	return device.Avg
}

// reduceScatter reduces the gradient of p to this rank's shard of it, or onto what is
// there from earlier micro-batches. The whole gradient is used up.
func (r *rank) reduceScatter(p *param) {
	done := r.span("reduce_scatter", r.step)
	defer done()
	s := p.shard
	to := s.grad
	if s.has {
		to = s.fresh
	}
	r.d.StreamWaitEvent(r.comms, r.d.EventRecord(r.compute))
	r.comm.ReduceScatter(r.comms, s.paddedGrad, to, r.reduction())
	if s.has {
		r.d.Launch(r.comms, ops.Accumulate{Y: s.grad, X: s.fresh})
	}
	s.has, p.has = true, false
	p.reduced = &reduction{event: r.d.EventRecord(r.comms)}
}

// await lets the compute stream wait for the last reduction of a gradient.
func (r *rank) await(p *param) {
	if p.reduced != nil && !p.reduced.waited {
		p.reduced.waited = true
		r.d.StreamWaitEvent(r.compute, p.reduced.event)
	}
}

// handOut copies a gradient to the host as it is just before clipping and optimizer,
// if somebody wants it. Of shards it is gathered first.
func (r *rank) handOut(p *param) {
	if r.callbacks.Gradients == nil || !p.group.due(r.step) {
		return
	}
	if s := p.shard; s != nil {
		r.await(p)
		r.onComms(func() { r.comm.AllGather(r.comms, s.grad, s.paddedGrad) })
	}
	host := make([]float64, p.grad.N)
	r.d.MemcpyDtoHAsync(r.compute, device.Host{Floats: host}, p.grad)
	r.handed = append(r.handed, Tensor{p.name, p.shape, host})
}
