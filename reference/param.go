package reference

import (
	"math/rand/v2"
	"slices"

	"github.com/gaprof/gaprof/reference/device"
)

// param is a parameter on one rank, with its gradient and the optimizer's state.
type param struct {
	name   string
	number int // in the order of the model
	shape  []int
	value  *device.Buffer
	grad   *device.Buffer
	has    bool // grad holds something: the next gradient is added to it
	seen   int  // gradients of this backward over several micro-batches
	group  *optimizer

	bucket  *bucket        // of an all-reduce
	place   *device.Buffer // in the bucket, where that is not grad
	reduced *reduction     // the last reduction of this gradient; nil before one
	shard   *shard         // of a sharded optimizer

	m, v    *device.Buffer // of AdamW
	updates int
}

// shard is a rank's part of a parameter: Rows rows of the first dimension, padded with
// zeros where they do not divide.
type shard struct {
	padded, paddedGrad *device.Buffer // whole
	value              *device.Buffer // this rank's rows of padded
	grad, fresh        *device.Buffer // reduced and accumulated, just reduced
	has                bool
}

// spec says how a parameter begins.
type spec struct {
	name  string
	shape []int
	begin func(rng *rand.Rand) float64
	// matrix tells of those that SGD has where AdamW does not step every time.
	matrix bool
}

func normal(rng *rand.Rand) float64 { return float64(float32(rng.NormFloat64() * 0.02)) }
func one(*rand.Rand) float64        { return 1 }
func none(*rand.Rand) float64       { return 0 }

// padded returns a shape whose first dimension is a multiple of ranks.
func padded(shape []int, ranks int) []int {
	out := slices.Clone(shape)
	out[0] = (shape[0] + ranks - 1) / ranks * ranks
	return out
}

// initial returns the values that a parameter begins with.
func (s spec) initial(seed int, weights map[string][]float64) []float64 {
	if values, ok := weights[s.name]; ok {
		return values
	}
	rng := rand.New(rand.NewPCG(uint64(seed), nameSeed(s.name)))
	values := make([]float64, device.Elements(s.shape))
	for i := range values {
		values[i] = s.begin(rng)
	}
	return values
}

// nameSeed is FNV-1a: what a parameter begins with does not depend on its neighbours.
func nameSeed(name string) uint64 {
	h := uint64(14695981039346656037)
	for _, c := range []byte(name) {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return h
}

// makeParams puts the parameters and their gradients into device memory.
func (r *rank) makeParams(specs []spec) {
	for _, s := range specs {
		p := &param{name: s.name, number: len(r.params), shape: s.shape, group: r.groupOf(s)}
		if r.p.sharded() {
			r.makeShard(p)
		} else {
			p.value = r.d.Malloc(r.p.dt, s.shape...)
		}
		r.d.MemcpyHtoDAsync(r.compute, p.value, device.Host{Floats: s.initial(r.p.Seed, r.p.Weights)})
		p.group.params = append(p.group.params, p)
		r.params = append(r.params, p)
	}
	if !r.p.sharded() {
		r.makeBuckets()
	}
}

func (r *rank) makeShard(p *param) {
	shape := padded(p.shape, r.world)
	rows := slices.Clone(shape)
	rows[0] /= r.world
	s := &shard{padded: r.zeros(shape), paddedGrad: r.zeros(shape), grad: r.zeros(rows), fresh: r.zeros(rows)}
	n := device.Elements(rows)
	s.value = s.padded.View(r.index*n, rows...)
	p.shard, p.value, p.grad = s, s.padded.View(0, p.shape...), s.paddedGrad.View(0, p.shape...)
}

// bucket is what one all-reduce reduces: neighbours, the last parameter first, as they
// become ready in backward.
type bucket struct {
	flat   *device.Buffer
	params []*param
	ready  int  // of params, in this backward
	sent   bool // reduced and not yet copied back
}

func (r *rank) makeBuckets() {
	var open []*param
	size := 0
	for i, p := range slices.Backward(r.params) {
		open = append(open, p)
		size += device.Elements(p.shape)
		if i == 0 || size*int(r.p.dt.Size()) >= r.p.BucketBytes || r.params[i-1].group != p.group || r.p.OptimizerInBackward {
			r.makeBucket(open, size)
			open, size = nil, 0
		}
	}
}

func (r *rank) makeBucket(params []*param, size int) {
	b := &bucket{flat: r.zeros([]int{size}), params: params}
	at := 0
	for _, p := range params {
		p.bucket, p.grad = b, b.flat.View(at, p.shape...)
		if !r.p.BucketView {
			p.place, p.grad = p.grad, r.zeros(p.shape)
		}
		at += p.grad.N
	}
}

// zeros allocates memory that stays for the whole run.
func (r *rank) zeros(shape []int) *device.Buffer {
	b := r.d.Malloc(r.p.dt, shape...)
	r.d.MemsetAsync(r.compute, b)
	return b
}

// mine returns what this rank's optimizer updates, and by which gradient.
func (p *param) mine() (value, grad *device.Buffer) {
	if p.shard != nil {
		return p.shard.value, p.shard.grad
	}
	return p.value, p.grad
}

// optimizer is a group of parameters that are updated together.
type optimizer struct {
	name   string // as its class is called: AdamW
	every  int    // steps at every k-th training step
	params []*param
}

// due tells whether the optimizer steps at the end of a training step.
func (o *optimizer) due(step int) bool { return (step+1)%o.every == 0 }

func (r *rank) groupOf(s spec) *optimizer {
	name, every := "AdamW", r.p.AdamEvery
	if r.p.Optimizer == "sgd" || every > 1 && s.matrix {
		name, every = "SGD", 1
	}
	for _, o := range r.optimizers {
		if o.name == name {
			return o
		}
	}
	o := &optimizer{name: name, every: every}
	r.optimizers = append(r.optimizers, o)
	return o
}

// stepOrder returns the order in which a sharded optimizer goes through parameters.
func (p *plan) stepOrder(params []*param) []*param {
	order := slices.Clone(params)
	switch p.StepOrder {
	case "reverse":
		slices.Reverse(order)
	case "explicit":
		slices.SortStableFunc(order, func(a, b *param) int { return a.value.N - b.value.N })
	}
	return order
}
