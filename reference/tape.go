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

// linear is x W^T + b; b may be nil.
func (t *tape) linear(x *value, w, b *param) *value {
	m, n, k := x.N/w.shape[1], w.shape[0], w.shape[1]
	y := &value{Buffer: t.alloc(m, n)}
	name, forward := "MmBackward0", ops.Linear{Y: y.Buffer, X: x.Buffer, W: w.value, M: m, N: n, K: k}
	if b != nil {
		name, forward.B = "AddmmBackward0", b.value
	}
	t.launch(forward)
	return t.push(name, y, func() {
		if !x.leaf {
			dx := t.gradient(m, k)
			t.launch(ops.LinearInput{DX: dx, DY: y.grad, W: w.value, M: m, N: n, K: k})
			t.give(x, dx)
		}
		t.launch(ops.LinearWeight{DW: t.r.gradientOf(w), DY: y.grad, X: x.Buffer, M: m, N: n, K: k})
		if b != nil {
			t.launch(ops.LinearBias{DB: t.r.gradientOf(b), DY: y.grad, M: m, N: n})
		}
	})
}

func (t *tape) gelu(x *value) *value {
	y := &value{Buffer: t.alloc(x.Shape...)}
	t.launch(ops.Gelu{Y: y.Buffer, X: x.Buffer})
	return t.push("GeluBackward0", y, func() {
		dx := t.gradient(x.Shape...)
		t.launch(ops.GeluBackward{DX: dx, DY: y.grad, X: x.Buffer})
		t.give(x, dx)
	})
}

func (t *tape) add(a, b *value) *value {
	y := &value{Buffer: t.alloc(a.Shape...)}
	t.launch(ops.Add{Y: y.Buffer, A: a.Buffer, B: b.Buffer})
	return t.push("AddBackward0", y, func() {
		t.refs[y.grad] += 2 // both get the same
		t.give(a, y.grad)
		t.give(b, y.grad)
	})
}

func (t *tape) embedding(w *param, index *device.Buffer) *value {
	d := w.shape[1]
	y := &value{Buffer: t.alloc(index.N, d)}
	t.launch(ops.Embedding{Y: y.Buffer, W: w.value, Index: index, D: d})
	return t.push("EmbeddingBackward0", y, func() {
		t.launch(ops.EmbeddingBackward{DW: t.r.gradientOf(w), DY: y.grad, Index: index, D: d})
	})
}

// addPositions adds the first rows of a table to every sequence.
func (t *tape) addPositions(x *value, w *param) *value {
	y := &value{Buffer: t.alloc(x.Shape...)}
	t.launch(ops.AddPositions{Y: y.Buffer, X: x.Buffer, W: w.value})
	return t.push("AddBackward0", y, func() {
		t.launch(ops.PositionsBackward{DW: t.r.gradientOf(w), DY: y.grad})
		t.refs[y.grad]++
		t.give(x, y.grad)
	})
}

func (t *tape) layerNorm(x *value, w, b *param) *value {
	d := w.shape[0]
	y := &value{Buffer: t.alloc(x.Shape...)}
	mean, rstd := t.alloc(x.N/d), t.alloc(x.N/d)
	t.launch(ops.LayerNorm{Y: y.Buffer, X: x.Buffer, W: w.value, B: b.value, Mean: mean, Rstd: rstd, D: d, Eps: t.r.p.NormEpsilon})
	return t.push("NativeLayerNormBackward0", y, func() {
		dx := t.gradient(x.Shape...)
		t.launch(ops.LayerNormBackward{DX: dx, DW: t.r.gradientOf(w), DB: t.r.gradientOf(b), DY: y.grad, X: x.Buffer, W: w.value, Mean: mean, Rstd: rstd, D: d})
		t.give(x, dx)
	}, mean, rstd)
}

func (t *tape) attention(q, k, v *value, rows, length, heads int) *value {
	d := q.Shape[1]
	y, p := &value{Buffer: t.alloc(q.Shape...)}, t.alloc(rows, heads, length, length)
	t.launch(ops.Attention{O: y.Buffer, P: p, Q: q.Buffer, K: k.Buffer, V: v.Buffer, B: rows, T: length, D: d, Heads: heads})
	return t.push("ScaledDotProductAttentionBackward0", y, func() {
		dq, dk, dv, work := t.gradient(q.Shape...), t.gradient(q.Shape...), t.gradient(q.Shape...), t.alloc(length, length)
		t.launch(ops.AttentionBackward{DQ: dq, DK: dk, DV: dv, DO: y.grad, P: p, Q: q.Buffer, K: k.Buffer, V: v.Buffer, Work: work,
			B: rows, T: length, D: d, Heads: heads})
		t.r.d.Free(work)
		t.give(q, dq)
		t.give(k, dk)
		t.give(v, dv)
	}, p)
}

// crossEntropy leaves the loss in the scalar at loss, and keeps count and logarithms.
func (t *tape) crossEntropy(logits *value, targets, loss *device.Buffer, mean bool) *value {
	y, words := &value{Buffer: loss, static: true}, logits.Shape[1]
	lse, count := t.alloc(targets.N), t.r.d.Malloc(device.I64)
	t.launch(ops.CrossEntropy{Loss: loss, Logits: logits.Buffer, Targets: targets, LSE: lse, Count: count, V: words, Mean: mean})
	return t.push("NllLossBackward0", y, func() {
		d := t.gradient(logits.Shape...)
		t.launch(ops.CrossEntropyBackward{DLogits: d, Logits: logits.Buffer, Targets: targets, LSE: lse, Count: count, Up: y.grad, V: words, Mean: mean})
		t.give(logits, d)
	}, lse, count)
}

// times multiplies a scalar by one in device memory, which may be a count.
func (t *tape) times(x *value, by *device.Buffer) *value {
	y := &value{Buffer: t.alloc()}
	t.launch(ops.Mul{Y: y.Buffer, A: x.Buffer, B: by})
	return t.push("MulBackward0", y, func() {
		dx := t.gradient()
		t.launch(ops.Mul{Y: dx, A: y.grad, B: by})
		t.give(x, dx)
	})
}

// over divides a scalar by a number.
func (t *tape) over(x *value, by float64) *value {
	y := &value{Buffer: t.alloc()}
	t.launch(ops.MulScalar{Y: y.Buffer, X: x.Buffer, Value: 1 / by})
	return t.push("DivBackward0", y, func() {
		dx := t.gradient()
		t.launch(ops.MulScalar{Y: dx, X: y.grad, Value: 1 / by})
		t.give(x, dx)
	})
}
