package reference

import (
	"time"

	"github.com/gaprof/gaprof/reference/autograd"
	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/reference/model"
)

// elsewhere adds to the network what plants do with other ranks around its blocks.
func (r *rank) elsewhere() {
	if r.dev.World == 1 {
		return
	}
	comm, comms := r.dev.Comm, r.dev.Comms
	switch {
	case r.plan.has(expertsElsewhere):
		swap := func(send, recv *device.Buffer) { comm.AllToAll(comms, send, recv) }
		r.net.Elsewhere = around(swap, swap)
	case r.plan.has(neighbours):
		next := func(send, recv *device.Buffer) { comm.Shift(comms, send, recv, 1) }
		previous := func(send, recv *device.Buffer) { comm.Shift(comms, send, recv, -1) }
		r.net.Elsewhere = around(next, previous)
	case r.plan.has(broadcastBuffers):
		mask := r.dev.ZerosOf(device.F32, r.plan.SequenceLength, r.plan.SequenceLength)
		r.net.Before = func() { r.dev.Collective(func() { comm.Broadcast(comms, mask, 0) }) }
	}
}

// around sends what an MLP is to compute to other ranks, and what they have computed back. Each
// position gets what it would get at home: all ranks have the same MLP, and gradients are summed.
func around(
	there, back func(send, recv *device.Buffer),
) func(*autograd.Tape, *autograd.Value, model.MLP) *autograd.Value {
	return func(t *autograd.Tape, x *autograd.Value, mlp model.MLP) *autograd.Value {
		return t.Exchange(mlp(t.Exchange(x, there, back)), back, there)
	}
}

// compile stands for the compilation of the model in its first forward pass.
func (r *rank) compile() {
	defer r.dev.Range("cpu_op", "_compile.compile_inner (dynamo_timed)")()
	defer r.dev.Range("cpu_op", "compile_fx.<locals>.fw_compiler_base (dynamo_timed)")()
	r.dev.Sleep(compiling)
}

// compiling is how long it takes: a part of what a small model takes in fact.
const compiling = 50 * time.Millisecond
