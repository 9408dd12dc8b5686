package facts

import (
	"cmp"
	"sort"
	"strconv"

	"github.com/gaprof/gaprof/internal/runs"
	"github.com/gaprof/gaprof/trace"
)

// PassKind is what a pass over the gradients does.
type PassKind string

// The kinds of gradient passes.
const (
	ScalePass   PassKind = "scale"
	ClipPass    PassKind = "clip"
	UnscalePass PassKind = "unscale" // GradScaler
	DividePass  PassKind = "divide"  // by DDP or FSDP, before or after the reduction
	CopyPass    PassKind = "copy"
	CastPass    PassKind = "cast"
	ZeroPass    PassKind = "zero"
	NormPass    PassKind = "norm" // reads only; the first half of clipping
)

// Place is where in a step a pass over the gradients stands.
type Place string

// The places of gradient passes.
const (
	InBackward          Place = "in_backward"
	BetweenMicroBatches Place = "between_micro_batches"
	AfterBackward       Place = "after_backward"
	InOptimizer         Place = "in_optimizer"
	AfterOptimizer      Place = "after_optimizer"
)

// GradientPass is a run of operators that touches the gradients of at least 90 % of
// one optimizer's parameter bytes. Times are of the device where there is one, else
// of the host, in ns.
type GradientPass struct {
	Step       int
	Kind       PassKind
	Place      Place
	Optimizer  string // empty where one optimizer cannot be told
	Parameters int    // tensors touched
	Launches   int    // calls: one foreach call is one
	Bytes      int64  // read and written, by shapes
	Busy       int64
	Span       int64 // from the first start to the last end
	OtherIn    int64 // compute of others inside the span
	OnDevice   bool
	Tensor     bool // the factor is a tensor, not a number of the program
	Doubtful   bool // the factor is a number that the trace does not hold: weights may decay so, too
	Rows       []int32
	Kernels    []int32 // device rows
	HostStart  int64
	HostEnd    int64
}

// touch is one operator that may be part of a pass.
type touch struct {
	start, end int64
	of         *operand // nil where nothing is known of it
	local      int64    // elements on this rank, where of is a tensor that is spread over ranks; 0 where it says it itself
	factor     string   // value of a number, "" unknown
	row        int32
	family     family
	framework  bool // by DDP, FSDP or a hook beside AccumulateGrad
	averaged   bool // a gradient collective stands right before it
	tensor     bool // the factor is one
}

// shapes are those of the tensors that it touches, as far as they are known.
func (t *touch) shapes() [][]int64 {
	if t.of == nil {
		return nil
	}
	return t.of.shapes
}

func (t *touch) dtype() string {
	if t.of == nil {
		return ""
	}
	return t.of.dtype
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

// coverage is the share of an optimizer's parameter bytes from which a run of
// operators counts as a pass over its gradients.
const coverage = 0.9

// gradientPasses finds the passes of every step.
func (c *computer) gradientPasses(r *Rank) {
	if !r.Params.Known() {
		return
	}
	touches := r.touches
	m := newMatcher(r)
	for i := range r.Steps {
		s := &r.Steps[i]
		from := sort.Search(len(touches), func(k int) bool { return touches[k].start >= s.HostStart })
		to := sort.Search(len(touches), func(k int) bool { return touches[k].start >= s.HostEnd })
		if len(s.Backwards) == 0 {
			continue
		}
		for _, g := range c.runs(s, touches[from:max(from, to)]) {
			if p, ok := m.pass(g); ok {
				p.Step = i
				c.cost(r, &p)
				r.Passes = append(r.Passes, p)
			}
		}
	}
}

// touches lists the operators of all host threads that passes can be made of, by
// start; those inside another one of them are that one's.
func (c *computer) touches(r *Rank) []touch {
	ids := c.families
	list := make([]touch, 0, c.countTouches(r))
	for _, id := range r.host {
		track := c.t.Tracks()[id]
		for i := track.First; i < track.First+track.N; i++ {
			f := ids[c.col.Name[i]]
			if f == noFamily || c.col.Phase[i] != trace.Complete {
				continue
			}
			if t, ok := c.touch(int32(i), f, ids); ok {
				list = append(list, t)
			}
		}
	}
	runs.Sort(list, func(a, b touch) int { return cmp.Compare(a.start, b.start) }, nil)
	return list
}

// countTouches is how many rows are looked at for touches: more than become one.
func (c *computer) countTouches(r *Rank) (n int) {
	for _, id := range r.host {
		track := c.t.Tracks()[id]
		for _, name := range c.col.Name[track.First : track.First+track.N] {
			if c.families[name] != noFamily {
				n++
			}
		}
	}
	return n
}

// markAveraged notes which products follow a gradient collective each: loops that reduce
// and divide gradients one by one. A single one is the first of a pass behind them all.
func markAveraged(r *Rank, list []touch) {
	var calls []int64
	for i := range r.Calls {
		if r.Calls[i].Gradient {
			calls = append(calls, r.Calls[i].Start)
		}
	}
	if len(calls) == 0 {
		return
	}
	var products []int
	follows := make([]bool, len(list))
	for i := range list {
		if list[i].family == multiply {
			follows[i] = i > 0 && anyIn(calls, list[i-1].end, list[i].start)
			products = append(products, i)
		}
	}
	for k, i := range products {
		before, after := k > 0 && follows[products[k-1]], k+1 < len(products) && follows[products[k+1]]
		list[i].averaged = follows[i] && (before || after)
	}
}

// familyIDs is the family of every name, by id.
func (c *computer) familyIDs() []family {
	ids := make([]family, c.t.NumStrings())
	for _, table := range []map[string]family{families, outOfPlace} {
		for name, f := range table {
			if id, ok := c.t.Find(name); ok {
				ids[id] = f
			}
		}
	}
	return ids
}

// touch reads one operator. Out-of-place products count only inside DDP's and FSDP's
// spans; elsewhere they are the model's.
func (c *computer) touch(row int32, f family, ids []family) (touch, bool) {
	t := touch{row: row, start: c.col.Start[row], end: c.col.Start[row] + c.col.Dur[row], family: f}
	nested := false
	c.stack(row, func(span int32) bool {
		id := c.col.Name[span]
		nested = nested || ids[id] == f
		t.framework = t.framework || c.names.is(id, reducer|accumulate)
		return !nested
	})
	t.framework = t.framework || c.names.is(c.col.Name[row], reducer)
	if nested || outOfPlace[c.t.String(c.col.Name[row])] != noFamily && !t.framework {
		return t, false
	}
	if f == meanLoss {
		words := c.shapes.concrete(row)
		return t, len(words) > 3 && words[3] == "1" // the reduction: 0 none, 1 mean, 2 sum
	}
	ops := c.shapes.inputs(row)
	if len(ops) > 0 && len(ops[0].shapes) > 0 {
		t.of = &ops[0]
	}
	if f == multiply {
		t.factor, t.tensor = c.factor(row, ops)
	}
	t.local = c.localElements(row)
	if f == decayMade {
		return t, lists(t.shapes())
	}
	if f == countMade {
		return t, lists(t.shapes()) && (t.dtype() == "long int" || c.t.String(c.col.Name[row]) != "aten::item")
	}
	if lists(t.shapes()) {
		if t.of = c.children(row, ids); t.of == nil && f != norm && f != clampFactor {
			return t, false
		}
	}
	return t, f != multiply || len(ops) < 2 || ops[1].scalar() || len(ops[1].shapes) == 0 || ops[1].list
}

// lists tells whether the shapes of a list of tensors were not recorded: older
// versions print an empty shape for it.
func lists(shapes [][]int64) bool {
	return len(shapes) == 0 || len(shapes) == 1 && len(shapes[0]) == 0
}

// children are the first operands of the operators inside a foreach call, which on
// a CPU or with mixed dtypes runs one operator a tensor; nil for none.
func (c *computer) children(row int32, ids []family) (all *operand) {
	end := c.col.Start[row] + c.col.Dur[row]
	track := c.t.Tracks()[c.col.Track[row]]
	for i := row + 1; i < int32(track.First+track.N) && c.col.Start[i] <= end; i++ {
		if c.col.Parent[i] != row || ids[c.col.Name[i]] == noFamily {
			continue
		}
		if ops := c.shapes.inputs(i); len(ops) > 0 && len(ops[0].shapes) == 1 {
			if all == nil {
				all = new(operand)
			}
			all.shapes, all.dtype = append(all.shapes, ops[0].shapes[0]), ops[0].dtype
		}
	}
	return all
}

// localElements counts the elements that an operator on DTensors touches on this rank: it
// is recorded twice, outside with whole shapes, and within PythonSubclass with those of
// the shards. 0 for any other operator.
func (c *computer) localElements(row int32) int64 {
	within, ok := c.t.Find("PythonSubclass")
	if !ok {
		return 0
	}
	inner, ok := c.child(row, within)
	if ok {
		inner, ok = c.child(inner, c.col.Name[row])
	}
	if !ok {
		return 0
	}
	n := int64(0)
	if ops := c.shapes.inputs(inner); len(ops) > 0 && !lists(ops[0].shapes) {
		for _, s := range ops[0].shapes {
			n += numel(s)
		}
	}
	return n
}

// child is the first span of some name right inside another one.
func (c *computer) child(row int32, name trace.StringID) (int32, bool) {
	end := c.col.Start[row] + c.col.Dur[row]
	track := c.t.Tracks()[c.col.Track[row]]
	for i := row + 1; i < int32(track.First+track.N) && c.col.Start[i] <= end; i++ {
		if c.col.Parent[i] == row && c.col.Name[i] == name {
			return i, true
		}
	}
	return 0, false
}

// factor reads what a multiplication multiplies by: the value of a number where
// Concrete Inputs has it, and whether it is a tensor.
func (c *computer) factor(row int32, ops []operand) (value string, tensor bool) {
	if len(ops) < 2 {
		return "", false
	}
	switch ops[1].dtype {
	case "Scalar", "double", "":
	default:
		tensor = true
	}
	if words := c.shapes.concrete(row); len(words) > 1 {
		value = words[1]
	}
	return value, tensor
}

// nearOne tells whether a factor is a decay: of weights, or of an average of them.
func nearOne(factor string) bool {
	v, err := strconv.ParseFloat(factor, 64)
	return err == nil && v >= 0.9 && v < 1
}
