package gradients

import (
	"github.com/gaprof/gaprof/reference/autograd"
	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/reference/optim"
)

// Param is a parameter with its gradient on one rank.
type Param struct {
	autograd.Param
	Group *optim.Group   // updates it
	Grad  *device.Buffer // the whole gradient; if sharded, as computed by this rank alone

	Transposed bool // its gradient comes transposed

	has  bool // Grad is set, so that the next gradient is added to it
	seen int  // gradients received in this backward pass from tapes before the last

	bucket  *bucket        // nil if sharded
	place   *device.Buffer // its slot in the bucket; nil if Grad is a view of that
	shard   *shard         // nil if not sharded
	reduced *reduction     // most recent reduction; nil before the first
	unit    *unit          // with which it is gathered; nil unless sharding is full
}

// shard is a rank's rows of a parameter. Parameters whose rows cannot be divided evenly
// are padded with rows of zeros, like those of FSDP2.
type shard struct {
	padded, paddedGrad *device.Buffer // whole and padded; Value and Grad are views of these
	among              device.Communicator
	value              *device.Buffer // this rank's rows of padded
	grad               *device.Buffer // reduced, accumulated over micro-batches
	fresh              *device.Buffer // the latest reduction, about to be added to grad
	has                bool           // grad is set
	flat               *flat          // with full sharding: what grad is part of; nil while there is no grad
}

// reduction is a collective that the compute stream may yet have to wait for.
type reduction struct {
	event  device.Event
	waited bool
}

// Mine returns the part of p that this rank updates: its shard, or all of it.
func (p *Param) Mine() optim.Target {
	t := optim.Target{Index: p.Index, Value: p.Value, Grad: p.Grad, Whole: p.Shape}
	if p.shard != nil {
		t.Value, t.Grad, t.Shards = p.shard.value, p.shard.grad, p.shard.among
	}
	return t
}

// Clear is zero_grad(set_to_none=True): the next gradient overwrites the current one.
func (p *Param) Clear() {
	p.has = false
	if p.shard != nil {
		p.shard.has = false
	}
	if p.unit != nil {
		p.unit.drop(p)
	}
}
