package sim

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gaprof/gaprof/internal/units"
	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/reference/sim/nccl"
)

// Observed is what was measured on a machine that is to be simulated. Times are medians in ns.
type Observed struct {
	Times     []ObservedTime
	Products  []ObservedProduct
	Moves     []ObservedMove
	Transfers []ObservedTransfer
	Uneven    float64 // deviation of how long the kernels of a rank take in a step; negative if unknown
	WhyUneven string  // why that is unknown
	Steps     int     // from which Uneven was taken
	Shapes    bool    // operators were recorded with the shapes of their inputs
}

// ObservedTime is a figure that is a time.
type ObservedTime struct {
	Name        string // of the figure
	NS          float64
	Samples     int
	Middle, P90 float64 // distances of samples from their median, as shares of it
	Why         string  // why it is unknown, "" where it is known
}

// ObservedProduct is a matrix product: Rows x Inner by Inner x Columns.
type ObservedProduct struct {
	Type                 string // of the elements, as traces call it
	Rows, Columns, Inner int
	NS                   float64
	Samples              int
}

// ObservedMove is a kernel limited by memory: of an operator, a copy within the device ("copy"), one between host and
// device ("pcie"), or a kernel that is not vectorized ("strided").
type ObservedMove struct {
	Op      string
	Bytes   int64
	NS      float64
	Samples int
}

// ObservedTransfer is a collective without what ranks wait for each other.
type ObservedTransfer struct {
	Kind    string // all_reduce, reduce_scatter, all_gather or broadcast; others are not simulated
	Ranks   int
	Bytes   int64 // of the larger side
	NS      float64
	Samples int
}

// Fitted is a figure that was fitted to what was observed.
type Fitted struct {
	Name    string  // of the figure
	Value   float64 // in the unit of its kind: ns, bytes/s, or a number
	Text    string  // with its unit, as files of presets have it
	Samples int     // observations
	Sizes   int     // different ones: of products, moves, transfers; 0 for times
	// Errors: of times of the samples against the figure, of the others of what the model says against what was
	// observed, by size.
	Middle, P90 float64    // median and ninth decile, as shares
	Checks      []Modelled // by size, what the errors are of
	Why         string     // why it was not fitted, "" where it was
}

// Modelled is a size of which the model says something, and what was observed.
type Modelled struct {
	What    string  // such as 768 x 3072 x 768 of bf16
	Model   float64 // ns
	Seen    float64 // ns
	Samples int
}

// judge computes the errors of the model by size.
func (f *Fitted) judge(list []Modelled) {
	off := make([]float64, len(list))
	for i, one := range list {
		off[i] = math.Abs(one.Model/one.Seen - 1)
	}
	slices.Sort(off)
	f.Sizes, f.Checks = len(list), list
	f.Middle, f.P90 = off[len(off)/2], off[len(off)*9/10]
}

// Fit sets the figures of a machine that observations give, and says how well each fits. What is not known stays.
func (m *Machine) Fit(o *Observed) []Fitted {
	var list []Fitted
	for _, t := range o.Times {
		list = append(list, m.fitTime(t))
	}
	m.settleEager()
	list = append(list, m.fitProducts(o), m.fitClass(o, copying), m.fitClass(o, pcie), m.fitClass(o, transposed))
	for _, class := range []param{elementwise, normalize, normalizeBackward, sum, loss, lookup, optimizer} {
		list = append(list, m.fitClass(o, class))
	}
	list = append(list, m.fitTransfers(o)...)
	return append(list, m.fitUneven(o))
}

// settle sets a figure and describes it.
func (m *Machine) settle(p param, value float64) (float64, string) {
	value = min(max(value, params[p].from), params[p].to)
	m.values[p], m.source[p] = value, "measured"
	return value, p.format(value)
}

func (m *Machine) fitTime(t ObservedTime) Fitted {
	f := Fitted{Name: t.Name, Samples: t.Samples, Middle: t.Middle, P90: t.P90, Why: t.Why}
	if p, ok := find(t.Name); ok && t.Why == "" {
		f.Value, f.Text = m.settle(p, math.Round(t.NS))
	}
	return f
}

// settleEager keeps the parts of an operator within it, where operators were not measured and launches were.
func (m *Machine) settleEager() { m.values[eager] = max(m.values[eager], m.values[launch]) }

// typeOf is an element type by its names in traces, ok is false for those that are not simulated.
func typeOf(name string) (dt device.DType, ok bool) {
	switch strings.TrimPrefix(strings.ToLower(name), "c10::") {
	case "bfloat16", "half", "float16":
		return device.BF16, true
	case "float", "float32":
		return device.F32, true
	case "double", "float64":
		return device.F64, true
	}
	return 0, false
}

// weighted is the value below which half of the weight lies.
func weighted(values []weightedValue) float64 {
	slices.SortFunc(values, func(a, b weightedValue) int { return int(math.Copysign(1, a.value-b.value)) })
	all := 0.0
	for _, v := range values {
		all += v.weight
	}
	for _, v := range values {
		if all -= 2 * v.weight; all <= 0 {
			return v.value
		}
	}
	return values[len(values)-1].value
}

type weightedValue struct{ value, weight float64 }

// fitProducts fits the share of the peak that matrix products reach: of each size that which makes the model right,
// weighted by the time spent in it. Only products count that arithmetic limits.
func (m *Machine) fitProducts(o *Observed) Fitted {
	f := Fitted{Name: params[gemm].name, Why: "no matrix products of known types whose shapes were recorded"}
	if !o.Shapes {
		f.Why = "operators were recorded without the shapes of their inputs"
	}
	var shares []weightedValue
	for _, p := range o.Products {
		dt, ok := typeOf(p.Type)
		if !ok || m.multiplied(p, dt) <= m.movedIn(p, dt) || p.NS <= 10*m.values[kernel] {
			continue
		}
		if whole, s := m.whole(p, dt), m.splitOf(p.Rows, p.Columns, p.Inner, m.whole(p, dt)); p.NS > s.extra {
			shares = append(shares, weightedValue{m.values[gemm] * whole / s.used / (p.NS - s.extra),
				p.NS * float64(p.Samples)})
			f.Samples += p.Samples
		}
	}
	if f.Sizes = len(shares); f.Sizes == 0 {
		return f
	}
	share := weighted(shares)
	if share > 1 {
		f.Why = "products are faster than the peak of their type; float32 may be TF32"
		return f
	}
	f.Why = ""
	f.Value, f.Text = m.settle(gemm, share)
	var all []Modelled
	for _, p := range o.Products {
		if dt, ok := typeOf(p.Type); ok {
			ns := max(m.multiplied(p, dt), m.movedIn(p, dt), m.values[kernel])
			what := fmt.Sprintf("%d x %d x %d of %s", p.Rows, p.Inner, p.Columns, dt.Short())
			all = append(all, Modelled{what, ns, p.NS, p.Samples})
		}
	}
	f.judge(all)
	return f
}

// whole is what a product takes if it uses the device as a large one does, in ns.
func (m *Machine) whole(p ObservedProduct, dt device.DType) float64 {
	flops := 2 * float64(p.Rows) * float64(p.Columns) * float64(p.Inner)
	return flops / (m.peak(dt) * m.values[gemm]) * 1e9
}

// multiplied is what a product takes if arithmetic limits it, in ns.
func (m *Machine) multiplied(p ObservedProduct, dt device.DType) float64 {
	whole := m.whole(p, dt)
	s := m.splitOf(p.Rows, p.Columns, p.Inner, whole)
	return whole/s.used + s.extra
}

// movedIn is what a product takes if memory limits it, in ns.
func (m *Machine) movedIn(p ObservedProduct, dt device.DType) float64 {
	rows, columns, inner := float64(p.Rows), float64(p.Columns), float64(p.Inner)
	bytes := float64(dt.Size()) * (rows*columns + rows*inner + columns*inner)
	return bytes / (m.values[hbm] * m.values[elementwise]) * 1e9
}

// fitClass fits the share of the memory bandwidth that kernels of a class reach, or a rate of copies: the bytes of all
// observations over their time.
func (m *Machine) fitClass(o *Observed, class param) Fitted {
	f := Fitted{Name: params[class].name, Why: "no kernel of it moves 64 MiB or more, as far as shapes were recorded"}
	if class == pcie {
		f.Why = "no copies between pinned memory and the device of 8 MiB or more"
	}
	var list []ObservedMove
	var rates []weightedValue
	for _, v := range o.Moves {
		if classOfMove(v.Op) == class {
			list = append(list, v)
			rates = append(rates, weightedValue{float64(v.Bytes) / v.NS * 1e9, v.NS * float64(v.Samples)})
			f.Samples += v.Samples
		}
	}
	if f.Sizes = len(list); f.Sizes == 0 {
		return f
	}
	rate, full := weighted(rates), 1.0
	if params[class].kind == aRatio {
		full = m.values[hbm]
	}
	if rate > full && full > 1 {
		f.Why = fmt.Sprintf("%s is more than hbm %s has", hbm.format(rate), hbm.format(full))
		return f
	}
	f.Why = ""
	f.Value, f.Text = m.settle(class, rate/full)
	var all []Modelled
	for _, v := range list {
		what := v.Op + " of " + units.Bytes(v.Bytes)
		all = append(all, Modelled{what, float64(v.Bytes) / (f.Value * full) * 1e9, v.NS, v.Samples})
	}
	f.judge(all)
	return f
}

// classOfMove is the figure that says how fast an operator moves data, or a copy.
func classOfMove(op string) param {
	switch op {
	case "copy":
		return copying
	case "pcie":
		return pcie
	case "strided":
		return transposed
	}
	class, arithmetic := classOf(op)
	if arithmetic != 0 {
		return numParams
	}
	return class
}

// collectives are those of NCCL's model, by their names.
var collectives = map[string]nccl.Collective{"all_reduce": nccl.AllReduce, "reduce_scatter": nccl.ReduceScatter,
	"all_gather": nccl.AllGather, "broadcast": nccl.Broadcast}
