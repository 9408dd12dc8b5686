package gradients

import (
	"math"
	"slices"

	"github.com/gaprof/gaprof/analyze/steps"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace"
)

// operation is one gradient operation: an operator that may be part of a gradient pass.
// Traces have many of them, so it stays small and shares its operands.
type operation struct {
	start, end int64             // ns on the host
	of         *timeline.Operand // what it touches, nil if nothing is known of that
	local      int64             // elements on this rank if of is a tensor sharded over ranks, else 0
	factor     string            // what it multiplies by, or limits to, if that is a number and recorded, else ""
	row        int32
	family     family
	framework  bool // run by DDP, FSDP or a hook at AccumulateGrad
	averaged   bool // a gradient collective ran right before it
	scattered  bool // what it multiplies is reduce-scattered next
	tensor     bool // what it multiplies by is a tensor, or a whole number
	whole      bool // what it multiplies by is whole: a count, or a whole number of the program
	divides    bool // it is a division
}

// shapes returns the shapes of the tensors that it touches, as far as they are known.
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

// elements is how many elements an operation touches on this rank, of all its tensors.
func (t *operation) elements() int64 {
	if t.local > 0 {
		return t.local
	}
	return timeline.NumelOfAll(t.shapes())
}

// family groups operators that do the same to their tensors.
type family uint8

// The families. Gradient passes consist of operations of the first five; the others show
// what a run is for.
const (
	noFamily    family = iota
	multiply           // by a number or by a tensor
	unscale            // by GradScaler, which also looks for infinities
	zeroFill           // fills with zeros
	copyInto           // copies into another tensor, or casts
	norm               // reads all, writes a number
	clampFactor        // limits a number: the factor by which gradients are clipped
	countMade          // inverts a whole number or reads one: the factor of a scaling comes from a count
	inverse            // inverts another number
	fill               // fills with a number
	countSummed        // adds up truth values or whole numbers: something is counted in this step
	reduceAll          // adds up the elements of a tensor, or finds the greatest: a norm if it is a gradient
	adjust             // adds another tensor: to weights, averages, moments
	decayMade          // subtracts a number from one: the factor of weight decay comes from a learning rate
	meanLoss           // a loss that is a mean already, so nothing is left to divide by a count
	sumLoss            // a loss that is a sum
	join               // joins tensors to one
	limitEach          // limits every element of a tensor
	product            // multiplies into another tensor
)

// families are the families of operators by name. A name that is in neither this map nor
// outOfPlace is no gradient operation.
var families = map[string]family{
	"aten::mul_": multiply, "aten::div_": multiply, "aten::_foreach_mul_": multiply, "aten::_foreach_div_": multiply,
	"aten::_amp_foreach_non_finite_check_and_unscale_": unscale,
	"aten::zero_": zeroFill, "aten::_foreach_zero_": zeroFill,
	"aten::copy_": copyInto, "aten::_foreach_copy_": copyInto,
	"torch.distributed.ddp.reducer::copy_bucket_to_grad": copyInto,
	"aten::norm": norm, "aten::linalg_vector_norm": norm, "aten::_foreach_norm": norm, "aten::linalg_norm": norm,
	"aten::frobenius_norm": norm, "aten::fill_": fill,
	"aten::sum": reduceAll, "aten::dot": reduceAll, "aten::vdot": reduceAll,
	"aten::max": reduceAll, "aten::amax": reduceAll,
	"aten::clamp": clampFactor, "aten::clamp_": clampFactor,
	"aten::clamp_max": clampFactor, "aten::clamp_max_": clampFactor, "aten::minimum": clampFactor,
	"aten::reciprocal": countMade, "aten::item": countMade,
	"aten::rsub": decayMade, "aten::cat": join,
	"aten::_foreach_clamp_max_": limitEach,
	"aten::add_":                adjust, "aten::_foreach_add_": adjust,
	"aten::sub_": adjust, "aten::_foreach_sub_": adjust,
	"aten::lerp_": adjust, "aten::_foreach_lerp_": adjust,
	"aten::addcdiv_": adjust, "aten::addcmul_": adjust,
}

// outOfPlace are multiplications into another tensor. Models are full of them, but inside
// its hook at AccumulateGrad DDP uses one to average a gradient while copying it into its
// bucket.
var outOfPlace = map[string]family{"aten::mul": multiply, "aten::div": multiply}

// familiesOf returns the family of every name of a trace, by id. It looks up the few names
// in the trace rather than every name of the trace in the table.
func familiesOf(t *trace.Trace) []family {
	ids := make([]family, t.NumStrings())
	for _, table := range []map[string]family{families, outOfPlace} {
		for name, f := range table {
			if id, ok := t.Find(name); ok {
				ids[id] = f
			}
		}
	}
	for name := range reductionOf {
		if id, ok := t.Find(name); ok {
			ids[id] = meanLoss
		}
	}
	return ids
}

// markAveraged notes which products each follow a gradient collective of their own: the
// loop reduces and divides gradients one by one. A single such product is no sign of that,
// as it is the first of a pass after all reductions. Products right before a reduce-scatter,
// those of hooks, which divide anyway, and those of a single number, such as the loss of the
// next micro-batch, are left out. Between two products anything else
// may run, also on threads of a backend. reductions are the starts of gradient collectives,
// ascending.
func markAveraged(reductions []int64, list []operation) {
	if len(reductions) == 0 {
		return
	}
	var products []int
	follows := make([]bool, len(list))
	end := int64(math.MinInt64) // of the last product
	for i := range list {
		if list[i].family == multiply && !list[i].scattered && !list[i].framework && !list[i].ofNumber() {
			follows[i] = steps.AnyIn(reductions, end, list[i].start)
			end = list[i].end
			products = append(products, i)
		}
	}
	one := func(k int) bool { return k >= 0 && k < len(products) && follows[products[k]] }
	for k, i := range products {
		list[i].averaged = follows[i] && (one(k-1) || one(k+1))
	}
}

// ofNumber reports whether all that an operation touches is tensors without dimensions.
func (t *operation) ofNumber() bool {
	shapes := t.shapes()
	return len(shapes) > 0 && !slices.ContainsFunc(shapes, func(s []int64) bool { return len(s) > 0 })
}

// normStarts returns the host starts of norms, ascending.
func normStarts(list []operation) []int64 {
	var starts []int64
	for i := range list {
		if list[i].family == norm {
			starts = append(starts, list[i].start)
		}
	}
	return starts
}

// reductionOf has the operators that compute losses, and which of their arguments says how
// the losses of single predictions are combined.
var reductionOf = map[string]int{
	"aten::cross_entropy_loss": 3, "aten::nll_loss_nd": 3, "aten::binary_cross_entropy": 3,
	"aten::binary_cross_entropy_with_logits": 4,
	"aten::mse_loss":                         2, "aten::l1_loss": 2, "aten::smooth_l1_loss": 2, "aten::huber_loss": 2,
}
