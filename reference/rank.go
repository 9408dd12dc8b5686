package reference

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/gaprof/gaprof/reference/autograd"
	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/reference/gradients"
	"github.com/gaprof/gaprof/reference/model"
	"github.com/gaprof/gaprof/reference/ops"
	"github.com/gaprof/gaprof/reference/optim"
)

// rank is the program of one rank: the training loop and the parts it consists of. Its
// dispatch thread only enqueues and never branches on the contents of device memory, so
// the sequence of operations in a step is the same on every device.
type rank struct {
	plan   *plan
	dev    *device.Rank
	net    *model.Network
	in     *inputs
	s      *scalars
	norm   *normalizer
	clip   *clipper
	grads  *gradients.Set
	update *updater
	follow *follower
	export *gradientExport
	back   *readback
	span   spanFunc
	alike  bool // this rank stands for others

	one  *device.Buffer // gradient of the loss
	sum  *device.Buffer // sum of losses, if one backward covers several
	part *device.Buffer // 1/accumulation, for a plant
}

// spanFunc begins a span of the program; the function it returns ends the span.
type spanFunc func(name string, number int) (end func())

// spans returns the spanFunc of a rank, which does nothing without a callback.
func (c *Callbacks) spans(rank int) spanFunc {
	if c.Span == nil {
		nothing := func() {}
		return func(string, int) func() { return nothing }
	}
	return func(name string, number int) func() { return c.Span(rank, name, number) }
}

func newRank(shared *run, m device.Member) *rank {
	p := shared.plan
	if d := p.launching.of(m.Comm.Rank()); d > 0 {
		m.Device = slowLaunches{m.Device, d}
	}
	dev := device.NewRank(m, p.dtype)
	r := &rank{plan: p, dev: dev, alike: shared.collector.ranks < p.WorldSize,
		span: shared.callbacks.spans(dev.Index), follow: &follower{}}
	o := r.makeParams()
	r.s = newScalars(dev, p.accumulation)
	r.norm = newNormalizer(p, dev, r.s, r.follow)
	r.clip = newClipper(p, dev, r.s, r.grads)
	r.one = dev.Scalar()
	r.sum = dev.Scalar()
	r.part = dev.Scalar()
	dev.Upload(r.part, device.Host{Floats: []float64{1 / float64(p.accumulation)}})
	r.in = newInputs(p, dev, shared.data)
	r.export = &gradientExport{dev: dev, grads: r.grads, wanted: shared.callbacks.Gradients != nil && !p.Target.Shapes}
	r.update = &updater{plan: p, dev: dev, grads: r.grads, optim: o, export: r.export,
		follow: r.follow, span: r.span}
	r.back = &readback{plan: p, dev: dev, s: r.s, collector: shared.collector}
	r.restore(o)
	return r
}

// makeParams allocates parameters and gradients, and builds the network and the
// optimizers on top of them.
func (r *rank) makeParams() *optim.Optimizer {
	hooks := gradients.Hooks{Span: r.span, Did: r.follow.did}
	if r.plan.has(divideWhole) {
		by := r.dev.Scalar()
		r.dev.Upload(by, device.Host{Floats: []float64{1 / float64(r.dev.World)}})
		hooks.Divide = func(grads *device.Buffer, of ...*gradients.Param) {
			r.dev.Run(ops.Scale{X: grads, Factor: by})
			if r.follow.of != nil && slices.Contains(of, r.follow.of) {
				r.scaledBy(1/float64(r.dev.World), false)
			}
		}
	}
	if r.plan.OptimizerInBackward {
		hooks.Ready = func(p *gradients.Param) { r.update.early(p) }
	}
	r.grads = gradients.New(r.dev, r.plan.Policy, hooks)
	o := optim.New(r.dev, r.plan.Hyperparameters)
	for _, s := range r.plan.Specs() {
		r.grads.Insert(s.Name, s.Shape, o.GroupFor(s.Matrix), r.initial(s)).Transposed = s.Transposed
	}
	r.grads.Complete()
	r.follow.choose(r.grads.Params())
	var params []*autograd.Param
	for _, p := range r.grads.Params() {
		params = append(params, &p.Param)
	}
	r.net = model.New(r.dev, r.plan.Shape, params)
	r.elsewhere()
	return o
}

// initial are the initial values of a parameter, nil where tensors have no contents.
func (r *rank) initial(s model.Spec) []float64 {
	if r.plan.Target.Shapes {
		return nil
	}
	return s.Initial(r.plan.Seed, r.plan.Weights)
}

// train runs steps until data or MaxSteps run out or ctx is cancelled.
func (r *rank) train(ctx context.Context, shared *run) error {
	for step := r.plan.Resume.first(); shared.gate.enter(ctx, step); step++ {
		done := shared.turn()
		err := r.trainStep(step, r.in.micros(step))
		done()
		if err != nil {
			return err
		}
		if err := r.dev.Err(); err != nil {
			return err
		}
		r.keep(step)
	}
	r.dev.DeviceSynchronize()
	r.back.deliver()
	return r.dev.Err()
}

// trainStep enqueues one step of the given number of micro-batches and delivers the
// previous step.
func (r *rank) trainStep(step, micros int) error {
	defer r.dev.Range("user_annotation", fmt.Sprintf("ProfilerStep#%d", step))()
	r.dev.BeginStep(step)
	defer r.span("train.step", step)()
	r.s.clear(r.dev)
	if err := r.in.load(step, micros, r.s.counts); err != nil {
		return err
	}
	if r.plan.scalesLoss() {
		r.norm.countFirst(micros)
	}
	r.accumulate(step, micros)
	if !r.plan.scalesLoss() {
		r.norm.sumCounts(micros)
	}
	r.finish(step, micros)
	if r.plan.ReadLoss == "step" {
		r.readLoss(micros - 1)
	}
	r.back.enqueue(&pending{step: step, micros: micros, valid: r.in.valid, gradients: r.export.take(),
		story: r.follow.take()})
	if r.plan.EmptyCache {
		r.dev.EmptyCache()
	}
	r.dev.Sleep(r.plan.pausing.of(r.dev.Index))
	return nil
}

// accumulate enqueues forward and backward of all micro-batches.
func (r *rank) accumulate(step, micros int) {
	switch {
	case r.plan.has(backwardOutside):
		r.backwardOnce(step, micros, micros-1)
	case r.plan.Backward == "step":
		r.backwardOnce(step, micros, 0)
	default:
		for j := range micros {
			r.microBatch(step, j, j == micros-1)
		}
	}
}

func (r *rank) microBatch(step, j int, last bool) {
	defer r.span("micro_batch", j)()
	if r.plan.has(zeroEach) {
		r.update.zeroGrad(step)
	}
	if r.plan.has(compileLate) && step == 0 && j == 0 {
		r.compile()
	}
	t := r.forward(j)
	if r.plan.has(noSyncAround) && !last {
		defer r.dev.Range("user_annotation", "no_sync")()
	}
	r.follow.tapes = []int{j}
	r.backward(step, last, t)
	if r.plan.ReadLoss == "micro-batch" {
		r.readLoss(j)
	}
	if r.plan.has(scaleEach) {
		for _, p := range r.grads.Params() {
			r.dev.Run(ops.Scale{X: p.Mine().Grad, Factor: r.part})
		}
		r.scaledBy(1/float64(r.plan.accumulation), r.plan.Sharded())
	}
	if r.plan.has(clipEach) {
		r.clip.clip(r.grads.Stored(), nil)
		r.follow.note(r.follow.of, deed{what: clipped})
	}
}

// scaledBy notes that stored gradients were multiplied by a number, NaN for the step's factor:
// the shards, or whole ones.
func (r *rank) scaledBy(by float64, shard bool) {
	r.follow.note(r.follow.of, deed{what: scaled, by: by, shard: shard})
}

// backwardOnce enqueues all forward passes, then a single backward pass over micro-batches
// first and later. It runs them last to first, as autograd does for a sum of losses.
func (r *rank) backwardOnce(step, micros, first int) {
	var tapes []*autograd.Tape
	var sum *device.Buffer
	for j := range micros {
		tapes = append(tapes, r.forward(j))
		if r.plan.ReadLoss == "micro-batch" {
			r.readLoss(j)
		}
		if loss := tapes[j].Loss(); j > first {
			r.dev.Run(ops.Add{Y: r.sum, A: sum, B: loss})
			sum = r.sum
		} else {
			sum = loss
		}
	}
	r.follow.tapes = nil
	for j := first; j < micros; j++ {
		r.follow.tapes = append(r.follow.tapes, j)
	}
	r.backward(step, true, tapes[first:]...)
	for _, t := range tapes[:first] {
		t.Drop()
	}
}

func (r *rank) forward(j int) *autograd.Tape {
	defer r.span("forward", j)()
	note := fmt.Sprintf("gaprof.tokens=%d", r.in.valid[j])
	if r.alike { // the tokens of ranks for which this one stands are others
		note = "forward"
	}
	defer r.dev.Range("user_annotation", note)()
	t := autograd.NewTape(r.dev, r.grads)
	t.Hooks, t.Checkpoint = r.grads.Hooks, r.plan.checkpoints()
	r.norm.loss(t, r.net.Forward(t, r.in.tokens[j]), r.in.targets[j], j)
	return t
}

// readLoss waits until the device has the loss of a micro-batch and copies it to the host,
// for nothing: losses are read back while the next step runs.
func (r *rank) readLoss(j int) {
	loss := r.s.losses[j]
	defer r.dev.Range("cpu_op", "aten::item", device.Tensor(loss))()
	defer r.dev.Range("cpu_op", "aten::_local_scalar_dense", device.Tensor(loss))()
	r.dev.Download(device.Host{Floats: make([]float64, 1)}, loss)
	r.dev.StreamSynchronize(r.dev.Compute)
}

// backward runs tapes, last to first, as one backward pass over the sum of their losses.
// last says whether it is the last of the step.
func (r *rank) backward(step int, last bool, tapes ...*autograd.Tape) {
	defer r.span("backward", step)()
	r.grads.Begin(step, last || r.plan.Sync == "every-micro-batch" || r.plan.OptimizerInBackward, last)
	r.dev.Run(ops.OnesLike{Y: r.one})
	for j, t := range slices.Backward(tapes) {
		if len(tapes) > 1 {
			r.dev.Range("cpu_op", "autograd::engine::evaluate_function: AddBackward0")()
		}
		t.Backward(r.one, j == 0)
	}
	r.grads.End()
}

// finish enqueues everything between the last backward and the next step.
func (r *rank) finish(step, micros int) {
	p := r.plan
	if p.ReadLoss == "backward" {
		r.readLoss(micros - 1)
	}
	if p.scalesStored() && p.Normalization == "global" {
		r.norm.reduceCount()
	}
	if p.ReduceLoss {
		r.norm.reduceLoss(micros)
	}
	if p.has(scaleByOne) {
		r.dev.Run(ops.ForeachScaleBy{X: r.grads.Stored(), Value: 1})
		r.scaledBy(1, r.grads.Scattered(r.grads.Params()[0]))
	}
	fold := r.scale() // not nil: yet to be applied, by clipping or the optimizer
	for _, param := range r.grads.Params() {
		if !p.StepReduces(param.Group) {
			r.export.add(step, param)
		}
	}
	if p.ClipGradNorm > 0 && !p.has(clipEach) {
		if p.Scale == "clip" {
			r.clip.clip(r.grads.Stored(), fold)
			r.scaledBy(math.NaN(), r.grads.Scattered(r.grads.Params()[0]))
			fold = nil
		} else {
			r.clip.clip(r.grads.Stored(), nil)
		}
		if p.has(clipTwice) {
			r.clip.clip(r.grads.Stored(), nil)
		}
	}
	r.update.step(step, fold)
	if !p.has(zeroNever) {
		r.update.zeroGrad(step)
	}
}

// scale computes the factor for stored gradients, if there is one. It either enqueues a
// scale pass, or returns the factor for clipping or the optimizer to apply.
func (r *rank) scale() *device.Buffer {
	if !r.plan.scalesStored() {
		return nil
	}
	factor := r.norm.makeFactor()
	if r.plan.Scale == "pass" || r.plan.Scale == "foreach" {
		multiply(r.dev, r.grads.Stored(), factor, r.plan.Scale == "foreach")
		r.scaledBy(math.NaN(), r.grads.Scattered(r.grads.Params()[0]))
		return nil
	}
	return factor
}

// exportWeights copies the final parameters to the host, if there is a callback for them.
func (r *rank) exportWeights() {
	c := r.back.collector
	if c.callbacks.Weights == nil || r.plan.Target.Shapes {
		return
	}
	list := r.weights()
	r.dev.StreamSynchronize(r.dev.Compute)
	c.weights(r.dev.Index, list)
}
