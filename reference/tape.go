package reference

import (
	"slices"

	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/reference/ops"
)

// tape is a forward pass as it is remembered for backward: what autograd's graph is in
// PyTorch. It enqueues operations while it is written and while it is run back.
type tape struct {
	r     *rank
	nodes []node
	refs  map[*device.Buffer]int // of gradients
}

// node is how one operation is taken back.
type node struct {
	name string // MmBackward0
	out  *value
	keep []*device.Buffer // freed when it has run
	run  func()
}

// value is a tensor of the model, with its gradient while backward runs.
type value struct {
	*device.Buffer
	grad   *device.Buffer
	leaf   bool // wants no gradient
	static bool // memory that outlives the tape
}

func (r *rank) newTape() *tape {
	return &tape{r: r, refs: make(map[*device.Buffer]int)}
}

func (t *tape) launch(k device.Kernel) { t.r.d.Launch(t.r.compute, k) }

func (t *tape) alloc(shape ...int) *device.Buffer { return t.r.d.Malloc(t.r.p.dt, shape...) }

// push adds a node; its output and what it keeps are freed after it has run back.
func (t *tape) push(name string, out *value, run func(), keep ...*device.Buffer) *value {
	t.nodes = append(t.nodes, node{name, out, keep, run})
	return out
}

// give adds to the gradient of v; the reference that the caller has goes over to v.
func (t *tape) give(v *value, g *device.Buffer) {
	switch {
	case v.leaf:
		t.release(g)
	case v.grad == nil:
		v.grad = g
	default:
		sum := t.gradient(g.Shape...)
		t.launch(ops.Add{Y: sum, A: v.grad, B: g})
		t.release(v.grad)
		t.release(g)
		v.grad = sum
	}
}

// gradient allocates one, with one reference.
func (t *tape) gradient(shape ...int) *device.Buffer {
	g := t.alloc(shape...)
	t.refs[g] = 1
	return g
}

func (t *tape) release(g *device.Buffer) {
	if t.refs[g]--; t.refs[g] == 0 {
		delete(t.refs, g)
		t.r.d.Free(g)
	}
}

// root returns the loss.
func (t *tape) root() *value { return t.nodes[len(t.nodes)-1].out }

// backward runs the tape from its loss, whose gradient is given and stays the
// caller's. last says that no other tape of this step gives gradients to the parameters.
func (t *tape) backward(gradient *device.Buffer, last bool) {
	t.root().grad = gradient
	t.refs[gradient] = 2
	for _, n := range slices.Backward(t.nodes) {
		t.runNode(n, last)
	}
	t.nodes = nil
}

func (t *tape) runNode(n node, last bool) {
	r := t.r
	evaluate := r.d.Range("cpu_op", "autograd::engine::evaluate_function: "+n.name)
	inner := r.d.Range("cpu_op", n.name)
	n.run()
	inner()
	t.release(n.out.grad)
	n.out.grad = nil
	if !n.out.static {
		r.d.Free(n.out.Buffer)
	}
	for _, b := range n.keep {
		r.d.Free(b)
	}
	written := r.written
	r.written = nil
	if !last {
		r.addUp(written)
	}
	evaluate()
	if last {
		r.accumulateAll(written)
	}
}

// drop frees a tape that never runs back.
func (t *tape) drop() {
	for _, n := range t.nodes {
		if !n.out.static {
			t.r.d.Free(n.out.Buffer)
		}
		for _, b := range n.keep {
			t.r.d.Free(b)
		}
	}
	t.nodes = nil
}
