package ops

import (
	"fmt"

	"github.com/gaprof/gaprof/reference/device"
)

// FlashAttention is causal attention that keeps the logarithm of the sum of exponentials of
// each row of scores instead of the probabilities. Heads/KVHeads heads of Q share one of K
// and V, as with grouped queries: O = softmax(Q K^T / sqrt(Size)) V over earlier positions.
type FlashAttention struct {
	O, LSE  *device.Buffer // B*T x Heads*Size; B x Heads x T, kept for backward
	Q, K, V *device.Buffer // B*T x Heads*Size; B*T x KVHeads*Size each
	Heads   Heads
	Stride  int // elements between rows of Q, K and V if they are columns of one buffer; else 0
}

// Heads are the sizes of attention.
type Heads struct {
	B, T  int // sequences, positions of each
	Q, KV int // heads of queries; of keys and values, a divisor of it
	Size  int // elements of a head
}

// Name returns the name of the device function: in bfloat16 that of PyTorch's kernel for
// Ampere and later.
func (o FlashAttention) Name() string {
	blocks := map[int]string{64: "64, 128, 128, 4", 128: "128, 128, 64, 4"}[o.Heads.Size]
	if o.Type() != device.BF16 || blocks == "" {
		return kernelName("flash_fwd_kernel", o.Type())
	}
	return fmt.Sprintf("void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<%[1]s, false, false, "+
		"cutlass::bfloat16_t, Flash_kernel_traits<%[1]s, cutlass::bfloat16_t> >, false, true, false, false, %[2]t, "+
		"true, false, false>(pytorch_flash::Flash_fwd_params)", blocks, o.Heads.even())
}

// Op returns aten::_scaled_dot_product_flash_attention.
func (o FlashAttention) Op() string { return "aten::_scaled_dot_product_flash_attention" }

// Cost returns operations and bytes moved. Half of the scores are masked, and not computed.
func (o FlashAttention) Cost() (flops, moved int64) {
	return 2 * o.Heads.products(), 2*o.Heads.queries(o.Type()) + 2*o.Heads.keys(o.Type()) + bytes(o.LSE)
}

// Operands returns the inputs.
func (o FlashAttention) Operands() []device.Operand {
	h := o.Heads
	return []device.Operand{h.operand(h.Q, o.Type()), h.operand(h.KV, o.Type()), h.operand(h.KV, o.Type()),
		scalar("0."), scalar("True"), scalar("False"), {}}
}

// Type returns the precision.
func (o FlashAttention) Type() device.DType { return o.O.DType }

// FlashAttentionBackward gives the gradients of FlashAttention's inputs. It computes the
// probabilities anew.
type FlashAttentionBackward struct {
	DQ, DK, DV *device.Buffer // as Q, K, V without stride
	DO, O, LSE *device.Buffer // the gradient of O; as FlashAttention wrote them
	Q, K, V    *device.Buffer // as FlashAttention had them
	Heads      Heads
	Stride     int // as FlashAttention had it
}

// Name returns the name of the device function: in bfloat16 that of the longest of PyTorch's
// three kernels.
func (o FlashAttentionBackward) Name() string {
	blocks := map[int]string{64: "64, 128, 128, 8, 4, 4, 4", 128: "128, 64, 128, 8, 2, 4, 2"}[o.Heads.Size]
	if o.Type() != device.BF16 || blocks == "" {
		return kernelName("flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel", o.Type())
	}
	tile := map[int]string{64: "64, 128, 128, 8", 128: "128, 64, 128, 8"}[o.Heads.Size]
	return fmt.Sprintf("void pytorch_flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<Flash_bwd_kernel_traits<%s, "+
		"false, false, cutlass::bfloat16_t, Flash_kernel_traits<%s, cutlass::bfloat16_t> >, false, true, false, "+
		"false, %t, true, false>(pytorch_flash::Flash_bwd_params)", blocks, tile, o.Heads.even())
}

// Op returns aten::_scaled_dot_product_flash_attention_backward.
func (o FlashAttentionBackward) Op() string {
	return "aten::_scaled_dot_product_flash_attention_backward"
}

// Cost returns operations and bytes moved: five products, one of them the scores again.
func (o FlashAttentionBackward) Cost() (flops, moved int64) {
	return 5 * o.Heads.products(), 4*o.Heads.queries(o.Type()) + 4*o.Heads.keys(o.Type()) + bytes(o.LSE)
}

// Operands returns the inputs.
func (o FlashAttentionBackward) Operands() []device.Operand {
	h := o.Heads
	q, kv, none := h.operand(h.Q, o.Type()), h.operand(h.KV, o.Type()), device.Operand{}
	length := scalar(fmt.Sprint(h.T))
	return []device.Operand{q, q, kv, kv, q, device.Tensor(o.LSE), none, none, length, length, scalar("0."),
		scalar("True"), none, none, none}
}

// Type returns the precision.
func (o FlashAttentionBackward) Type() device.DType { return o.DO.DType }

// products is the cost of one product of all heads, causal: T^2/2 results of Size steps.
func (h Heads) products() int64 {
	return int64(h.B) * int64(h.Q) * int64(h.T) * int64(h.T) * int64(h.Size)
}

func (h Heads) queries(dt device.DType) int64 { return int64(h.B*h.T) * int64(h.Q*h.Size) * dt.Size() }
func (h Heads) keys(dt device.DType) int64    { return int64(h.B*h.T) * int64(h.KV*h.Size) * dt.Size() }

// operand is a tensor as PyTorch's attention takes it: heads before positions.
func (h Heads) operand(heads int, dt device.DType) device.Operand {
	return device.Operand{Shape: []int{h.B, heads, h.T, h.Size}, Type: dt.String()}
}

// even reports whether positions fill the blocks of PyTorch's kernels.
func (h Heads) even() bool { return h.T%128 == 0 }
