package reference

import (
	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/reference/ops"
)

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
