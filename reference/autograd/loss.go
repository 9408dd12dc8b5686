package autograd

import (
	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/reference/ops"
)

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
