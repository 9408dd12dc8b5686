package device

// DType is the type of the elements of a Buffer.
type DType uint8

// The types of elements: numbers of the model in either precision, and indices
// and counts.
const (
	F32 DType = iota
	F64
	I64
)

var dtypes = [...]struct {
	size               int64
	trace, nccl, short string
}{{4, "float", "Float", "f32"}, {8, "double", "Double", "f64"}, {8, "long int", "Long", "i64"}}

// Size returns the bytes of one element.
func (d DType) Size() int64 { return dtypes[d].size }

// String returns the name that PyTorch writes into "Input type": float, double or long int.
func (d DType) String() string { return dtypes[d].trace }

// Message returns the name that record_param_comms has for the type: Float, Double or Long.
func (d DType) Message() string { return dtypes[d].nccl }

// Short returns f32, f64 or i64, for the names of kernels.
func (d DType) Short() string { return dtypes[d].short }
