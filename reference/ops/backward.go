package ops

import (
	"github.com/gaprof/gaprof/reference/device"
)

// CrossEntropyBackward is DLogits = (softmax(Logits) - onehot(Targets)) * Up, divided by
// the number of valid rows with Mean; rows without a target get zero.
type CrossEntropyBackward struct {
	DLogits         *device.Buffer // rows of V
	Logits, Targets *device.Buffer // as CrossEntropy had them
	LSE, Count      *device.Buffer // as CrossEntropy wrote them
	Up              *device.Buffer // the gradient of its loss, a scalar
	V               int
	Mean            bool
}

// Name returns the name of the device function.
func (o CrossEntropyBackward) Name() string { return kernelName("cross_entropy_backward", o.Type()) }

// Op returns aten::nll_loss_backward.
func (o CrossEntropyBackward) Op() string { return "aten::nll_loss_backward" }

// Cost returns operations and bytes moved.
func (o CrossEntropyBackward) Cost() (flops, moved int64) {
	return int64(4 * o.Logits.N), bytes(o.DLogits, o.Logits, o.Targets, o.LSE)
}

// Operands returns the inputs.
func (o CrossEntropyBackward) Operands() []device.Operand { return tensors(o.Up, o.Logits, o.Targets) }

// Type returns the precision.
func (o CrossEntropyBackward) Type() device.DType { return o.Logits.DType }

// LinearInput is the gradient of Linear's input, DX = DY W.
type LinearInput struct {
	DX, DY, W *device.Buffer
	M, N, K   int
}

// Name returns the name of the device function.
func (o LinearInput) Name() string { return kernelName("gemm_nn", o.Type()) }

// Op returns aten::mm.
func (o LinearInput) Op() string { return "aten::mm" }

// Cost returns operations and bytes moved.
func (o LinearInput) Cost() (flops, moved int64) {
	return int64(2 * o.M * o.N * o.K), bytes(o.DX, o.DY, o.W)
}

// Operands returns the inputs.
func (o LinearInput) Operands() []device.Operand { return tensors(o.DY, o.W) }

// Type returns the precision.
func (o LinearInput) Type() device.DType { return o.DX.DType }

// LinearWeight is the gradient of Linear's weight, DW = DY^T X.
type LinearWeight struct {
	DW, DY, X *device.Buffer
	M, N, K   int
}

// Name returns the name of the device function.
func (o LinearWeight) Name() string { return kernelName("gemm_tn", o.Type()) }

// Op returns aten::mm.
func (o LinearWeight) Op() string { return "aten::mm" }

// Cost returns operations and bytes moved.
func (o LinearWeight) Cost() (flops, moved int64) {
	return int64(2 * o.M * o.N * o.K), bytes(o.DW, o.DY, o.X)
}

// Operands returns the inputs.
func (o LinearWeight) Operands() []device.Operand {
	return []device.Operand{{Shape: []int{o.N, o.M}, Type: o.DY.DType.String()}, device.Tensor(o.X)}
}

// Type returns the precision.
func (o LinearWeight) Type() device.DType { return o.DW.DType }

// LinearBias is the gradient of Linear's bias, the sum of DY's M rows of N.
type LinearBias struct {
	DB, DY *device.Buffer
	M, N   int
}

// Name returns the name of the device function.
func (o LinearBias) Name() string { return kernelName("column_sum", o.Type()) }

// Op returns aten::sum.
func (o LinearBias) Op() string { return "aten::sum" }

// Cost returns operations and bytes moved.
func (o LinearBias) Cost() (flops, moved int64) { return int64(o.DY.N), bytes(o.DB, o.DY) }

// Operands returns the inputs.
func (o LinearBias) Operands() []device.Operand { return append(tensors(o.DY), scalar("[0]")) }

// Type returns the precision.
func (o LinearBias) Type() device.DType { return o.DB.DType }

// GeluBackward is DX = DY * gelu'(X).
type GeluBackward struct {
	DX, DY, X *device.Buffer
}

// Name returns the name of the device function.
func (o GeluBackward) Name() string { return kernelName("gelu_backward", o.Type()) }

// Op returns aten::gelu_backward.
func (o GeluBackward) Op() string { return "aten::gelu_backward" }

// Cost returns operations and bytes moved.
func (o GeluBackward) Cost() (flops, moved int64) { return int64(16 * o.DX.N), bytes(o.DX, o.DY, o.X) }

// Operands returns the inputs.
func (o GeluBackward) Operands() []device.Operand { return append(tensors(o.DY, o.X), scalar("tanh")) }

// Type returns the precision.
func (o GeluBackward) Type() device.DType { return o.DX.DType }

// LayerNormBackward gives the gradients of LayerNorm's input, weight and bias.
type LayerNormBackward struct {
	DX, DW, DB *device.Buffer // rows of D; D; D
	DY, X, W   *device.Buffer // rows of D; rows of D; D
	Mean, Rstd *device.Buffer // as LayerNorm wrote them
	D          int
}

// Name returns the name of the device function.
func (o LayerNormBackward) Name() string { return kernelName("layer_norm_backward", o.Type()) }

// Op returns aten::native_layer_norm_backward.
func (o LayerNormBackward) Op() string { return "aten::native_layer_norm_backward" }

// Cost returns operations and bytes moved.
func (o LayerNormBackward) Cost() (flops, moved int64) {
	return int64(14 * o.DX.N), bytes(o.DX, o.DW, o.DB, o.DY, o.X, o.W, o.Mean, o.Rstd)
}

// Operands returns the inputs.
func (o LayerNormBackward) Operands() []device.Operand {
	return tensors(o.DY, o.X, o.Mean, o.Rstd, o.W)
}

// Type returns the precision.
func (o LayerNormBackward) Type() device.DType { return o.DX.DType }

// AttentionBackward gives the gradients of Attention's inputs; Work is T x T.
type AttentionBackward struct {
	DQ, DK, DV *device.Buffer // B*T x D
	DO, P      *device.Buffer // the gradient of O; as Attention wrote it
	Q, K, V    *device.Buffer // as Attention had them
	Work       *device.Buffer // overwritten
	B, T, D    int
	Heads      int
}

// Name returns the name of the device function.
func (o AttentionBackward) Name() string { return kernelName("attention_backward", o.Type()) }

// Op returns aten::_scaled_dot_product_attention_backward.
func (o AttentionBackward) Op() string { return "aten::_scaled_dot_product_attention_backward" }

// Cost returns operations and bytes moved.
func (o AttentionBackward) Cost() (flops, moved int64) {
	return int64(8 * o.B * o.T * o.T * o.D), bytes(o.DQ, o.DK, o.DV, o.DO, o.P, o.Q, o.K, o.V)
}

// Operands returns the inputs.
func (o AttentionBackward) Operands() []device.Operand { return tensors(o.DO, o.Q, o.K, o.V) }

// Type returns the precision.
func (o AttentionBackward) Type() device.DType { return o.DO.DType }

// EmbeddingBackward sums DY's rows into the rows of DW that Index names, in the order
// of positions; the other rows of DW become zero.
type EmbeddingBackward struct {
	DW, DY, Index *device.Buffer
	D             int
}

// Name returns the name of the device function.
func (o EmbeddingBackward) Name() string { return kernelName("embedding_backward", o.Type()) }

// Op returns aten::embedding_dense_backward.
func (o EmbeddingBackward) Op() string { return "aten::embedding_dense_backward" }

// Cost returns operations and bytes moved.
func (o EmbeddingBackward) Cost() (flops, moved int64) {
	return int64(o.DY.N), bytes(o.DW, o.DY, o.Index)
}

// Operands returns the inputs.
func (o EmbeddingBackward) Operands() []device.Operand { return tensors(o.DY, o.Index) }

// Type returns the precision.
func (o EmbeddingBackward) Type() device.DType { return o.DW.DType }

// PositionsBackward sums DY over the sequences: DW[t] = sum over b of DY[b][t].
type PositionsBackward struct {
	DW, DY *device.Buffer
}

// Name returns the name of the device function.
func (o PositionsBackward) Name() string { return kernelName("positions_backward", o.Type()) }

// Op returns aten::sum.
func (o PositionsBackward) Op() string { return "aten::sum" }

// Cost returns operations and bytes moved.
func (o PositionsBackward) Cost() (flops, moved int64) { return int64(o.DY.N), bytes(o.DW, o.DY) }

// Operands returns the inputs.
func (o PositionsBackward) Operands() []device.Operand { return append(tensors(o.DY), scalar("[0]")) }

// Type returns the precision.
func (o PositionsBackward) Type() device.DType { return o.DW.DType }
