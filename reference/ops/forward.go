package ops

import (
	"strconv"

	"github.com/gaprof/gaprof/reference/device"
)

// IgnoreIndex marks positions without a target, as PyTorch's ignore_index does.
const IgnoreIndex = -100

// Embedding looks up rows: Y[i] = W[Index[i]], each D wide.
type Embedding struct {
	Y, W  *device.Buffer // Y: rows of D, one for every index; W: rows of D
	Index *device.Buffer // I64, below the number of W's rows
	D     int
}

// Name returns the name of the device function.
func (o Embedding) Name() string { return kernelName("embedding", o.Type()) }

// Op returns aten::embedding.
func (o Embedding) Op() string { return "aten::embedding" }

// Cost returns operations and bytes moved.
func (o Embedding) Cost() (flops, moved int64) { return int64(0), 2*bytes(o.Y) + bytes(o.Index) }

// Operands returns the inputs.
func (o Embedding) Operands() []device.Operand { return tensors(o.W, o.Index) }

// Type returns the precision.
func (o Embedding) Type() device.DType { return o.Y.DType }

// AddPositions adds the table W (T x D) to each of the sequences: Y[b][t] = X[b][t] + W[t].
type AddPositions struct {
	Y, X, W *device.Buffer
}

// Name returns the name of the device function.
func (o AddPositions) Name() string { return kernelName("add_positions", o.Type()) }

// Op returns aten::add.
func (o AddPositions) Op() string { return "aten::add" }

// Cost returns operations and bytes moved.
func (o AddPositions) Cost() (flops, moved int64) { return int64(o.Y.N), bytes(o.Y, o.X, o.W) }

// Operands returns the inputs.
func (o AddPositions) Operands() []device.Operand { return append(tensors(o.X, o.W), scalar("1")) }

// Type returns the precision.
func (o AddPositions) Type() device.DType { return o.Y.DType }

// LayerNorm normalizes rows of D: Y = (X - mean)/sqrt(var + Eps) * W + B with the
// variance of the whole population, and keeps the mean and 1/sqrt of each row.
type LayerNorm struct {
	Y, X, W, B *device.Buffer // Y and X: rows of D; W and B: D
	Mean, Rstd *device.Buffer // written for backward, one a row
	D          int
	Eps        float64 // added to the variance
}

// Name returns the name of the device function.
func (o LayerNorm) Name() string { return kernelName("layer_norm", o.Type()) }

// Op returns aten::native_layer_norm.
func (o LayerNorm) Op() string { return "aten::native_layer_norm" }

// Cost returns operations and bytes moved.
func (o LayerNorm) Cost() (flops, moved int64) {
	return int64(8 * o.Y.N), bytes(o.Y, o.X, o.W, o.B, o.Mean, o.Rstd)
}

// Operands returns the inputs.
func (o LayerNorm) Operands() []device.Operand { return tensors(o.X, o.W, o.B) }

// Type returns the precision.
func (o LayerNorm) Type() device.DType { return o.Y.DType }

// Linear is Y = X W^T, plus B where there is one: X is M x K, W is N x K, Y is M x N.
type Linear struct {
	Y, X, W *device.Buffer
	B       *device.Buffer // N; nil for none
	M, N, K int
}

// Name returns the name of the device function.
func (o Linear) Name() string { return kernelName("gemm_nt", o.Type()) }

// Op returns aten::addmm with a bias and aten::mm without.
func (o Linear) Op() string {
	if o.B != nil {
		return "aten::addmm"
	}
	return "aten::mm"
}

// Cost returns operations and bytes moved.
func (o Linear) Cost() (flops, moved int64) {
	return int64(2 * o.M * o.N * o.K), bytes(o.Y, o.X, o.W, o.B)
}

// Operands returns the inputs.
func (o Linear) Operands() []device.Operand { return linearOperands(o) }

// Type returns the precision.
func (o Linear) Type() device.DType { return o.Y.DType }

// Attention is causal self-attention of Heads heads, head i in columns i*D/Heads and
// on of Q, K and V (B*T x D): P = softmax(Q K^T / sqrt(D/Heads)) over earlier
// positions, kept as B x Heads x T x T, and O = P V.
type Attention struct {
	O, P    *device.Buffer
	Q, K, V *device.Buffer
	B, T, D int // sequences, positions of each, width
	Heads   int // a divisor of D
}

// Name returns the name of the device function.
func (o Attention) Name() string { return kernelName("attention", o.Type()) }

// Op returns aten::scaled_dot_product_attention.
func (o Attention) Op() string { return "aten::scaled_dot_product_attention" }

// Cost returns operations and bytes moved.
func (o Attention) Cost() (flops, moved int64) {
	return int64(4 * o.B * o.T * o.T * o.D), bytes(o.O, o.P, o.Q, o.K, o.V)
}

// Operands returns the inputs.
func (o Attention) Operands() []device.Operand { return tensors(o.Q, o.K, o.V) }

// Type returns the precision.
func (o Attention) Type() device.DType { return o.O.DType }

// Gelu is Y = X/2 (1 + tanh(sqrt(2/pi) (X + 0.044715 X^3))).
type Gelu struct {
	Y, X *device.Buffer
}

// Name returns the name of the device function.
func (o Gelu) Name() string { return kernelName("gelu", o.Type()) }

// Op returns aten::gelu.
func (o Gelu) Op() string { return "aten::gelu" }

// Cost returns operations and bytes moved.
func (o Gelu) Cost() (flops, moved int64) { return int64(10 * o.Y.N), bytes(o.Y, o.X) }

// Operands returns the inputs.
func (o Gelu) Operands() []device.Operand { return append(tensors(o.X), scalar("tanh")) }

// Type returns the precision.
func (o Gelu) Type() device.DType { return o.Y.DType }

// Add is Y = A + B; Y may be A or B.
type Add struct {
	Y, A, B *device.Buffer
}

// Name returns the name of the device function.
func (o Add) Name() string { return kernelName("add", o.Type()) }

// Op returns aten::add.
func (o Add) Op() string { return "aten::add" }

// Cost returns operations and bytes moved.
func (o Add) Cost() (flops, moved int64) { return int64(o.Y.N), bytes(o.Y, o.A, o.B) }

// Operands returns the inputs.
func (o Add) Operands() []device.Operand { return append(tensors(o.A, o.B), scalar("1")) }

// Type returns the precision.
func (o Add) Type() device.DType { return o.Y.DType }

// CrossEntropy is the negative log likelihood of Targets under the softmax of Logits
// (rows of V), natural logarithm, over rows whose target is not IgnoreIndex: the sum,
// or with Mean the sum divided by their number, zero where there is none. LSE keeps
// the logarithm of each row's sum of exponentials; Count is the number of rows with a
// target.
type CrossEntropy struct {
	Loss            *device.Buffer // a scalar
	Logits, Targets *device.Buffer // rows of V; I64, one a row
	LSE, Count      *device.Buffer // written for backward: one a row; a scalar, I64
	V               int
	Mean            bool
}

// Name returns the name of the device function.
func (o CrossEntropy) Name() string { return kernelName("cross_entropy", o.Type()) }

// Op returns aten::cross_entropy_loss.
func (o CrossEntropy) Op() string { return "aten::cross_entropy_loss" }

// Cost returns operations and bytes moved.
func (o CrossEntropy) Cost() (flops, moved int64) {
	return int64(4 * o.Logits.N), bytes(o.Logits, o.Targets, o.LSE)
}

// Operands returns the inputs.
func (o CrossEntropy) Operands() []device.Operand { return crossEntropyOperands(o) }

// Type returns the precision.
func (o CrossEntropy) Type() device.DType { return o.Logits.DType }

// CountTokens counts the elements of Labels that are not IgnoreIndex.
type CountTokens struct {
	Count, Labels *device.Buffer // I64: a scalar, any number of them
}

// Name returns the name of the device function.
func (o CountTokens) Name() string { return kernelName("count_tokens", o.Type()) }

// Op returns aten::sum.
func (o CountTokens) Op() string { return "aten::sum" }

// Cost returns operations and bytes moved.
func (o CountTokens) Cost() (flops, moved int64) { return int64(o.Labels.N), bytes(o.Labels) }

// Operands returns the inputs.
func (o CountTokens) Operands() []device.Operand { return tensors(o.Labels) }

// Type returns the precision.
func (o CountTokens) Type() device.DType { return o.Labels.DType }

func linearOperands(o Linear) []device.Operand {
	weight := device.Operand{Shape: []int{o.K, o.N}, Type: o.W.DType.String()}
	if o.B == nil {
		return []device.Operand{device.Tensor(o.X), weight}
	}
	return []device.Operand{device.Tensor(o.B), device.Tensor(o.X), weight, scalar("1"), scalar("1")}
}

// The reduction stands in the fourth input of the operator: 1 is mean, 2 is sum.
func crossEntropyOperands(o CrossEntropy) []device.Operand {
	reduction := "2"
	if o.Mean {
		reduction = "1"
	}
	return append(tensors(o.Logits, o.Targets, nil), scalar(reduction), scalar(strconv.Itoa(IgnoreIndex)), scalar("0."))
}
