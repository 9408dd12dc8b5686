package reference

import (
	"context"
	"fmt"
	"slices"

	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/reference/ops"
)

// rank is the program of one rank: what its dispatch thread holds.
type rank struct {
	p            *plan
	d            device.Device
	comm         device.Communicator
	compute      device.Stream // forward, backward, optimizer
	comms        device.Stream // collectives
	index, world int
	data         Data
	callbacks    *Callbacks

	net        model
	params     []*param
	named      map[string]*param
	optimizers []*optimizer
	tokens     []*device.Buffer // by micro-batch
	targets    []*device.Buffer
	labels     *device.Buffer // before the shift, where those are counted

	// Scalars of a step, read back together when it is over.
	ints         *device.Buffer // of micro-batches, of the rank, of all ranks
	floats       *device.Buffer // losses, gradient norm, clip coefficient, factor, loss for the log
	counts       []*device.Buffer
	losses       []*device.Buffer
	local, total *device.Buffer
	norm, coef   *device.Buffer
	factor       *device.Buffer // that losses or gradients are multiplied by
	logged       *device.Buffer // the sum of all losses, where it is reduced
	part         *device.Buffer // 1/A, of a plant
	one, sum     *device.Buffer // the gradient at the root, losses added up
	scratch      []*device.Buffer
	norms        *device.Buffer // by parameter

	step    int
	syncing bool      // gradients are reduced in this backward
	written []written // gradients of the node that runs
	handed  []Tensor  // gradients that were asked for
	valid   []int64   // targets of the step, by micro-batch
	waiting *report

	collector *collector
}

func newRank(p *plan, m device.Member, data Data, c *Callbacks) *rank {
	r := &rank{p: p, d: m.Device, comm: m.Comm, index: m.Comm.Rank(), world: m.Comm.Size(), data: data, callbacks: c, net: models[p.Model]}
	r.compute = r.d.StreamCreateWithPriority(0)
	if r.world > 1 {
		r.comms = r.d.StreamCreateWithPriority(-1)
	}
	r.makeParams(r.net.specs(p))
	r.named = make(map[string]*param, len(r.params))
	for _, param := range r.params {
		r.named[param.name] = param
	}
	r.makeScalars()
	elements := p.LocalBatchSize * p.SequenceLength
	for range p.accumulation {
		r.tokens = append(r.tokens, r.d.Malloc(device.I64, p.LocalBatchSize, p.SequenceLength))
		r.targets = append(r.targets, r.d.Malloc(device.I64, p.LocalBatchSize, p.SequenceLength))
	}
	if p.bug&preshiftCount != 0 {
		r.labels = r.d.Malloc(device.I64, elements)
	}
	return r
}

func (r *rank) makeScalars() {
	a := r.p.accumulation
	r.ints, r.floats = r.d.Malloc(device.I64, a+2), r.d.Malloc(r.p.dt, a+4)
	for j := range a {
		r.counts, r.losses = append(r.counts, r.ints.View(j)), append(r.losses, r.floats.View(j))
	}
	r.local, r.total = r.ints.View(a), r.ints.View(a+1)
	r.norm, r.coef, r.factor, r.logged = r.floats.View(a), r.floats.View(a+1), r.floats.View(a+2), r.floats.View(a+3)
	for range 4 {
		r.scratch = append(r.scratch, r.d.Malloc(r.p.dt))
	}
	r.one, r.sum = r.d.Malloc(r.p.dt), r.d.Malloc(r.p.dt)
	r.norms = r.d.Malloc(r.p.dt, len(r.params))
	r.part = r.d.Malloc(r.p.dt)
	r.d.MemcpyHtoDAsync(r.compute, r.part, device.Host{Floats: []float64{1 / float64(a)}})
}

func (r *rank) launch(k device.Kernel) { r.d.Launch(r.compute, k) }

// train runs steps until data, steps or patience end.
func (r *rank) train(ctx context.Context, g *gate) error {
	for step := 0; g.enter(ctx, step); step++ {
		if err := r.trainStep(step, min(r.p.accumulation, r.data.Len(r.index)-step*r.p.accumulation)); err != nil {
			return err
		}
		if err := r.d.Err(); err != nil {
			return err
		}
	}
	r.d.DeviceSynchronize()
	r.report()
	return r.d.Err()
}

// trainStep enqueues one optimizer step of so many micro-batches, and reports the step before.
func (r *rank) trainStep(step, micros int) error {
	end := r.d.Range("user_annotation", fmt.Sprintf("ProfilerStep#%d", step))
	done := r.span("train.step", step)
	defer func() {
		done()
		end()
	}()
	r.step, r.handed, r.valid = step, nil, nil
	if err := r.load(step, micros); err != nil {
		return err
	}
	if r.countsFirst() {
		r.countAll(micros)
		r.makeFactor()
	}
	r.accumulate(micros)
	if !r.countsFirst() {
		r.sumCounts(micros)
	}
	r.finish(micros)
	r.readBack(micros)
	return nil
}

// load copies the micro-batches of a step to the device.
func (r *rank) load(step, micros int) error {
	r.d.MemsetAsync(r.compute, r.ints)
	r.d.MemsetAsync(r.compute, r.floats)
	for j := range micros {
		b := r.data.Batch(r.index, step*r.p.accumulation+j)
		if err := checkBatch(b, r.tokens[j].N, r.p.Vocabulary); err != nil {
			return fmt.Errorf("rank %d, step %d, micro-batch %d: %w", r.index, step, j, err)
		}
		r.valid = append(r.valid, int64(b.Valid()))
		r.d.MemcpyHtoDAsync(r.compute, r.tokens[j], device.Host{Ints: b.Tokens})
		r.d.MemcpyHtoDAsync(r.compute, r.targets[j], device.Host{Ints: b.Targets})
		counted := r.targets[j]
		if r.labels != nil {
			r.d.MemcpyHtoDAsync(r.compute, r.labels, device.Host{Ints: b.Labels})
			counted = r.labels
		}
		r.launch(ops.CountTokens{Count: r.counts[j], Labels: counted})
	}
	return nil
}

// accumulate runs forward and backward of all micro-batches.
func (r *rank) accumulate(micros int) {
	switch {
	case r.p.bug&backwardOutside != 0:
		r.backwardOnce(micros, micros-1)
	case r.p.Backward == "step":
		r.backwardOnce(micros, 0)
	default:
		for j := range micros {
			r.microBatch(j, micros)
		}
	}
}

func (r *rank) microBatch(j, micros int) {
	done := r.span("micro_batch", j)
	defer done()
	if r.p.bug&zeroEach != 0 {
		r.zeroGrad()
	}
	t := r.forward(j)
	r.syncing = r.p.Sync == "every-micro-batch" || j == micros-1 || r.p.OptimizerInBackward
	r.backward(t)
	if r.p.bug&scaleEach != 0 {
		for _, p := range r.params {
			_, g := p.mine()
			r.launch(ops.Scale{X: g, Factor: r.part})
		}
	}
	if r.p.bug&clipEach != 0 {
		r.clip(nil)
	}
}

// backwardOnce runs all forwards, and then backward over those from micro-batch first
// on, the last one first, as autograd does with the sum of their losses.
func (r *rank) backwardOnce(micros, first int) {
	var tapes []*tape
	var sum *device.Buffer
	for j := range micros {
		tapes = append(tapes, r.forward(j))
		if loss := tapes[j].root().Buffer; j > first {
			r.launch(ops.Add{Y: r.sum, A: sum, B: loss})
			sum = r.sum
		} else {
			sum = loss
		}
	}
	r.syncing = true
	r.backward(tapes[first:]...)
	for _, t := range tapes[:first] {
		t.drop()
	}
}

func (r *rank) forward(j int) *tape {
	done := r.span("forward", j)
	defer done()
	defer r.d.Range("user_annotation", fmt.Sprintf("gaprof.tokens=%d", r.valid[j]))()
	t := r.newTape()
	r.loss(t, r.net.forward(t, r.tokens[j]), j)
	return t
}

// backward runs tapes back, the last one first, as one backward pass over the sum of
// their losses.
func (r *rank) backward(tapes ...*tape) {
	done := r.span("backward", r.step)
	defer done()
	for _, p := range r.params {
		if p.bucket != nil {
			p.bucket.ready, p.bucket.sent = 0, false
		}
	}
	r.launch(ops.OnesLike{Y: r.one})
	for j, t := range slices.Backward(tapes) {
		if len(tapes) > 1 {
			r.d.Range("cpu_op", "autograd::engine::evaluate_function: AddBackward0")()
		}
		t.backward(r.one, j == 0)
	}
	if !r.p.sharded() {
		for _, p := range r.params {
			r.takeBack(p)
		}
	}
}

// span tells the callbacks of a part of the program.
func (r *rank) span(name string, number int) func() {
	if r.callbacks.Span == nil {
		return func() {}
	}
	return r.callbacks.Span(r.index, name, number)
}
