package autograd

import (
	"slices"

	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/reference/ops"
)

// Param is a parameter as the operations of a network see it.
type Param struct {
	Name  string
	Index int            // in the order of the model, from 0
	Shape []int          // row-major
	Value *device.Buffer // the whole parameter, also where optimizer state is sharded
}

// Accumulator takes the gradients of parameters from the nodes of a Tape that runs back.
type Accumulator interface {
	// Gradient returns the memory into which the running node writes the gradient of p.
	// The node overwrites it.
	Gradient(p *Param) *device.Buffer
	// Add ends a node whose parameters get gradients of another tape of the same
	// backward pass as well; it is called inside the node's range.
	Add()
	// Accumulate ends a node whose gradients are complete for this backward pass: here
	// AccumulateGrad nodes and their hooks run. It is called behind the node's range.
	Accumulate()
}

// Tape is a forward pass as it is remembered for backward. It is run back once, or
// dropped.
type Tape struct {
	rank   *device.Rank
	params Accumulator
	nodes  []node
	refs   map[*device.Buffer]int // readers that a gradient of an activation still has
}

// node is how one operation is run back.
type node struct {
	name string // as PyTorch calls it: MmBackward0
	out  *Value
	keep []*device.Buffer // saved for backward, freed when it has run
	run  func()
}

// Value is an activation, with its gradient while backward runs.
type Value struct {
	*device.Buffer
	grad   *device.Buffer
	static bool // memory that outlives the tape
}

// NewTape returns an empty tape whose parameters' gradients go to params.
func NewTape(rank *device.Rank, params Accumulator) *Tape {
	return &Tape{rank: rank, params: params, refs: make(map[*device.Buffer]int)}
}

// push adds a node; its output and what it keeps are freed after it has run back.
func (t *Tape) push(name string, out *Value, run func(), keep ...*device.Buffer) *Value {
	t.nodes = append(t.nodes, node{name, out, keep, run})
	return out
}

// give adds to the gradient of v; the caller's reference to g goes over to v.
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

// gradient allocates the gradient of an activation, with one reference.
func (t *Tape) gradient(shape ...int) *device.Buffer {
	g := t.rank.Alloc(shape...)
	t.refs[g] = 1
	return g
}

func (t *Tape) release(g *device.Buffer) {
	if t.refs[g]--; t.refs[g] == 0 {
		delete(t.refs, g)
		t.rank.Free(g)
	}
}

// root returns the output of the last operation: the loss.
func (t *Tape) root() *Value { return t.nodes[len(t.nodes)-1].out }

// Loss returns the scalar that backward begins from.
func (t *Tape) Loss() *device.Buffer { return t.root().Buffer }

// Backward runs the tape back from its loss, whose gradient is given and stays the
// caller's. last says that no other tape of this backward pass gives gradients to the
// parameters.
func (t *Tape) Backward(gradient *device.Buffer, last bool) {
	t.root().grad = gradient
	t.refs[gradient] = 2 // one more than the tape releases
	for _, n := range slices.Backward(t.nodes) {
		t.runNode(n, last)
	}
	t.nodes = nil
}

func (t *Tape) runNode(n node, last bool) {
	evaluate := t.rank.Range("cpu_op", "autograd::engine::evaluate_function: "+n.name)
	inner := t.rank.Range("cpu_op", n.name)
	n.run()
	inner()
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
	for _, b := range n.keep {
		t.rank.Free(b)
	}
}

// Drop frees a tape that never runs back.
func (t *Tape) Drop() {
	for _, n := range t.nodes {
		t.free(n)
	}
	t.nodes = nil
}
