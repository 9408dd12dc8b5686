package device

// Kernel is one operation for a stream: a plain value with its buffers and
// sizes. What it means is up to the backend's table of implementations.
type Kernel interface {
	// Name is the name of the device function.
	Name() string
	// Op is the name of the operator as traces of PyTorch have it: aten::mm.
	Op() string
	// Cost returns floating point operations, and bytes read and written.
	Cost() (flops, bytes int64)
	// Operands returns what the operator was called with, as traces show it.
	Operands() []Operand
	// Type returns the precision that selects the implementation.
	Type() DType
}

// Operand is an input of an operator: a tensor by its shape and type, a list of
// tensors, or a number by its value.
type Operand struct {
	Shape []int   // of a tensor; empty for a scalar
	List  [][]int // of a list of tensors, then Type is TensorList
	Type  string  // float, double, long int, Scalar, TensorList
	Value string  // of a Scalar
}

// Tensor returns the operand of a buffer; a missing one has an empty type, as an
// optional argument that was not given.
func Tensor(b *Buffer) Operand {
	if b == nil {
		return Operand{}
	}
	return Operand{Shape: b.Shape, Type: b.DType.String()}
}

// TensorList returns the operand of a list of buffers.
func TensorList(list []*Buffer) Operand {
	shapes := make([][]int, len(list))
	for i, b := range list {
		shapes[i] = b.Shape
	}
	return Operand{List: shapes, Type: "TensorList"}
}
