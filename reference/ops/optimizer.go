package ops

import (
	"github.com/gaprof/gaprof/reference/device"
)

// AdamW is one step of Adam with decoupled weight decay for many tensors at once, each
// with its gradient and state: P *= 1 - LR*Decay; M and V are the moving averages of G
// and its square; P -= LR/(1-Beta1^Step) * M / (sqrt(V)/sqrt(1-Beta2^Step) + Eps). G is
// multiplied by Factor first, where there is one, and stays as it is. With Master, that is
// what is updated, and P becomes its rounded copy.
type AdamW struct {
	P, G, M, V   []*device.Buffer // of equal sizes; all but G are updated
	Master       []*device.Buffer // the weights in a higher precision than P's; nil for none
	Factor       *device.Buffer   // a scalar; nil for none
	LR, Decay    float64
	Beta1, Beta2 float64
	Eps          float64
	Step         int // from 1
}

// Name returns the name of the device function.
func (o AdamW) Name() string { return kernelName("multi_tensor_adamw", o.Type()) }

// Op returns aten::_fused_adamw_.
func (o AdamW) Op() string { return "aten::_fused_adamw_" }

// Cost returns operations and bytes moved.
func (o AdamW) Cost() (flops, moved int64) {
	moved = 2*(bytes(o.M...)+bytes(o.V...)) + bytes(o.G...) + bytes(o.P...)
	if o.Master != nil {
		return 12 * elements(o.P), moved + 2*bytes(o.Master...)
	}
	return 12 * elements(o.P), moved + bytes(o.P...)
}

// Operands returns the inputs.
func (o AdamW) Operands() []device.Operand { return lists(o.P, o.G, o.M, o.V) }

// Type returns the precision.
func (o AdamW) Type() device.DType { return o.P[0].DType }

// Cast is Y = X, rounded to the type of Y.
type Cast struct {
	Y, X *device.Buffer
}

// Name returns the name of the device function.
func (o Cast) Name() string { return kernelName("cast", o.Type()) }

// Op returns aten::_to_copy.
func (o Cast) Op() string { return "aten::_to_copy" }

// Cost returns operations and bytes moved.
func (o Cast) Cost() (flops, moved int64) { return 0, bytes(o.Y, o.X) }

// Operands returns the inputs.
func (o Cast) Operands() []device.Operand { return tensors(o.X) }

// Type returns the precision.
func (o Cast) Type() device.DType { return o.Y.DType }

// SGD is P *= 1 - LR*Decay; P -= LR * G for many tensors at once, G multiplied by
// Factor where there is one.
type SGD struct {
	P, G      []*device.Buffer // of equal sizes; P is updated
	Factor    *device.Buffer   // a scalar; nil for none
	LR, Decay float64
}

// Name returns the name of the device function.
func (o SGD) Name() string { return kernelName("multi_tensor_sgd", o.Type()) }

// Op returns aten::_fused_sgd_.
func (o SGD) Op() string { return "aten::_fused_sgd_" }

// Cost returns operations and bytes moved.
func (o SGD) Cost() (flops, moved int64) {
	return 3 * elements(o.P), 2*bytes(o.P...) + bytes(o.G...)
}

// Operands returns the inputs.
func (o SGD) Operands() []device.Operand { return lists(o.P, o.G) }

// Type returns the precision.
func (o SGD) Type() device.DType { return o.P[0].DType }

// lists are the inputs of a fused optimizer.
func lists(lists ...[]*device.Buffer) []device.Operand {
	out := make([]device.Operand, len(lists))
	for i, list := range lists {
		out[i] = device.TensorList(list)
	}
	return out
}

func elements(list []*device.Buffer) int64 {
	n := int64(0)
	for _, b := range list {
		n += int64(b.N)
	}
	return n
}
