package device

// Kernel is an operation to launch on a stream: a plain value with buffers and sizes. The
// backend selects an implementation by its type.
type Kernel interface {
	// Name returns the name of the device function.
	Name() string
	// Op returns the name of the operator in PyTorch: aten::mm.
	Op() string
	// Cost returns the number of floating-point operations, and of bytes read and
	// written.
	Cost() (flops, bytes int64)
	// Operands returns the inputs of the operator as recorded in traces.
	Operands() []Operand
	// Type returns the precision that selects the implementation.
	Type() DType
}

// Operand describes an input of an operator for a trace: shape and type of a tensor or of
// a list of tensors, or the value of a number.
type Operand struct {
	Shape []int   // of a tensor; empty for a scalar
	List  [][]int // of a list of tensors, then Type is TensorList
	Type  string  // float, double, long int, Scalar, TensorList
	Value string  // of a Scalar
}

// Tensor returns the operand for a buffer. For nil, an optional argument that is absent,
// its type is empty.
func Tensor(b *Buffer) Operand {
	if b == nil {
		return Operand{}
	}
	return Operand{Shape: b.Shape, Type: b.DType.String()}
}

// TensorList returns the operand for a list of buffers.
func TensorList(list []*Buffer) Operand {
	shapes := make([][]int, len(list))
	for i, b := range list {
		shapes[i] = b.Shape
	}
	return Operand{List: shapes, Type: "TensorList"}
}
