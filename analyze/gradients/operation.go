package gradients

import (
	"github.com/gaprof/gaprof/analyze/steps"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace"
)

// operation is one gradient operation: an operator that may be part of a pass.
type operation struct {
	start, end int64
	of         *timeline.Operand // nil where nothing is known of it
	local      int64             // elements on this rank, where of is a tensor that is spread over ranks; 0 where it says it itself
	factor     string            // value of a number, "" unknown
	row        int32
	family     family
	framework  bool // by DDP, FSDP or a hook beside AccumulateGrad
	averaged   bool // a gradient collective stands right before it
	tensor     bool // the factor is one
}

// shapes are those of the tensors that it touches, as far as they are known.
func (t *operation) shapes() [][]int64 {
	if t.of == nil {
		return nil
	}
	return t.of.Shapes
}

func (t *operation) dtype() string {
	if t.of == nil {
		return ""
	}
	return t.of.Dtype
}

// family groups operators that do the same to their tensors.
type family uint8

const (
	noFamily family = iota
	multiply
	unscale
	zeroFill
	copyInto
	norm
	clampFactor
	countMade // a number is inverted, or a whole number read, as the factor of a scaling is made of a count
	adjust    // adds another tensor: weights, averages, moments
	decayMade // a number is taken from one, as the factor of decaying weights is made of a learning rate
	meanLoss  // a loss that is a mean already: nothing is left to divide by a count
)

// families are the operators that passes are made of, by name.
var families = map[string]family{
	"aten::mul_": multiply, "aten::div_": multiply, "aten::_foreach_mul_": multiply, "aten::_foreach_div_": multiply,
	"aten::_amp_foreach_non_finite_check_and_unscale_": unscale,
	"aten::zero_": zeroFill, "aten::_foreach_zero_": zeroFill,
	"aten::copy_": copyInto, "aten::_foreach_copy_": copyInto, "torch.distributed.ddp.reducer::copy_bucket_to_grad": copyInto,
	"aten::norm": norm, "aten::linalg_vector_norm": norm, "aten::_foreach_norm": norm, "aten::linalg_norm": norm,
	"aten::clamp": clampFactor, "aten::clamp_": clampFactor, "aten::clamp_max": clampFactor, "aten::clamp_max_": clampFactor,
	"aten::minimum": clampFactor, "aten::reciprocal": countMade, "aten::item": countMade, "aten::rsub": decayMade,
	"aten::cross_entropy_loss": meanLoss,
	"aten::add_":               adjust, "aten::sub_": adjust, "aten::lerp_": adjust, "aten::addcdiv_": adjust, "aten::addcmul_": adjust,
	"aten::_foreach_add_": adjust, "aten::_foreach_sub_": adjust, "aten::_foreach_lerp_": adjust,
}

// outOfPlace are multiplications into another tensor, which DDP uses, in its hook
// beside AccumulateGrad, to average while it copies a gradient into its bucket.
var outOfPlace = map[string]family{"aten::mul": multiply, "aten::div": multiply}

// familiesOf is the family of every name of a trace, by id.
func familiesOf(t *trace.Trace) []family {
	ids := make([]family, t.NumStrings())
	for _, table := range []map[string]family{families, outOfPlace} {
		for name, f := range table {
			if id, ok := t.Find(name); ok {
				ids[id] = f
			}
		}
	}
	return ids
}

// markAveraged notes which products follow a gradient collective each: loops that reduce
// and divide gradients one by one. A single one is the first of a pass behind them all.
// reductions are the starts of gradient collectives, ascending.
func markAveraged(reductions []int64, list []operation) {
	if len(reductions) == 0 {
		return
	}
	var products []int
	follows := make([]bool, len(list))
	for i := range list {
		if list[i].family == multiply {
			follows[i] = i > 0 && steps.AnyIn(reductions, list[i-1].end, list[i].start)
			products = append(products, i)
		}
	}
	for k, i := range products {
		before, after := k > 0 && follows[products[k-1]], k+1 < len(products) && follows[products[k+1]]
		list[i].averaged = follows[i] && (before || after)
	}
}

// normStarts are the host starts of norms, ascending.
func normStarts(list []operation) []int64 {
	var starts []int64
	for i := range list {
		if list[i].family == norm {
			starts = append(starts, list[i].start)
		}
	}
	return starts
}
