package ops

import (
	"strconv"

	"github.com/gaprof/gaprof/reference/device"
)

// RMSNorm normalizes rows of D: Y = X / sqrt(mean(X^2) + Eps) * W, and keeps the 1/sqrt of
// each row.
type RMSNorm struct {
	Y, X, W *device.Buffer // Y and X: rows of D; W: D
	Rstd    *device.Buffer // written for backward, one a row
	D       int
	Eps     float64 // added to the mean
}

// Name returns the name of the device function.
func (o RMSNorm) Name() string { return kernelName("rms_norm", o.Type()) }

// Op returns aten::_fused_rms_norm.
func (o RMSNorm) Op() string { return "aten::_fused_rms_norm" }

// Cost returns operations and bytes moved.
func (o RMSNorm) Cost() (flops, moved int64) {
	return int64(4 * o.Y.N), bytes(o.Y, o.X, o.W, o.Rstd)
}

// Operands returns the inputs.
func (o RMSNorm) Operands() []device.Operand {
	return []device.Operand{device.Tensor(o.X), listOf(o.D), device.Tensor(o.W), number(o.Eps)}
}

// Type returns the precision.
func (o RMSNorm) Type() device.DType { return o.Y.DType }

// RMSNormBackward gives the gradients of RMSNorm's input and weight.
type RMSNormBackward struct {
	DX, DW   *device.Buffer // rows of D; D
	DY, X, W *device.Buffer // rows of D; rows of D; D
	Rstd     *device.Buffer // as RMSNorm wrote it
	D        int
}

// Name returns the name of the device function.
func (o RMSNormBackward) Name() string { return kernelName("rms_norm_backward", o.Type()) }

// Op returns aten::_fused_rms_norm_backward.
func (o RMSNormBackward) Op() string { return "aten::_fused_rms_norm_backward" }

// Cost returns operations and bytes moved.
func (o RMSNormBackward) Cost() (flops, moved int64) {
	return int64(10 * o.DX.N), bytes(o.DX, o.DW, o.DY, o.X, o.W, o.Rstd)
}

// Operands returns the inputs.
func (o RMSNormBackward) Operands() []device.Operand {
	return []device.Operand{device.Tensor(o.DY), device.Tensor(o.X), listOf(o.D), device.Tensor(o.Rstd),
		device.Tensor(o.W), scalar("[True, True]")}
}

// Type returns the precision.
func (o RMSNormBackward) Type() device.DType { return o.DX.DType }

// RoPE turns pairs of neighbouring elements of each head by the angle of their position:
// complex multiplication by Table, or by its conjugate for the gradient.
type RoPE struct {
	Y, X      *device.Buffer // B*T x Heads*Size
	Table     *device.Buffer // at least T x Size: cosine and sine of each pair's angle, by position
	T         int            // positions of a sequence
	Heads     int
	Size      int  // elements of a head, an even number
	Conjugate bool // turn back
}

// Name returns the name of the device function.
func (o RoPE) Name() string { return kernelName("rope", o.Type()) }

// Op returns aten::mul, of complex numbers.
func (o RoPE) Op() string { return "aten::mul" }

// Cost returns operations and bytes moved.
func (o RoPE) Cost() (flops, moved int64) {
	return int64(3 * o.Y.N), bytes(o.Y, o.X) + int64(o.T*o.Size)*o.Table.DType.Size()
}

// Operands returns the inputs.
func (o RoPE) Operands() []device.Operand {
	complexes := "c10::complex<" + o.Table.DType.String() + ">"
	rows := o.X.N / (o.T * o.Heads * o.Size)
	return []device.Operand{{Shape: []int{rows, o.T, o.Heads, o.Size / 2}, Type: complexes},
		{Shape: []int{1, o.T, 1, o.Size / 2}, Type: complexes}}
}

// Type returns the precision.
func (o RoPE) Type() device.DType { return o.Y.DType }

// Silu is Y = X / (1 + exp(-X)).
type Silu struct {
	Y, X *device.Buffer
}

// Name returns the name of the device function.
func (o Silu) Name() string { return kernelName("silu", o.Type()) }

// Op returns aten::silu.
func (o Silu) Op() string { return "aten::silu" }

// Cost returns operations and bytes moved.
func (o Silu) Cost() (flops, moved int64) { return int64(4 * o.Y.N), bytes(o.Y, o.X) }

// Operands returns the inputs.
func (o Silu) Operands() []device.Operand { return tensors(o.X) }

// Type returns the precision.
func (o Silu) Type() device.DType { return o.Y.DType }

// SiluBackward is DX = DY * silu'(X).
type SiluBackward struct {
	DX, DY, X *device.Buffer
}

// Name returns the name of the device function.
func (o SiluBackward) Name() string { return kernelName("silu_backward", o.Type()) }

// Op returns aten::silu_backward.
func (o SiluBackward) Op() string { return "aten::silu_backward" }

// Cost returns operations and bytes moved.
func (o SiluBackward) Cost() (flops, moved int64) { return int64(8 * o.DX.N), bytes(o.DX, o.DY, o.X) }

// Operands returns the inputs.
func (o SiluBackward) Operands() []device.Operand { return tensors(o.DY, o.X) }

// Type returns the precision.
func (o SiluBackward) Type() device.DType { return o.DX.DType }

// Product is Y = A * B, element by element.
type Product struct {
	Y, A, B *device.Buffer
}

// Name returns the name of the device function.
func (o Product) Name() string { return kernelName("product", o.Type()) }

// Op returns aten::mul.
func (o Product) Op() string { return "aten::mul" }

// Cost returns operations and bytes moved.
func (o Product) Cost() (flops, moved int64) { return int64(o.Y.N), bytes(o.Y, o.A, o.B) }

// Operands returns the inputs.
func (o Product) Operands() []device.Operand { return tensors(o.A, o.B) }

// Type returns the precision.
func (o Product) Type() device.DType { return o.Y.DType }

// SwiGLU is Y = silu(Gate) * Up in one kernel, under the names that Liger Kernel gives it.
type SwiGLU struct {
	Y, Gate, Up *device.Buffer
}

// Name returns the name of the device function.
func (o SwiGLU) Name() string { return kernelName("swiglu_forward_kernel", o.Type()) }

// Op returns LigerSiLUMulFunction.
func (o SwiGLU) Op() string { return "LigerSiLUMulFunction" }

// Cost returns operations and bytes moved.
func (o SwiGLU) Cost() (flops, moved int64) { return int64(5 * o.Y.N), bytes(o.Y, o.Gate, o.Up) }

// Operands returns the inputs.
func (o SwiGLU) Operands() []device.Operand { return tensors(o.Gate, o.Up) }

// Type returns the precision.
func (o SwiGLU) Type() device.DType { return o.Y.DType }

// SwiGLUBackward gives the gradients of SwiGLU's inputs.
type SwiGLUBackward struct {
	DGate, DUp   *device.Buffer
	DY, Gate, Up *device.Buffer
}

// Name returns the name of the device function.
func (o SwiGLUBackward) Name() string { return kernelName("swiglu_backward_kernel", o.Type()) }

// Op returns LigerSiLUMulFunctionBackward.
func (o SwiGLUBackward) Op() string { return "LigerSiLUMulFunctionBackward" }

// Cost returns operations and bytes moved.
func (o SwiGLUBackward) Cost() (flops, moved int64) {
	return int64(10 * o.DY.N), bytes(o.DGate, o.DUp, o.DY, o.Gate, o.Up)
}

// Operands returns the inputs.
func (o SwiGLUBackward) Operands() []device.Operand { return tensors(o.DY) }

// Type returns the precision.
func (o SwiGLUBackward) Type() device.DType { return o.DY.DType }

// Concat writes the rows of the parts beside each other: Y is rows of len(X)*D, each part
// rows of D.
type Concat struct {
	Y *device.Buffer
	X []*device.Buffer
	D int
}

// Name returns the name of the device function.
func (o Concat) Name() string { return kernelName("concat", o.Type()) }

// Op returns aten::cat.
func (o Concat) Op() string { return "aten::cat" }

// Cost returns operations and bytes moved.
func (o Concat) Cost() (flops, moved int64) { return 0, bytes(o.Y) + bytes(o.X...) }

// Operands returns the inputs.
func (o Concat) Operands() []device.Operand {
	return []device.Operand{device.TensorList(o.X), scalar("1")}
}

// Type returns the precision.
func (o Concat) Type() device.DType { return o.Y.DType }

// listOf is an input that is a list of one number.
func listOf(n int) device.Operand { return scalar("[" + strconv.Itoa(n) + "]") }
