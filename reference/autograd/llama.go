package autograd

import (
	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/reference/ops"
)

// done frees an activation that no backward will read and nobody else will use, as PyTorch
// does when the last reference to it goes.
func (t *Tape) done(v *Value) {
	if !v.static {
		t.rank.Free(v.Buffer)
		v.static = true
	}
}

// RMSNorm divides the rows of x by their root mean square, then multiplies by w. eps is
// added to the mean of squares.
func (t *Tape) RMSNorm(x *Value, w *Param, eps float64) *Value {
	d := w.Shape[0]
	y := &Value{Buffer: t.rank.Alloc(x.Shape...)}
	rstd := t.rank.Scalar(x.N / d)
	t.rank.Run(ops.RMSNorm{Y: y.Buffer, X: x.Buffer, W: w.Value, Rstd: rstd, D: d, Eps: eps})
	return t.push("FusedRmsNormBackward0", y, func() {
		back := ops.RMSNormBackward{DX: t.gradient(x.Shape...), DW: t.params.Gradient(w), DY: y.grad, X: x.Buffer,
			W: w.Value, Rstd: rstd, D: d}
		t.rank.Run(back)
		t.give(x, back.DX)
	}, rstd)
}

// Norm is RMSNorm without a parameter: gain is one that stays as it is.
func (t *Tape) Norm(x *Value, gain *device.Buffer, eps float64) *Value {
	d := gain.N
	y := &Value{Buffer: t.rank.Alloc(x.Shape...)}
	rstd := t.rank.Scalar(x.N / d)
	t.rank.Run(ops.RMSNorm{Y: y.Buffer, X: x.Buffer, W: gain, Rstd: rstd, D: d, Eps: eps})
	return t.push("FusedRmsNormBackward0", y, func() {
		unused := t.gradient(d)
		back := ops.RMSNormBackward{DX: t.gradient(x.Shape...), DW: unused, DY: y.grad, X: x.Buffer, W: gain,
			Rstd: rstd, D: d}
		t.rank.Run(back)
		t.release(unused)
		t.give(x, back.DX)
	}, rstd)
}

// Rotate turns the heads of x, size elements each, by the angles of their positions in table:
// rotary position embedding. It takes the place of x, which nobody else may use.
func (t *Tape) Rotate(x *Value, table *device.Buffer, length, size int) *Value {
	y := &Value{Buffer: t.rank.Alloc(x.Shape...)}
	turn := ops.RoPE{Y: y.Buffer, X: x.Buffer, Table: table, T: length, Heads: x.Shape[1] / size, Size: size}
	t.rank.Run(turn)
	t.done(x)
	return t.push("MulBackward0", y, func() {
		back := turn
		back.Y, back.X, back.Conjugate = t.gradient(x.Shape...), y.grad, true
		t.rank.Run(back)
		t.give(x, back.Y)
	})
}

// SwiGLU returns silu(gate) * up.
func (t *Tape) SwiGLU(gate, up *Value) *Value {
	s := &Value{Buffer: t.rank.Alloc(gate.Shape...)}
	t.rank.Run(ops.Silu{Y: s.Buffer, X: gate.Buffer})
	t.push("SiluBackward0", s, func() {
		dx := t.gradient(gate.Shape...)
		t.rank.Run(ops.SiluBackward{DX: dx, DY: s.grad, X: gate.Buffer})
		t.give(gate, dx)
	})
	y := &Value{Buffer: t.rank.Alloc(gate.Shape...)}
	t.rank.Run(ops.Product{Y: y.Buffer, A: s.Buffer, B: up.Buffer})
	return t.push("MulBackward0", y, func() {
		ds, du := t.gradient(gate.Shape...), t.gradient(gate.Shape...)
		t.rank.Run(ops.Product{Y: du, A: y.grad, B: s.Buffer})
		t.rank.Run(ops.Product{Y: ds, A: y.grad, B: up.Buffer})
		t.give(s, ds)
		t.give(up, du)
	})
}

// FusedSwiGLU is SwiGLU in one kernel, which keeps nothing but its inputs.
func (t *Tape) FusedSwiGLU(gate, up *Value) *Value {
	y := &Value{Buffer: t.rank.Alloc(gate.Shape...)}
	t.rank.Run(ops.SwiGLU{Y: y.Buffer, Gate: gate.Buffer, Up: up.Buffer})
	return t.push("LigerSiLUMulFunctionBackward", y, func() {
		back := ops.SwiGLUBackward{DGate: t.gradient(gate.Shape...), DUp: t.gradient(gate.Shape...), DY: y.grad,
			Gate: gate.Buffer, Up: up.Buffer}
		t.rank.Run(back)
		t.give(gate, back.DGate)
		t.give(up, back.DUp)
	})
}

// FlashAttention returns causal self-attention, for which it keeps no probabilities. q is
// B*T x Q*Size; k and v are B*T x KV*Size. All three may be parts of a Split.
func (t *Tape) FlashAttention(q, k, v *Value, h ops.Heads) *Value {
	y := &Value{Buffer: t.rank.Alloc(h.B*h.T, h.Q*h.Size)}
	lse := t.rank.Scalar(h.B, h.Q, h.T)
	t.rank.Run(ops.FlashAttention{O: y.Buffer, LSE: lse, Q: q.Buffer, K: k.Buffer, V: v.Buffer, Heads: h,
		Stride: q.stride})
	return t.push("ScaledDotProductFlashAttentionBackward0", y, func() {
		back := ops.FlashAttentionBackward{DO: y.grad, O: y.Buffer, LSE: lse, Q: q.Buffer, K: k.Buffer, V: v.Buffer,
			Heads: h, Stride: q.stride}
		back.DQ = t.gradient(q.Shape...)
		back.DK = t.gradient(k.Shape...)
		back.DV = t.gradient(v.Shape...)
		t.rank.Run(back)
		t.give(q, back.DQ)
		t.give(k, back.DK)
		t.give(v, back.DV)
	}, lse)
}

// Split returns the columns of x as parts of equal width, without copying.
func (t *Tape) Split(x *Value, parts int) []*Value {
	rows, width := x.Shape[0], x.Shape[1]/parts
	list := make([]*Value, parts)
	for i := range list {
		part := *x.Buffer
		part.Off, part.N, part.Shape = x.Off+i*width, rows*width, []int{rows, width}
		list[i] = &Value{Buffer: &part, static: true, stride: x.Shape[1]}
	}
	t.push("SplitBackward0", list[0], func() {
		dx := ops.Concat{Y: t.gradient(x.Shape...), D: width}
		for _, part := range list {
			dx.X = append(dx.X, part.grad)
		}
		t.rank.Run(dx)
		for _, part := range list[1:] { // runNode releases the first
			t.release(part.grad)
			part.grad = nil
		}
		t.give(x, dx.Y)
	})
	return list
}

// Residual returns x + h. It takes the place of h, which nobody else may use.
func (t *Tape) Residual(x, h *Value) *Value {
	y := t.Add(x, h)
	t.done(h)
	return y
}

// AddRows adds the rows of r to each stretch of as many rows of x. It takes the place of both,
// which nobody else may use.
func (t *Tape) AddRows(x, r *Value) *Value {
	y := &Value{Buffer: t.rank.Alloc(x.Shape...)}
	t.rank.Run(ops.AddPositions{Y: y.Buffer, X: x.Buffer, W: r.Buffer})
	t.done(x)
	t.done(r)
	return t.push("AddBackward0", y, func() {
		dr := t.gradient(r.Shape...)
		t.rank.Run(ops.PositionsBackward{DW: dr, DY: y.grad})
		t.give(r, dr)
		t.refs[y.grad]++
		t.give(x, y.grad)
	})
}

// Tied is Linear without bias by a parameter that Embedding has used, too. Its gradient waits
// for that of Embedding, as gradients of one tensor wait in autograd's queue.
func (t *Tape) Tied(x *Value, w *Param) *Value {
	m, n, k := x.N/w.Shape[1], w.Shape[0], w.Shape[1]
	y := &Value{Buffer: t.rank.Alloc(m, n)}
	t.rank.Run(ops.Linear{Y: y.Buffer, X: x.Buffer, W: w.Value, M: m, N: n, K: k})
	return t.push("MmBackward0", y, func() {
		dx := t.gradient(m, k)
		t.rank.Run(ops.LinearInput{DX: dx, DY: y.grad, W: w.Value, M: m, N: n, K: k})
		t.give(x, dx)
		dw := t.gradient(w.Shape...)
		t.rank.Run(ops.LinearWeight{DW: dw, DY: y.grad, X: x.Buffer, M: m, N: n, K: k})
		t.tied[w] = dw
	})
}

// untie adds what Tied has left to the gradient of an Embedding. It returns where the latter
// goes, and what adds them up.
func (t *Tape) untie(w *Param) (to *device.Buffer, add func()) {
	waiting := t.tied[w]
	if waiting == nil {
		return t.params.Gradient(w), nil
	}
	delete(t.tied, w)
	to = t.gradient(w.Shape...)
	return to, func() {
		t.rank.Run(ops.Add{Y: t.params.Gradient(w), A: waiting, B: to})
		t.release(waiting)
		t.release(to)
	}
}
