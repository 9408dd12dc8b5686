package ops

import (
	"strconv"

	"github.com/gaprof/gaprof/reference/device"
)

// Accumulate is Y += X: a gradient onto the one that is there, or a count.
type Accumulate struct {
	Y, X *device.Buffer
	// Transposed: X would be transposed on a GPU, where the kernel is not vectorized then.
	Transposed bool
}

// Name returns the name of the device function.
func (o Accumulate) Name() string {
	if o.Transposed {
		return kernelName("accumulate_transposed", o.Type())
	}
	return kernelName("accumulate", o.Type())
}

// Op returns aten::add_.
func (o Accumulate) Op() string { return "aten::add_" }

// Cost returns operations and bytes moved.
func (o Accumulate) Cost() (flops, moved int64) { return int64(o.Y.N), 2*bytes(o.Y) + bytes(o.X) }

// Operands returns the inputs.
func (o Accumulate) Operands() []device.Operand { return append(tensors(o.Y, o.X), scalar("1")) }

// Type returns the precision.
func (o Accumulate) Type() device.DType { return o.Y.DType }

// Scale is X *= Factor, a scalar in device memory.
type Scale struct {
	// Strided says that the kernel is the one for tensors of any layout, which reads and writes
	// one element at a time.
	Strided   bool
	X, Factor *device.Buffer
}

// Name returns the name of the device function.
func (o Scale) Name() string { return kernelName("scale", o.Type()) }

// Op returns aten::mul_.
func (o Scale) Op() string { return "aten::mul_" }

// Cost returns operations and bytes moved.
func (o Scale) Cost() (flops, moved int64) { return int64(o.X.N), 2 * bytes(o.X) }

// Operands returns the inputs.
func (o Scale) Operands() []device.Operand { return tensors(o.X, o.Factor) }

// Type returns the precision.
func (o Scale) Type() device.DType { return o.X.DType }

// ForeachScale is Scale for many tensors at once.
type ForeachScale struct {
	X      []*device.Buffer
	Factor *device.Buffer
}

// Name returns the name of the device function.
func (o ForeachScale) Name() string { return kernelName("multi_tensor_scale", o.Type()) }

// Op returns aten::_foreach_mul_.
func (o ForeachScale) Op() string { return "aten::_foreach_mul_" }

// Cost returns operations and bytes moved.
func (o ForeachScale) Cost() (flops, moved int64) {
	return (bytes(o.X...) / o.Factor.DType.Size()), 2 * bytes(o.X...)
}

// Operands returns the inputs.
func (o ForeachScale) Operands() []device.Operand {
	return []device.Operand{device.TensorList(o.X), device.Tensor(o.Factor)}
}

// Type returns the precision.
func (o ForeachScale) Type() device.DType { return o.X[0].DType }

// ForeachScaleBy is X *= Value for many tensors at once, with a number of the host, which
// traces record.
type ForeachScaleBy struct {
	X     []*device.Buffer
	Value float64
}

// Name returns the name of the device function.
func (o ForeachScaleBy) Name() string { return kernelName("multi_tensor_scale_by", o.Type()) }

// Op returns aten::_foreach_mul_.
func (o ForeachScaleBy) Op() string { return "aten::_foreach_mul_" }

// Cost returns operations and bytes moved.
func (o ForeachScaleBy) Cost() (flops, moved int64) {
	return bytes(o.X...) / o.Type().Size(), 2 * bytes(o.X...)
}

// Operands returns the inputs.
func (o ForeachScaleBy) Operands() []device.Operand {
	return []device.Operand{device.TensorList(o.X), scalar(strconv.FormatFloat(o.Value, 'g', -1, 64))}
}

// Type returns the precision.
func (o ForeachScaleBy) Type() device.DType { return o.X[0].DType }

// ForeachNorm writes the Euclidean norm of each of the tensors into Norms.
type ForeachNorm struct {
	Norms *device.Buffer // one a tensor
	X     []*device.Buffer
}

// Name returns the name of the device function.
func (o ForeachNorm) Name() string { return kernelName("multi_tensor_norm", o.Type()) }

// Op returns aten::_foreach_norm.
func (o ForeachNorm) Op() string { return "aten::_foreach_norm" }

// Cost returns operations and bytes moved.
func (o ForeachNorm) Cost() (flops, moved int64) {
	return (2 * bytes(o.X...) / o.Norms.DType.Size()), bytes(o.X...)
}

// Operands returns the inputs.
func (o ForeachNorm) Operands() []device.Operand {
	return []device.Operand{device.TensorList(o.X), scalar("2."), {}}
}

// Type returns the precision.
func (o ForeachNorm) Type() device.DType { return o.X[0].DType }

// VectorNorm is the Euclidean norm of a vector, or with Squared its square.
type VectorNorm struct {
	Norm, X *device.Buffer
	Squared bool
}

// Name returns the name of the device function.
func (o VectorNorm) Name() string { return kernelName("vector_norm", o.Type()) }

// Op returns aten::linalg_vector_norm.
func (o VectorNorm) Op() string { return "aten::linalg_vector_norm" }

// Cost returns operations and bytes moved.
func (o VectorNorm) Cost() (flops, moved int64) { return int64(2 * o.X.N), bytes(o.X) }

// Operands returns the inputs.
func (o VectorNorm) Operands() []device.Operand {
	return append(tensors(o.X), scalar("2."), device.Operand{}, scalar("False"), device.Operand{})
}

// Type returns the precision.
func (o VectorNorm) Type() device.DType { return o.X.DType }

// Sqrt is the root of a scalar.
type Sqrt struct {
	Y, X *device.Buffer
}

// Name returns the name of the device function.
func (o Sqrt) Name() string { return kernelName("sqrt", o.Type()) }

// Op returns aten::sqrt.
func (o Sqrt) Op() string { return "aten::sqrt" }

// Cost returns operations and bytes moved.
func (o Sqrt) Cost() (flops, moved int64) { return int64(1), bytes(o.Y, o.X) }

// Operands returns the inputs.
func (o Sqrt) Operands() []device.Operand { return tensors(o.X) }

// Type returns the precision.
func (o Sqrt) Type() device.DType { return o.Y.DType }

// AddScalar is Y = X + Value for scalars.
type AddScalar struct {
	Y, X  *device.Buffer
	Value float64
}

// Name returns the name of the device function.
func (o AddScalar) Name() string { return kernelName("add_scalar", o.Type()) }

// Op returns aten::add.
func (o AddScalar) Op() string { return "aten::add" }

// Cost returns operations and bytes moved.
func (o AddScalar) Cost() (flops, moved int64) { return int64(1), bytes(o.Y, o.X) }

// Operands returns the inputs.
func (o AddScalar) Operands() []device.Operand {
	return append(tensors(o.X), number(o.Value), scalar("1"))
}

// Type returns the precision.
func (o AddScalar) Type() device.DType { return o.Y.DType }

// Reciprocal is Y = 1/X for scalars, and 0 for 0: where nothing was counted there is
// nothing to scale. X may be a count.
type Reciprocal struct {
	Y, X *device.Buffer
}

// Name returns the name of the device function.
func (o Reciprocal) Name() string { return kernelName("reciprocal", o.Type()) }

// Op returns aten::reciprocal.
func (o Reciprocal) Op() string { return "aten::reciprocal" }

// Cost returns operations and bytes moved.
func (o Reciprocal) Cost() (flops, moved int64) { return int64(1), bytes(o.Y, o.X) }

// Operands returns the inputs.
func (o Reciprocal) Operands() []device.Operand { return tensors(o.X) }

// Type returns the precision.
func (o Reciprocal) Type() device.DType { return o.Y.DType }

// MulScalar is Y = X * Value for scalars. X may be a count.
type MulScalar struct {
	Y, X  *device.Buffer
	Value float64
}

// Name returns the name of the device function.
func (o MulScalar) Name() string { return kernelName("mul_scalar", o.Type()) }

// Op returns aten::mul.
func (o MulScalar) Op() string { return "aten::mul" }

// Cost returns operations and bytes moved.
func (o MulScalar) Cost() (flops, moved int64) { return int64(1), bytes(o.Y, o.X) }

// Operands returns the inputs.
func (o MulScalar) Operands() []device.Operand { return append(tensors(o.X), number(o.Value)) }

// Type returns the precision.
func (o MulScalar) Type() device.DType { return o.Y.DType }

// Mul is Y = A * B for scalars. B may be a count.
type Mul struct {
	Y, A, B *device.Buffer
}

// Name returns the name of the device function.
func (o Mul) Name() string { return kernelName("mul", o.Type()) }

// Op returns aten::mul.
func (o Mul) Op() string { return "aten::mul" }

// Cost returns operations and bytes moved.
func (o Mul) Cost() (flops, moved int64) { return int64(1), bytes(o.Y, o.A, o.B) }

// Operands returns the inputs.
func (o Mul) Operands() []device.Operand { return tensors(o.A, o.B) }

// Type returns the precision.
func (o Mul) Type() device.DType { return o.Y.DType }

// MulInto is Y = X * Value for whole tensors.
type MulInto struct {
	Y, X  *device.Buffer
	Value float64
}

// Name returns the name of the device function.
func (o MulInto) Name() string { return kernelName("mul_into", o.Type()) }

// Op returns aten::mul.
func (o MulInto) Op() string { return "aten::mul" }

// Cost returns operations and bytes moved.
func (o MulInto) Cost() (flops, moved int64) { return int64(o.Y.N), bytes(o.Y, o.X) }

// Operands returns the inputs.
func (o MulInto) Operands() []device.Operand {
	return []device.Operand{device.Tensor(o.X), number(o.Value), device.Tensor(o.Y)}
}

// Type returns the precision.
func (o MulInto) Type() device.DType { return o.Y.DType }

// Clamp is Y = min(X, Max) for scalars.
type Clamp struct {
	Y, X *device.Buffer
	Max  float64
}

// Name returns the name of the device function.
func (o Clamp) Name() string { return kernelName("clamp", o.Type()) }

// Op returns aten::clamp.
func (o Clamp) Op() string { return "aten::clamp" }

// Cost returns operations and bytes moved.
func (o Clamp) Cost() (flops, moved int64) { return int64(1), bytes(o.Y, o.X) }

// Operands returns the inputs.
func (o Clamp) Operands() []device.Operand {
	return append(tensors(o.X), device.Operand{}, number(o.Max))
}

// Type returns the precision.
func (o Clamp) Type() device.DType { return o.Y.DType }

// OnesLike sets Y to ones: the gradient at the root.
type OnesLike struct {
	Y *device.Buffer
}

// Name returns the name of the device function.
func (o OnesLike) Name() string { return kernelName("ones_like", o.Type()) }

// Op returns aten::ones_like.
func (o OnesLike) Op() string { return "aten::ones_like" }

// Cost returns operations and bytes moved.
func (o OnesLike) Cost() (flops, moved int64) { return int64(0), bytes(o.Y) }

// Operands returns the inputs.
func (o OnesLike) Operands() []device.Operand { return tensors(o.Y) }

// Type returns the precision.
func (o OnesLike) Type() device.DType { return o.Y.DType }

// number is a scalar that has become a tensor, as Python's do.
func number(v float64) device.Operand {
	return device.Operand{Type: "double", Value: strconv.FormatFloat(v, 'g', -1, 64)}
}
