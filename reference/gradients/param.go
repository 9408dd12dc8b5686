package gradients

import (
	"github.com/gaprof/gaprof/reference/autograd"
	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/reference/optim"
)

// Param is a parameter with its gradient on one rank.
type Param struct {
	autograd.Param
	Group *optim.Group   // that updates it
	Grad  *device.Buffer // whole; of a shard, what this rank alone has computed

	has  bool // Grad holds something: the next gradient is added to it
	seen int  // gradients that it got in this backward, from tapes that were not the last

	bucket  *bucket        // of an all-reduce; nil where parameters are sharded
	place   *device.Buffer // in the bucket, where that is not Grad; else nil
	shard   *shard         // of a sharded optimizer; nil where nothing is sharded
	reduced *reduction     // the last reduction of this gradient; nil before one
}

// shard is a rank's rows of a parameter. Where rows do not divide by the ranks, the
// parameter is padded with rows of zeros.
type shard struct {
	padded, paddedGrad *device.Buffer // whole; the parameter and its gradient are views of these
	value              *device.Buffer // this rank's rows of padded
	grad               *device.Buffer // reduced and accumulated
	fresh              *device.Buffer // just reduced, to be added to grad
	has                bool           // grad holds something
}

// reduction is a collective that the compute stream may have to wait for.
type reduction struct {
	event  device.Event
	waited bool
}

// Mine returns what this rank's optimizer updates of p.
func (p *Param) Mine() optim.Target {
	if p.shard != nil {
		return optim.Target{Index: p.Index, Value: p.shard.value, Grad: p.shard.grad}
	}
	return optim.Target{Index: p.Index, Value: p.Value, Grad: p.Grad}
}

// Clear is zero_grad(set_to_none=True): the next gradient overwrites this one.
func (p *Param) Clear() {
	p.has = false
	if p.shard != nil {
		p.shard.has = false
	}
}
