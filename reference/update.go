package reference

import (
	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/reference/ops"
)

func (o *optimizer) stepName() string { return "Optimizer.step#" + o.name + ".step" }

// optimize steps the optimizers that are due; fold is a factor of the gradients, or nil.
func (r *rank) optimize(fold *device.Buffer) {
	if r.p.OptimizerInBackward {
		return
	}
	done := r.span("optimizer", r.step)
	defer done()
	for _, o := range r.optimizers {
		if !o.due(r.step) {
			continue
		}
		end := r.d.Range("user_annotation", o.stepName())
		switch {
		case r.p.sharded():
			r.stepSharded(o, fold)
		case r.p.AllReduce == "step":
			r.reduceAll(o)
			fallthrough
		default:
			r.update(fold, o.params...)
		}
		end()
	}
}

// reduceAll all-reduces the gradients of an optimizer one by one, as accumulated over all
// micro-batches.
func (r *rank) reduceAll(o *optimizer) {
	r.onComms(func() {
		for _, p := range o.params {
			r.comm.AllReduce(r.comms, p.grad, r.reduction())
		}
	})
	for _, p := range o.params {
		r.handOut(p)
	}
}

// stepSharded reduces what has not been reduced in hooks, all launched before the
// first is waited for; then updates each shard and gathers the parameter.
func (r *rank) stepSharded(o *optimizer, fold *device.Buffer) {
	order := r.p.stepOrder(o.params)
	inStep := r.p.ReduceScatter == "step"
	if inStep {
		for _, p := range order {
			r.reduceScatter(p)
		}
	}
	for _, p := range order {
		if r.await(p); inStep {
			r.handOut(p)
		}
		r.update(fold, p)
		r.d.StreamWaitEvent(r.comms, r.d.EventRecord(r.compute))
		r.comm.AllGather(r.comms, p.shard.value, p.shard.padded)
	}
	r.d.StreamWaitEvent(r.compute, r.d.EventRecord(r.comms))
}

// update is one optimizer step of some parameters of one optimizer, or of this rank's
// shards of them, in one launch.
func (r *rank) update(fold *device.Buffer, params ...*param) {
	var values, grads, means, squares []*device.Buffer
	for _, p := range params {
		value, grad := p.mine()
		values, grads = append(values, value), append(grads, grad)
		if p.m == nil && p.group.name == "AdamW" {
			p.m, p.v = r.zeros(value.Shape), r.zeros(value.Shape)
		}
		means, squares = append(means, p.m), append(squares, p.v)
		p.updates++
	}
	if params[0].group.name == "SGD" {
		r.launch(ops.SGD{P: values, G: grads, Factor: fold, LR: r.p.LearningRate, Decay: r.p.WeightDecay})
		return
	}
	r.launch(ops.AdamW{P: values, G: grads, M: means, V: squares, Factor: fold, LR: r.p.LearningRate, Beta1: r.p.Beta1, Beta2: r.p.Beta2,
		Eps: r.p.Epsilon, Decay: r.p.WeightDecay, Step: params[0].updates})
}

// zeroGrad is zero_grad(set_to_none=True) of the optimizers that have stepped.
func (r *rank) zeroGrad() {
	for _, o := range r.optimizers {
		if !o.due(r.step) {
			continue
		}
		end := r.d.Range("user_annotation", "Optimizer.zero_grad#"+o.name+".zero_grad")
		for _, p := range o.params {
			p.has = false
			if p.shard != nil {
				p.shard.has = false
			}
		}
		end()
	}
}
