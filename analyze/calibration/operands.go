package calibration

import (
	"math"

	"github.com/gaprof/gaprof/analyze/timeline"
)

// productOf is the size of the matrix product of an operator, from the shapes of its inputs. Batched products are
// none: how many of them run at a time is not known.
func productOf(op string, in []timeline.Operand) (product, bool) {
	first := 0
	switch op {
	case "aten::mm":
	case "aten::addmm", "aten::addmm_":
		first = 1
	default:
		return product{}, false
	}
	if len(in) < first+2 {
		return product{}, false
	}
	a, b := matrix(in[first]), matrix(in[first+1])
	if a == nil || b == nil || a[1] != b[0] {
		return product{}, false
	}
	return product{in[first].Dtype, a[0], b[1], a[1]}, true
}

// matrix is the shape of an operand that is one with elements, else nil.
func matrix(o timeline.Operand) []int64 {
	if o.List || len(o.Shapes) != 1 || len(o.Shapes[0]) != 2 || timeline.Numel(o.Shapes[0]) == 0 {
		return nil
	}
	return o.Shapes[0]
}

// traffic says how many times an operator moves each of its inputs and its output, which is as large as the first of
// them: what its single kernel cannot avoid.
type traffic struct {
	op      string
	first   int64 // times that the first input moves, which an operator in place also writes
	others  int64
	outputs int64
}

// traffics are the operators whose traffic follows from the shapes of their inputs. Others are left out: a kernel may
// have been fused, or read rows that an index names.
var traffics = []traffic{
	{"aten::add_", 2, 1, 0}, {"aten::sub_", 2, 1, 0}, {"aten::mul_", 2, 1, 0}, {"aten::div_", 2, 1, 0},
	{"aten::lerp_", 2, 1, 0}, {"aten::addcmul_", 2, 1, 0}, {"aten::addcdiv_", 2, 1, 0},
	{"aten::add", 1, 1, 1}, {"aten::sub", 1, 1, 1}, {"aten::mul", 1, 1, 1}, {"aten::div", 1, 1, 1},
	{"aten::gelu", 1, 0, 1}, {"aten::silu", 1, 0, 1}, {"aten::relu", 1, 0, 1}, {"aten::sqrt", 1, 0, 1},
	{"aten::gelu_backward", 1, 1, 1}, {"aten::silu_backward", 1, 1, 1}, {"aten::threshold_backward", 1, 1, 1},
	{"aten::copy_", 1, 1, 0}, {"aten::zero_", 1, 0, 0}, {"aten::fill_", 1, 0, 0},
	{"aten::native_layer_norm", 1, 0, 1}, {"aten::_fused_rms_norm", 1, 0, 1},
	{"aten::linalg_vector_norm", 1, 0, 0}, {"aten::norm", 1, 0, 0}, {"aten::sum", 1, 0, 0},
	{"aten::_log_softmax", 1, 0, 1},
}

// trafficOf is what the kernel of an operator moves, in bytes.
func trafficOf(op string, in []timeline.Operand) (int64, bool) {
	for i := range traffics {
		if t := &traffics[i]; t.op == op {
			return t.bytes(in)
		}
	}
	return 0, false
}

func (t *traffic) bytes(in []timeline.Operand) (int64, bool) {
	if len(in) == 0 {
		return 0, false
	}
	first, ok := sizeOf(in[0])
	if !ok {
		return 0, false
	}
	all := float64(first) * float64(t.first+t.outputs)
	for _, o := range in[1:] {
		size, ok := sizeOf(o)
		if size > first && timeline.Numel(o.Shapes[0]) > timeline.Numel(in[0].Shapes[0]) {
			return 0, false // the first one is broadcast: the output is as large as another
		}
		if ok {
			all += float64(size) * float64(t.others)
		}
	}
	return int64(all), all < math.MaxInt64/2
}

// sizeOf is the size of a tensor with dimensions, in bytes.
func sizeOf(o timeline.Operand) (int64, bool) {
	if o.List || len(o.Shapes) != 1 || len(o.Shapes[0]) == 0 {
		return 0, false
	}
	n := timeline.Numel(o.Shapes[0]) * timeline.DtypeBytes(o.Dtype)
	return n, n > 0
}
