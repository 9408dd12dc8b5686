package gradients

import (
	"cmp"
	"sort"
	"strings"

	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/internal/runs"
	"github.com/gaprof/gaprof/trace"
)

// operations lists the gradient operations of all host threads, in order of start. Operators
// nested in one of the same family are a part of it and do not count: a foreach call on a
// CPU runs one operator per tensor, and counting both would double the pass.
func operations(x *timeline.Rank) []operation {
	r := reader{x: x, in: x.Inputs(), families: familiesOf(x.Trace), ready: readyGradients(x)}
	list := make([]operation, 0, r.count())
	for _, id := range x.Host {
		track := x.Trace.Tracks()[id]
		for i := track.First; i < track.First+track.N; i++ {
			f := r.families[x.Col.Name[i]]
			if f == noFamily || x.Col.Phase[i] != trace.Complete {
				continue
			}
			if t, ok := r.read(int32(i), f); ok {
				list = append(list, t)
			}
		}
	}
	runs.Sort(list, func(a, b operation) int { return cmp.Compare(a.start, b.start) }, nil)
	return list
}

// reader reads gradient operations, on one goroutine.
type reader struct {
	x        *timeline.Rank
	in       *timeline.Operands
	families []family // of names, by id
	ready    []gap    // between the last backward pass before an update and that, in order of time
}

// gap is a time on the host, in ns.
type gap struct{ start, end int64 }

// count returns how many rows have the name of a gradient operation, which is an upper bound
// of how many are one.
func (r *reader) count() (n int) {
	for _, id := range r.x.Host {
		track := r.x.Trace.Tracks()[id]
		for _, name := range r.x.Col.Name[track.First : track.First+track.N] {
			if r.families[name] != noFamily {
				n++
			}
		}
	}
	return n
}

// read reads one operator; ok is false if it cannot be part of a gradient pass. Out-of-place
// products count inside spans of DDP and FSDP, and between backward and the update; elsewhere
// they belong to the model. What
// a backend runs inside a collective, as gloo averages, is part of that.
func (r *reader) read(row int32, f family) (t operation, ok bool) {
	x := r.x
	t = operation{
		row:       row,
		start:     x.Col.Start[row],
		end:       x.End(row),
		family:    f,
		framework: x.Is(row, timeline.Reducer),
	}
	if r.ofModel(row, f) {
		return t, false
	}
	nested := false
	x.Stack(row, func(span int32) bool {
		nested = nested || r.families[x.Col.Name[span]] == f || x.Is(span, timeline.CollectiveSpan)
		t.framework = t.framework || x.Is(span, timeline.Reducer|timeline.AccumulateGrad)
		return !nested
	})
	if nested {
		return t, false
	}
	if f == multiply && !t.framework && outOfPlace[x.Name(row)] != noFamily {
		return r.product(t)
	}
	switch f {
	case meanLoss:
		t.family = lossFamily(x.Name(row), r.in.Values(row))
		return t, t.family != noFamily
	case reduceAll:
		return t, r.reduces(&t)
	}
	ok = r.operands(&t)
	if f == clampFactor {
		t.factor = r.limit(row)
		if r.limitsEach(&t) {
			t.family = limitEach
		}
	}
	return t, ok
}

// ofModel reports whether an operator is certainly no part of a pass: sums in backward, most of
// which are of gradients of biases, what is no list of flat tensors where tensors are joined,
// and new tensors that are filled with zeros.
func (r *reader) ofModel(row int32, f family) bool {
	switch f {
	case reduceAll:
		return r.x.InBackward(row)
	case join:
		return !flatPieces(r.in.Of(row))
	case zeroFill:
		return ofNew(r.x, row)
	}
	return false
}

// flatPieces reports whether the first operand is a list of several tensors of one dimension, or
// of so many that their shapes are not recorded.
func flatPieces(ops []timeline.Operand) bool {
	if len(ops) == 0 || lists(ops[0].Shapes) {
		return len(ops) > 0
	}
	return ops[0].List && len(ops[0].Shapes) > 1 && len(ops[0].Shapes[0]) == 1
}

// product reads a product into another tensor, by which gradients may be replaced.
func (r *reader) product(t operation) (operation, bool) {
	i := sort.Search(len(r.ready), func(i int) bool { return r.ready[i].end > t.start })
	if i == len(r.ready) || t.start < r.ready[i].start || r.x.InBackward(t.row) {
		return t, false
	}
	ok := r.operands(&t)
	t.family = product
	return t, ok && !lists(t.shapes())
}

// readyGradients lists the times between the last autograd node before an update and that.
func readyGradients(x *timeline.Rank) (list []gap) {
	next, end := 0, int64(0)
	for _, o := range x.Optimizers {
		for next < len(x.Nodes) && x.Nodes[next].Start < o.Start {
			end = max(end, x.Nodes[next].End)
			next++
		}
		if end < o.Start && next > 0 {
			list = append(list, gap{end, o.Start})
		}
	}
	return list
}

// limitsEach reports whether a clamp limits every element of a tensor in place, from above.
func (r *reader) limitsEach(t *operation) bool {
	if !strings.HasSuffix(r.x.Name(t.row), "_") || lists(t.shapes()) {
		return false
	}
	values := r.in.Values(t.row)
	return len(values) == 0 || values[len(values)-1] != ""
}

// operands fills in what an operation touches and reports whether that can be gradients.
// Numbers (decayMade, countMade) are recorded as tensors without dimensions, which is how
// older versions record lists of tensors, too; what those contain their children show.
func (r *reader) operands(t *operation) bool {
	ops := r.in.Of(t.row)
	if len(ops) > 0 && len(ops[0].Shapes) > 0 {
		t.of = &ops[0]
	}
	if t.family == multiply {
		r.factors(t, ops)
	}
	t.local = r.localElements(t.row)
	switch unlisted := lists(t.shapes()); {
	case t.family == decayMade:
		return unlisted
	case t.family == countMade:
		whole := wholeNumbers[t.dtype()]
		if !whole && r.x.Name(t.row) != "aten::item" {
			t.family, whole = inverse, true
		}
		return unlisted && whole
	case unlisted:
		if t.of = r.children(t.row); t.of == nil && !bare[t.family] {
			return false
		}
	}
	return t.family != multiply || len(ops) < 2 || scales(ops[0], ops[1])
}

// bare are the families whose operators say something without the shapes of their operands. Of
// more than 30 tensors none are recorded.
var bare = map[family]bool{norm: true, clampFactor: true, unscale: true, join: true}

// factors fills in what a product multiplies by, or divides by.
func (r *reader) factors(t *operation, ops []timeline.Operand) {
	t.factor, t.tensor = r.factor(t.row, ops)
	t.whole = len(ops) > 1 && wholeNumbers[ops[1].Dtype]
	t.divides = strings.HasSuffix(strings.TrimSuffix(r.x.Name(t.row), "_"), "div")
}

// reduces reports whether an operation makes one number of a tensor, and reads that. What
// adds up truth values or whole numbers counts.
func (r *reader) reduces(t *operation) bool {
	ops := r.in.Of(t.row)
	if len(ops) == 0 || len(ops[0].Shapes) != 1 || ops[0].List {
		return false
	}
	name, values := r.x.Name(t.row), r.in.Values(t.row)
	if name == "aten::sum" && (wholeNumbers[ops[0].Dtype] || ops[0].Dtype == "bool") {
		t.family, t.of = countSummed, &ops[0]
		return true
	}
	switch t.of = &ops[0]; name {
	case "aten::sum":
		return len(ops) <= 2 || len(values) > 1 && values[1] == "[]"
	case "aten::max":
		return len(ops) == 1
	case "aten::amax":
		return len(values) > 1 && values[1] == "[]"
	}
	return true
}

// limit returns the upper limit of a clamp of one real number, "" if there is none or it was
// not recorded: clipping limits its coefficient to one. A count is clamped from below.
func (r *reader) limit(row int32) string {
	ops, values := r.in.Of(row), r.in.Values(row)
	if len(ops) == 0 || !ops[0].Scalar() || ops[0].Dtype == "long int" || len(values) < 2 {
		return ""
	}
	return values[len(values)-1]
}

// scales reports whether a second operand can be a factor for a whole tensor or for each of
// a list, or for each of its rows or columns. A tensor of the same shape cannot: that is a
// product of two tensors, in the model.
func scales(first, o timeline.Operand) bool {
	return o.Scalar() || len(o.Shapes) == 0 || o.List || broadcast(first, o)
}

// broadcast reports whether a second operand has one factor for each row, or each column, of
// the first: units are clipped by norms of their own.
func broadcast(first, o timeline.Operand) bool {
	if len(first.Shapes) != 1 || len(o.Shapes) != 1 || len(o.Shapes[0]) != len(first.Shapes[0]) {
		return false
	}
	fewer := false
	for i, n := range o.Shapes[0] {
		if n != first.Shapes[0][i] && n != 1 {
			return false
		}
		fewer = fewer || n != first.Shapes[0][i]
	}
	return fewer
}

// lists reports whether shapes may be those of a list of tensors that was not recorded:
// older versions print an empty shape for it.
func lists(shapes [][]int64) bool {
	return len(shapes) == 0 || len(shapes) == 1 && len(shapes[0]) == 0
}

// children returns the first operands of the operators inside a foreach call, which on a CPU
// or with mixed dtypes runs one operator per tensor; nil if there are none.
func (r *reader) children(row int32) (all *timeline.Operand) {
	x := r.x
	end, trackEnd := x.End(row), x.TrackEnd(row)
	for i := row + 1; i < trackEnd && x.Col.Start[i] <= end; i++ {
		if x.Col.Parent[i] != row || r.families[x.Col.Name[i]] == noFamily {
			continue
		}
		if ops := r.in.Of(i); len(ops) > 0 && len(ops[0].Shapes) == 1 {
			if all == nil {
				all = new(timeline.Operand)
			}
			all.Shapes, all.Dtype = append(all.Shapes, ops[0].Shapes[0]), ops[0].Dtype
		}
	}
	return all
}

// localElements counts the elements that an operator on DTensors touches on this rank. Such
// an operator is recorded twice, on the outside with the whole shapes and, within
// PythonSubclass, with those of the shards. It is 0 for any other operator.
func (r *reader) localElements(row int32) int64 {
	x := r.x
	within, ok := x.Trace.Find("PythonSubclass")
	if !ok {
		return 0
	}
	inner, ok := child(x, row, within)
	if ok {
		inner, ok = child(x, inner, x.Col.Name[row])
	}
	if !ok {
		return 0
	}
	if ops := r.in.Of(inner); len(ops) > 0 && !lists(ops[0].Shapes) {
		return timeline.NumelOfAll(ops[0].Shapes)
	}
	return 0
}

// child returns the first span of some name that is a direct child of another one.
func child(x *timeline.Rank, row int32, name trace.StringID) (int32, bool) {
	end, trackEnd := x.End(row), x.TrackEnd(row)
	for i := row + 1; i < trackEnd && x.Col.Start[i] <= end; i++ {
		if x.Col.Parent[i] == row && x.Col.Name[i] == name {
			return i, true
		}
	}
	return 0, false
}

// factor reads what a multiplication multiplies by: its value if Concrete Inputs has it, and
// whether it is a tensor.
func (r *reader) factor(row int32, ops []timeline.Operand) (value string, tensor bool) {
	if len(ops) < 2 {
		return "", false
	}
	switch ops[1].Dtype {
	case "Scalar", "double", "":
	default:
		tensor = true
	}
	if words := r.in.Values(row); len(words) > 1 {
		value = words[1]
	}
	return value, tensor
}
