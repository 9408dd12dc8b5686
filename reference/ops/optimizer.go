package ops

import (
	"github.com/gaprof/gaprof/reference/device"
)

// AdamW is one step of Adam with decoupled weight decay: P *= 1 - LR*Decay; M and V are
// the moving averages of G and its square; P -= LR/(1-Beta1^Step) * M /
// (sqrt(V)/sqrt(1-Beta2^Step) + Eps). G is multiplied by Factor first, where there is
// one, and stays as it is.
type AdamW struct {
	P, G, M, V, Factor           *device.Buffer
	LR, Beta1, Beta2, Eps, Decay float64
	Step                         int
}

// Name returns the name of the device function.
func (o AdamW) Name() string { return kernelName("adamw", o.Type()) }

// Op returns aten::_fused_adamw_.
func (o AdamW) Op() string { return "aten::_fused_adamw_" }

// Cost returns operations and bytes moved.
func (o AdamW) Cost() (flops, moved int64) {
	return int64(12 * o.P.N), 2*bytes(o.P, o.M, o.V) + bytes(o.G)
}

// Operands returns the inputs.
func (o AdamW) Operands() []device.Operand { return lists(o.P, o.G, o.M, o.V) }

// Type returns the precision.
func (o AdamW) Type() device.DType { return o.P.DType }

// SGD is P *= 1 - LR*Decay; P -= LR * G, G multiplied by Factor where there is one.
type SGD struct {
	P, G, Factor *device.Buffer
	LR, Decay    float64
}

// Name returns the name of the device function.
func (o SGD) Name() string { return kernelName("sgd", o.Type()) }

// Op returns aten::_fused_sgd_.
func (o SGD) Op() string { return "aten::_fused_sgd_" }

// Cost returns operations and bytes moved.
func (o SGD) Cost() (flops, moved int64) { return int64(3 * o.P.N), 2*bytes(o.P) + bytes(o.G) }

// Operands returns the inputs.
func (o SGD) Operands() []device.Operand { return lists(o.P, o.G) }

// Type returns the precision.
func (o SGD) Type() device.DType { return o.P.DType }

// lists are the inputs of a fused optimizer, which takes lists of tensors: of one here.
func lists(buffers ...*device.Buffer) []device.Operand {
	list := make([]device.Operand, len(buffers))
	for i, b := range buffers {
		list[i] = device.TensorList([]*device.Buffer{b})
	}
	return list
}
