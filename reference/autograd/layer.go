package autograd

import (
	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/reference/ops"
)

// Linear returns x W^T + b. w is outputs x inputs; b may be nil.
func (t *Tape) Linear(x *Value, w, b *Param) *Value {
	m, n, k := x.N/w.Shape[1], w.Shape[0], w.Shape[1]
	y := &Value{Buffer: t.rank.Alloc(m, n)}
	name, forward := "MmBackward0", ops.Linear{Y: y.Buffer, X: x.Buffer, W: w.Value, M: m, N: n, K: k}
	if b != nil {
		name, forward.B = "AddmmBackward0", b.Value
	}
	t.rank.Run(forward)
	return t.push(name, y, func() {
		dx := t.gradient(m, k)
		t.rank.Run(ops.LinearInput{DX: dx, DY: y.grad, W: w.Value, M: m, N: n, K: k})
		t.give(x, dx)
		t.rank.Run(ops.LinearWeight{DW: t.params.Gradient(w), DY: y.grad, X: x.Buffer, M: m, N: n, K: k})
		if b != nil {
			t.rank.Run(ops.LinearBias{DB: t.params.Gradient(b), DY: y.grad, M: m, N: n})
		}
	})
}

// Gelu returns the Gaussian error linear unit of x, in its tanh approximation.
func (t *Tape) Gelu(x *Value) *Value {
	y := &Value{Buffer: t.rank.Alloc(x.Shape...)}
	t.rank.Run(ops.Gelu{Y: y.Buffer, X: x.Buffer})
	return t.push("GeluBackward0", y, func() {
		dx := t.gradient(x.Shape...)
		t.rank.Run(ops.GeluBackward{DX: dx, DY: y.grad, X: x.Buffer})
		t.give(x, dx)
	})
}

// Add returns a + b: a residual connection.
func (t *Tape) Add(a, b *Value) *Value {
	y := &Value{Buffer: t.rank.Alloc(a.Shape...)}
	t.rank.Run(ops.Add{Y: y.Buffer, A: a.Buffer, B: b.Buffer})
	return t.push("AddBackward0", y, func() {
		t.refs[y.grad] += 2 // both share it
		t.give(a, y.grad)
		t.give(b, y.grad)
	})
}

// Embedding returns the rows of w that index selects.
func (t *Tape) Embedding(w *Param, index *device.Buffer) *Value {
	d := w.Shape[1]
	y := &Value{Buffer: t.rank.Alloc(index.N, d)}
	t.rank.Run(ops.Embedding{Y: y.Buffer, W: w.Value, Index: index, D: d})
	return t.push("EmbeddingBackward0", y, func() {
		dw, add := t.untie(w)
		t.rank.Run(ops.EmbeddingBackward{DW: dw, DY: y.grad, Index: index, D: d})
		t.after = add
	})
}

// AddPositions adds the table w, one row per position, to every sequence in x.
func (t *Tape) AddPositions(x *Value, w *Param) *Value {
	y := &Value{Buffer: t.rank.Alloc(x.Shape...)}
	t.rank.Run(ops.AddPositions{Y: y.Buffer, X: x.Buffer, W: w.Value})
	return t.push("AddBackward0", y, func() {
		t.rank.Run(ops.PositionsBackward{DW: t.params.Gradient(w), DY: y.grad})
		t.refs[y.grad]++
		t.give(x, y.grad)
	})
}

// LayerNorm normalizes the rows of x, then multiplies by w and adds b. eps is added to
// the variance.
func (t *Tape) LayerNorm(x *Value, w, b *Param, eps float64) *Value {
	d := w.Shape[0]
	y := &Value{Buffer: t.rank.Alloc(x.Shape...)}
	mean := t.rank.Alloc(x.N / d)
	rstd := t.rank.Alloc(x.N / d)
	t.rank.Run(ops.LayerNorm{Y: y.Buffer, X: x.Buffer, W: w.Value, B: b.Value, Mean: mean, Rstd: rstd, D: d, Eps: eps})
	return t.push("NativeLayerNormBackward0", y, func() {
		back := ops.LayerNormBackward{DX: t.gradient(x.Shape...), DW: t.params.Gradient(w), DB: t.params.Gradient(b),
			DY: y.grad, X: x.Buffer, W: w.Value, Mean: mean, Rstd: rstd, D: d}
		t.rank.Run(back)
		t.give(x, back.DX)
	}, mean, rstd)
}

// Attention returns causal self-attention over rows sequences of length positions each.
// q, k and v are rows*length x width; heads must divide width.
func (t *Tape) Attention(q, k, v *Value, rows, length, heads int) *Value {
	d := q.Shape[1]
	y := &Value{Buffer: t.rank.Alloc(q.Shape...)}
	p := t.rank.Alloc(rows, heads, length, length)
	t.rank.Run(ops.Attention{O: y.Buffer, P: p, Q: q.Buffer, K: k.Buffer, V: v.Buffer,
		B: rows, T: length, D: d, Heads: heads})
	return t.push("ScaledDotProductAttentionBackward0", y, func() {
		back := ops.AttentionBackward{DO: y.grad, P: p, Q: q.Buffer, K: k.Buffer, V: v.Buffer,
			B: rows, T: length, D: d, Heads: heads}
		back.DQ = t.gradient(q.Shape...)
		back.DK = t.gradient(q.Shape...)
		back.DV = t.gradient(q.Shape...)
		back.Work = t.rank.Alloc(length, length)
		t.rank.Run(back)
		t.rank.Free(back.Work)
		t.give(q, back.DQ)
		t.give(k, back.DK)
		t.give(v, back.DV)
	}, p)
}

// CrossEntropy writes the loss into the scalar loss, which still belongs to the caller:
// the sum over rows that have a target or, if mean is set, their mean.
func (t *Tape) CrossEntropy(logits *Value, targets, loss *device.Buffer, mean bool) *Value {
	y := &Value{Buffer: loss, static: true}
	words := logits.Shape[1]
	lse := t.rank.Scalar(targets.N)
	count := t.rank.Malloc(device.I64)
	t.rank.Run(ops.CrossEntropy{Loss: loss, Logits: logits.Buffer, Targets: targets, LSE: lse, Count: count,
		V: words, Mean: mean})
	return t.push("NllLossBackward0", y, func() {
		d := t.gradient(logits.Shape...)
		t.rank.Run(ops.CrossEntropyBackward{DLogits: d, Logits: logits.Buffer, Targets: targets, LSE: lse, Count: count,
			Up: y.grad, V: words, Mean: mean})
		t.give(logits, d)
	}, lse, count)
}

// Mul multiplies a scalar by another one in device memory, which may be a count and gets
// no gradient.
func (t *Tape) Mul(x *Value, by *device.Buffer) *Value {
	y := &Value{Buffer: t.rank.Scalar()}
	t.rank.Run(ops.Mul{Y: y.Buffer, A: x.Buffer, B: by})
	return t.push("MulBackward0", y, func() {
		dx := t.gradient()
		t.rank.Run(ops.Mul{Y: dx, A: y.grad, B: by})
		t.give(x, dx)
	})
}

// Div divides a scalar by a number.
func (t *Tape) Div(x *Value, by float64) *Value {
	y := &Value{Buffer: t.rank.Scalar()}
	t.rank.Run(ops.MulScalar{Y: y.Buffer, X: x.Buffer, Value: 1 / by})
	return t.push("DivBackward0", y, func() {
		dx := t.gradient()
		t.rank.Run(ops.MulScalar{Y: dx, X: y.grad, Value: 1 / by})
		t.give(x, dx)
	})
}
