package autograd

import (
	"slices"

	"github.com/gaprof/gaprof/reference/device"
)

// checkpoint is a module that saves nothing but its input. Its forward pass runs once more when
// the first of its nodes in backward needs what it would have saved, like
// torch.utils.checkpoint with use_reentrant=False.
type checkpoint struct {
	t     *Tape
	x     *Value
	f     func(x *Value) *Value
	first int // of its nodes on the tape
	nodes int
}

// checkpointed records f and frees what its nodes have saved, all but the output.
func (t *Tape) checkpointed(x *Value, f func(x *Value) *Value) *Value {
	c := &checkpoint{t: t, x: x, f: f, first: len(t.nodes)}
	counting := &partial{Device: t.rank.Device, most: -1}
	y := c.on(counting, x)
	own := t.nodes[c.first:]
	c.nodes = len(own)
	for i := range own {
		n := &own[i]
		if n.out != y {
			t.free(*n)
			n.out.static = true
		} else {
			t.freeKept(*n)
		}
		n.keep = nil
		if !savesNothing[n.name] {
			n.run = func() { c.resume(i) }
		}
	}
	return y
}

// on runs f on another device, which stands for that of the rank.
func (c *checkpoint) on(d *partial, x *Value) *Value {
	rank := c.t.rank
	other := *rank
	other.Device = d
	c.t.rank, c.t.counter = &other, d
	defer func() { c.t.rank, c.t.counter = rank, nil }()
	return c.f(x)
}

// Nodes that need nothing of the forward pass in backward, and those that need inputs only.
var (
	savesNothing = map[string]bool{"AddBackward0": true}
	savesInputs  = map[string]bool{"MmBackward0": true, "AddmmBackward0": true}
)

// resume runs the forward pass again, as far as node i needs it, and then that node. Those
// that come after it in backward have what they need.
func (c *checkpoint) resume(i int) {
	t := c.t
	tape := t.nodes
	own := tape[c.first:][:c.nodes]
	most := own[i].calls
	if savesInputs[own[i].name] {
		if most = 0; i > 0 {
			most = own[i-1].calls
		}
	}
	t.nodes = nil
	c.on(&partial{Device: t.rank.Device, most: most}, c.x)
	again := t.nodes
	t.nodes = tape
	for j := range again[:i+1] {
		again[j].out.grad, again[j].before = own[j].out.grad, own[j].before
	}
	copy(own, again[:i])
	n := again[i]
	n.run()
	n.out.grad = nil
	if n.calls > most {
		n.out.static = true // has not been computed
	}
	t.free(n)
}

// partial is a device that does only so many of the calls of a forward pass. The others get
// memory that is not there.
type partial struct {
	device.Device
	calls, most int // most is negative for all
}

func (p *partial) skips() bool {
	p.calls++
	return p.most >= 0 && p.calls > p.most
}

// nowhere marks memory that is not there.
const nowhere = -1

// Malloc implements device.Device.
func (p *partial) Malloc(dt device.DType, shape ...int) *device.Buffer {
	if p.skips() {
		return &device.Buffer{Block: &device.Block{Pool: nowhere}, N: device.Elements(shape), DType: dt,
			Shape: slices.Clone(shape)}
	}
	return p.Device.Malloc(dt, shape...)
}

// Free implements device.Device.
func (p *partial) Free(b *device.Buffer) {
	if b.Block.Pool != nowhere {
		p.Device.Free(b)
	}
}

// Launch implements device.Device.
func (p *partial) Launch(s device.Stream, k device.Kernel) {
	if !p.skips() {
		p.Device.Launch(s, k)
	}
}
