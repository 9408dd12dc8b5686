package device

// DType is the type of the elements of a Buffer.
type DType uint8

// The types of elements: numbers of the model, and indices and counts.
const (
	F32 DType = iota
	F64
	I64
	BF16 // of weights, gradients and activations; what is kept between steps is F32 then
)

var dtypes = [...]struct {
	size               int64
	trace, nccl, short string
}{
	{4, "float", "Float", "f32"}, {8, "double", "Double", "f64"}, {8, "long int", "Long", "i64"},
	{2, "c10::BFloat16", "BFloat16", "bf16"},
}

// Kept returns the type of what is added up over many small contributions when the model
// is of type d: moments, master weights, losses and norms. It is F32 for BF16, else d.
func (d DType) Kept() DType {
	if d == BF16 {
		return F32
	}
	return d
}

// Size returns the bytes of one element.
func (d DType) Size() int64 { return dtypes[d].size }

// String returns the name that PyTorch writes into "Input type": float, double, long int or c10::BFloat16.
func (d DType) String() string { return dtypes[d].trace }

// Message returns the name that record_param_comms has for the type: Float, Double, Long or BFloat16.
func (d DType) Message() string { return dtypes[d].nccl }

// Short returns f32, f64, i64 or bf16, for the names of kernels.
func (d DType) Short() string { return dtypes[d].short }
