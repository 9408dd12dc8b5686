package ops

import (
	"github.com/gaprof/gaprof/reference/device"
)

// The operations of which optimizers consist that are not one kernel.

// ScaleBy is X *= Value.
type ScaleBy struct {
	X     *device.Buffer
	Value float64
}

// Name returns the name of the device function.
func (o ScaleBy) Name() string { return kernelName("scale_by", o.Type()) }

// Op returns aten::mul_.
func (o ScaleBy) Op() string { return "aten::mul_" }

// Cost returns operations and bytes moved.
func (o ScaleBy) Cost() (flops, moved int64) { return int64(o.X.N), 2 * bytes(o.X) }

// Operands returns the inputs.
func (o ScaleBy) Operands() []device.Operand { return append(tensors(o.X), number(o.Value)) }

// Type returns the precision.
func (o ScaleBy) Type() device.DType { return o.X.DType }

// Raise is X += Value.
type Raise struct {
	X     *device.Buffer
	Value float64
}

// Name returns the name of the device function.
func (o Raise) Name() string { return kernelName("raise", o.Type()) }

// Op returns aten::add_.
func (o Raise) Op() string { return "aten::add_" }

// Cost returns operations and bytes moved.
func (o Raise) Cost() (flops, moved int64) { return int64(o.X.N), 2 * bytes(o.X) }

// Operands returns the inputs.
func (o Raise) Operands() []device.Operand {
	return append(tensors(o.X), number(o.Value), scalar("1"))
}

// Type returns the precision.
func (o Raise) Type() device.DType { return o.X.DType }

// AtLeast is X = max(X, Least).
type AtLeast struct {
	X     *device.Buffer
	Least float64
}

// Name returns the name of the device function.
func (o AtLeast) Name() string { return kernelName("at_least", o.Type()) }

// Op returns aten::clamp.
func (o AtLeast) Op() string { return "aten::clamp" }

// Cost returns operations and bytes moved.
func (o AtLeast) Cost() (flops, moved int64) { return int64(o.X.N), 2 * bytes(o.X) }

// Operands returns the inputs.
func (o AtLeast) Operands() []device.Operand {
	return append(tensors(o.X), number(o.Least), device.Operand{})
}

// Type returns the precision.
func (o AtLeast) Type() device.DType { return o.X.DType }

// AddScaled is Y += Alpha * X.
type AddScaled struct {
	Y, X  *device.Buffer
	Alpha float64
}

// Name returns the name of the device function.
func (o AddScaled) Name() string { return kernelName("add_scaled", o.Type()) }

// Op returns aten::add_.
func (o AddScaled) Op() string { return "aten::add_" }

// Cost returns operations and bytes moved.
func (o AddScaled) Cost() (flops, moved int64) { return int64(2 * o.Y.N), 2*bytes(o.Y) + bytes(o.X) }

// Operands returns the inputs.
func (o AddScaled) Operands() []device.Operand { return append(tensors(o.Y, o.X), number(o.Alpha)) }

// Type returns the precision.
func (o AddScaled) Type() device.DType { return o.Y.DType }

// AddProduct is Y += Value * A * B.
type AddProduct struct {
	Y, A, B *device.Buffer
	Value   float64
}

// Name returns the name of the device function.
func (o AddProduct) Name() string { return kernelName("add_product", o.Type()) }

// Op returns aten::addcmul_.
func (o AddProduct) Op() string { return "aten::addcmul_" }

// Cost returns operations and bytes moved; what is squared is read once.
func (o AddProduct) Cost() (flops, moved int64) {
	moved = 2*bytes(o.Y) + bytes(o.A)
	if o.A != o.B {
		moved += bytes(o.B)
	}
	return int64(3 * o.Y.N), moved
}

// Operands returns the inputs.
func (o AddProduct) Operands() []device.Operand {
	return append(tensors(o.Y, o.A, o.B), number(o.Value))
}

// Type returns the precision.
func (o AddProduct) Type() device.DType { return o.Y.DType }

// Roots is Y = sqrt(X).
type Roots struct {
	Y, X *device.Buffer
}

// Name returns the name of the device function.
func (o Roots) Name() string { return kernelName("roots", o.Type()) }

// Op returns aten::sqrt.
func (o Roots) Op() string { return "aten::sqrt" }

// Cost returns operations and bytes moved.
func (o Roots) Cost() (flops, moved int64) { return int64(o.Y.N), bytes(o.Y, o.X) }

// Operands returns the inputs.
func (o Roots) Operands() []device.Operand { return tensors(o.X) }

// Type returns the precision.
func (o Roots) Type() device.DType { return o.Y.DType }

// Quotient is Y = A / B; B may be a scalar, and Y may be A.
type Quotient struct {
	Y, A, B *device.Buffer
}

// Name returns the name of the device function.
func (o Quotient) Name() string { return kernelName("quotient", o.Type()) }

// Op returns aten::div, or aten::div_ in place.
func (o Quotient) Op() string { return inPlace("aten::div", o.Y == o.A) }

// Cost returns operations and bytes moved.
func (o Quotient) Cost() (flops, moved int64) { return int64(o.Y.N), bytes(o.Y, o.A, o.B) }

// Operands returns the inputs.
func (o Quotient) Operands() []device.Operand { return tensors(o.A, o.B) }

// Type returns the precision.
func (o Quotient) Type() device.DType { return o.Y.DType }

// Lerp is Y = A + Weight * (B - A); Y may be A.
type Lerp struct {
	Y, A, B *device.Buffer
	Weight  float64
}

// Name returns the name of the device function.
func (o Lerp) Name() string { return kernelName("lerp", o.Type()) }

// Op returns aten::lerp, or aten::lerp_ in place.
func (o Lerp) Op() string { return inPlace("aten::lerp", o.Y == o.A) }

// Cost returns operations and bytes moved.
func (o Lerp) Cost() (flops, moved int64) { return int64(3 * o.Y.N), bytes(o.Y, o.A, o.B) }

// Operands returns the inputs.
func (o Lerp) Operands() []device.Operand { return append(tensors(o.A, o.B), number(o.Weight)) }

// Type returns the precision.
func (o Lerp) Type() device.DType { return o.Y.DType }

// inPlace is the name of an operator, with a _ if it overwrites its first input.
func inPlace(name string, is bool) string {
	if is {
		return name + "_"
	}
	return name
}

// MatMul is Y = Alpha A B + Beta C for M x K and K x N matrices that are stored as they are or
// transposed.
type MatMul struct {
	Y, A, B        *device.Buffer
	C              *device.Buffer // as Y; nil for none
	M, N, K        int
	TransA, TransB bool // stored as K x M, N x K
	Alpha, Beta    float64
	// Flipped says that the program computes the transposes: B^T times A^T.
	Flipped bool
}

// Name returns the name of the device function.
func (o MatMul) Name() string {
	letter := map[bool]string{false: "n", true: "t"}
	return kernelName("gemm_"+letter[o.TransA]+letter[o.TransB], o.Type())
}

// Op returns aten::addmm with a matrix to add and aten::mm without.
func (o MatMul) Op() string {
	if o.C != nil {
		return "aten::addmm"
	}
	return "aten::mm"
}

// Cost returns operations and bytes moved.
func (o MatMul) Cost() (flops, moved int64) {
	return 2 * int64(o.M) * int64(o.N) * int64(o.K), bytes(o.Y, o.A, o.B, o.C)
}

// Operands returns the inputs.
func (o MatMul) Operands() []device.Operand {
	m, n := o.M, o.N
	if o.Flipped {
		m, n = n, m
	}
	matrix := func(rows, cols int) device.Operand {
		return device.Operand{Shape: []int{rows, cols}, Type: o.Type().String()}
	}
	if o.C == nil {
		return []device.Operand{matrix(m, o.K), matrix(o.K, n)}
	}
	return []device.Operand{matrix(m, n), matrix(m, o.K), matrix(o.K, n), number(o.Beta), number(o.Alpha)}
}

// Type returns the precision.
func (o MatMul) Type() device.DType { return o.Y.DType }
