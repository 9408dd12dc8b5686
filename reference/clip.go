package reference

import (
	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/reference/gradients"
	"github.com/gaprof/gaprof/reference/ops"
)

// multiply enqueues a scale pass: gradients are multiplied by a scalar in device memory,
// in a single call if foreach is set, else in one call per gradient.
func multiply(dev *device.Rank, list []*device.Buffer, by *device.Buffer, foreach bool) {
	if foreach {
		dev.Run(ops.ForeachScale{X: list, Factor: by})
		return
	}
	for _, g := range list {
		dev.Run(ops.Scale{X: g, Factor: by})
	}
}

// clipper implements clip_grad_norm_: gradients are multiplied by
// min(1, most/(norm + 1e-6)). All of it stays on the device; the host never waits for the
// norm.
type clipper struct {
	dev     *device.Rank
	most    float64             // largest norm
	foreach bool                // one call for all gradients
	shards  device.Communicator // of the ranks that together hold all gradients; nil if each does
	s       *scalars
	plan    *plan            // for plants
	norms   *device.Buffer   // by parameter
	scratch []*device.Buffer // three scalars for intermediate results
}

func newClipper(p *plan, dev *device.Rank, s *scalars, grads *gradients.Set) *clipper {
	c := &clipper{dev: dev, most: p.ClipGradNorm, foreach: p.ForeachClip, shards: grads.Shards(), s: s}
	c.plan = p
	for range 3 {
		c.scratch = append(c.scratch, dev.Scalar())
	}
	c.norms = dev.Scalar(len(grads.Params()))
	return c
}

// clip clips a list of gradients, one per parameter. If fold is not nil, gradients have
// yet to be multiplied by it: the norm is computed as if they had been, and a single pass
// does both.
func (c *clipper) clip(list []*device.Buffer, fold *device.Buffer) {
	c.measure(list)
	if c.plan.has(normOnly) {
		return
	}
	if fold != nil {
		c.dev.Run(ops.Mul{Y: c.s.norm, A: c.s.norm, B: fold})
	}
	c.dev.Run(ops.AddScalar{Y: c.scratch[0], X: c.s.norm, Value: 1e-6})
	c.dev.Run(ops.Reciprocal{Y: c.scratch[1], X: c.scratch[0]})
	c.dev.Run(ops.MulScalar{Y: c.scratch[2], X: c.scratch[1], Value: c.most})
	c.dev.Run(ops.Clamp{Y: c.s.coef, X: c.scratch[2], Max: 1})
	by := c.s.coef
	if fold != nil {
		by = c.scratch[0]
		c.dev.Run(ops.Mul{Y: by, A: c.s.coef, B: fold})
	}
	if !c.plan.has(clipStrided) {
		multiply(c.dev, list, by, c.foreach)
		return
	}
	for _, g := range list {
		c.dev.Run(ops.Scale{X: g, Factor: by, Strided: true})
	}
}

// measure computes the norm of the whole gradient, across ranks if it is sharded.
func (c *clipper) measure(list []*device.Buffer) {
	if c.plan.has(normEach) {
		c.measureEach(list)
		return
	}
	if c.foreach && !c.plan.has(normLoop) {
		c.dev.Run(ops.ForeachNorm{Norms: c.norms, X: list})
	} else {
		for i, g := range list {
			c.dev.Run(ops.VectorNorm{Norm: c.norms.View(i), X: g})
		}
	}
	norm := c.s.norm
	c.dev.Run(ops.VectorNorm{Norm: norm, X: c.norms, Squared: c.shards != nil})
	if c.shards != nil {
		c.dev.Collective(func() { c.shards.AllReduce(c.dev.Comms, norm, device.Sum) })
		c.dev.Run(ops.Sqrt{Y: norm, X: norm})
	}
}

// measureEach computes the norm of each sharded gradient across ranks, one by one, and then
// that of all.
func (c *clipper) measureEach(list []*device.Buffer) {
	for i, g := range list {
		norm := c.norms.View(i)
		c.dev.Run(ops.VectorNorm{Norm: norm, X: g, Squared: true})
		c.dev.Collective(func() { c.shards.AllReduce(c.dev.Comms, norm, device.Sum) })
		c.dev.Run(ops.Sqrt{Y: norm, X: norm})
	}
	c.dev.Run(ops.VectorNorm{Norm: c.s.norm, X: c.norms})
}
