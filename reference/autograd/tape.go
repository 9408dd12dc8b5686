package autograd

import (
	"slices"

	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/reference/ops"
)

// Param is a parameter as seen by the operations of a network.
type Param struct {
	Name  string
	Index int            // in the order of the model, from 0
	Shape []int          // outermost dimension first
	Value *device.Buffer // the whole parameter, even if optimizer state is sharded
}

// Accumulator receives the gradients of parameters from the nodes of a Tape that runs
// backward.
type Accumulator interface {
	// Gradient returns the buffer into which the current node writes the gradient of p.
	// The node overwrites what is there.
	Gradient(p *Param) *device.Buffer
	// Add is called at the end of a node, inside its range, if another tape of the same
	// backward pass has yet to contribute to the gradients of the same parameters.
	Add()
	// Accumulate is called after the range of a node whose gradients are complete for
	// this backward pass. It runs their AccumulateGrad nodes, with hooks.
	Accumulate()
}

// Tape is a recorded forward pass. It runs backward once, or is dropped.
type Tape struct {
	rank   *device.Rank
	params Accumulator
	nodes  []node
	atEnd  []Hooks // whose PostBackward is called when all nodes have run
	last   bool    // no other tape contributes to the backward pass
	// Hooks returns those of a module by its name, "" for the whole network; nil for none.
	Hooks func(module string) Hooks
	// Checkpoint says which blocks save their inputs only, and run forward again in backward: 1 all, 2 every second
	// one, and so on; 0 none.
	Checkpoint int
	blocks     int                       // that were recorded
	counter    *partial                  // counts calls of the device; nil outside of a checkpoint
	refs       map[*device.Buffer]int    // references to gradients of activations
	tied       map[*Param]*device.Buffer // gradients that wait for another one of the same parameter
	after      func()                    // what the running node leaves to do at its end; nil for nothing
}

// node is the backward of one operation.
type node struct {
	name string // in PyTorch: MmBackward0
	out  *Value
	keep []*device.Buffer // saved for backward; freed once it has run
	run  func()

	before func() // called before the node runs; nil for none
	calls  int    // of the device up to here, in a checkpoint
}

// Value is an activation. It belongs to the tape, which frees it in backward.
type Value struct {
	*device.Buffer
	grad   *device.Buffer // nil until backward reaches the first use
	static bool           // memory that is freed already, or outlives the tape
	stride int            // elements between rows, if they are part of longer ones; else 0
}

// NewTape returns an empty tape that passes gradients of parameters to params.
func NewTape(rank *device.Rank, params Accumulator) *Tape {
	return &Tape{rank: rank, params: params, refs: make(map[*device.Buffer]int),
		tied: make(map[*Param]*device.Buffer)}
}

// push appends a node. Its output and the buffers it keeps are freed when it has run.
func (t *Tape) push(name string, out *Value, run func(), keep ...*device.Buffer) *Value {
	n := node{name: name, out: out, keep: keep, run: run}
	if t.counter != nil {
		n.calls = t.counter.calls
	}
	t.nodes = append(t.nodes, n)
	return out
}

// give adds g to the gradient of v and takes over the caller's reference to g.
func (t *Tape) give(v *Value, g *device.Buffer) {
	if v.grad == nil {
		v.grad = g
		return
	}
	sum := t.gradient(g.Shape...)
	t.rank.Run(ops.Add{Y: sum, A: v.grad, B: g})
	t.release(v.grad)
	t.release(g)
	v.grad = sum
}

// gradient allocates a gradient of an activation, with one reference.
func (t *Tape) gradient(shape ...int) *device.Buffer {
	dt := t.rank.DType
	if len(shape) == 0 {
		dt = dt.Kept()
	}
	g := t.rank.Malloc(dt, shape...)
	t.refs[g] = 1
	return g
}

func (t *Tape) release(g *device.Buffer) {
	if t.refs[g]--; t.refs[g] == 0 {
		delete(t.refs, g)
		t.rank.Free(g)
	}
}

// root returns the output of the last operation, which is the loss.
func (t *Tape) root() *Value { return t.nodes[len(t.nodes)-1].out }

// Loss returns the scalar from which backward starts.
func (t *Tape) Loss() *device.Buffer { return t.root().Buffer }

// Backward runs the tape backward from its loss. gradient is the gradient of the loss; it
// still belongs to the caller. last says that no other tape contributes to this backward
// pass after this one.
func (t *Tape) Backward(gradient *device.Buffer, last bool) {
	t.last = last
	t.root().grad = gradient
	t.refs[gradient] = 2 // one more than the tape releases, so that it is not freed
	for _, n := range slices.Backward(t.nodes) {
		t.runNode(n, last)
	}
	t.nodes = nil
	for _, h := range t.atEnd {
		h.PostBackward(last)
	}
}

func (t *Tape) runNode(n node, last bool) {
	evaluate := t.rank.Range("cpu_op", "autograd::engine::evaluate_function: "+n.name)
	if n.before != nil {
		n.before()
	}
	inner := t.rank.Range("cpu_op", n.name)
	n.run()
	inner()
	if t.after != nil {
		t.after()
		t.after = nil
	}
	t.release(n.out.grad)
	n.out.grad = nil
	t.free(n)
	if !last {
		t.params.Add()
	}
	evaluate()
	if last {
		t.params.Accumulate()
	}
}

func (t *Tape) free(n node) {
	if !n.out.static {
		t.rank.Free(n.out.Buffer)
	}
	t.freeKept(n)
}

func (t *Tape) freeKept(n node) {
	for _, b := range n.keep {
		t.rank.Free(b)
	}
}

// Drop frees a tape that will not run backward.
func (t *Tape) Drop() {
	for _, n := range t.nodes {
		t.free(n)
	}
	t.nodes = nil
}
