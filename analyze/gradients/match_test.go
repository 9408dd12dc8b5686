package gradients

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/timeline"
)

// TestWhosePass: of which optimizer's parameters the tensors of a run are the gradients, how many
// they are and how many bytes are moved.
func TestWhosePass(t *testing.T) {
	// A has one parameter of 600 elements, B two of 200 and one of 40.
	params := classesOf([2]int64{1, 600}, [2]int64{2, 200}, [2]int64{1, 40})
	both := []Optimizer{{Name: "A", Classes: []int{0}}, {Name: "B", Classes: []int{1, 2}}}
	of := func(dtype string, numel ...int64) operation {
		o := operation{family: multiply, tensor: true, of: &timeline.Operand{Dtype: dtype}}
		for _, n := range numel {
			o.of.Shapes = append(o.of.Shapes, []int64{n})
		}
		return o
	}
	unscaled := func(o operation) operation { o.family = unscale; return o }
	local := func(o operation, n int64) operation { o.local = n; return o }
	for _, test := range []struct {
		what       string
		optimizers []Optimizer
		ops        []operation
		want       string
	}{
		{"A's", both, []operation{of("float", 600)}, "A: 1 tensors, 4800 bytes"},
		{"A's, twice", both, []operation{of("float", 600), of("float", 600)}, "A: 1 tensors, 4800 bytes"},
		{"B's", both, []operation{of("float", 200, 200), of("float", 40)}, "B: 3 tensors, 3520 bytes"},
		{"B's but one", both, []operation{of("float", 200, 200)}, "B: 2 tensors, 3200 bytes"},
		{"all", both, []operation{of("float", 600, 200, 200, 40)}, ": 4 tensors, 8320 bytes"},
		{"of one optimizer", both[:1], []operation{of("float", 600)}, "A: 1 tensors, 4800 bytes"},
		{"what its optimizer does not have", both[:1], []operation{of("float", 200, 200)}, "-"},
		{"of none", nil, []operation{of("float", 600, 200, 200)}, ": 3 tensors, 8000 bytes"},
		{"half of B's", both, []operation{of("float", 200)}, "-"},
		{"in half precision", both, []operation{of("c10::BFloat16", 600)}, "A: 1 tensors, 2400 bytes"},
		{"of an unknown type", both, []operation{of("", 600)}, "A: 1 tensors, 4800 bytes"},
		{"shards", both, []operation{local(of("float", 600), 150)}, "A: 1 tensors, 1200 bytes"},
		{"a shard of one element", both, []operation{local(of("float", 600), 1)}, "A: 1 tensors, 8 bytes"},
		{"unscaled", both, []operation{unscaled(of("float", 200, 200, 40))}, "B: 3 tensors, 3520 bytes"},
		{"unscaled in part", both, []operation{unscaled(of("float", 200))}, "-"},
		{"unscaled, not recorded", both, []operation{{family: unscale}}, ": 4 tensors, 8320 bytes"},
		{"unscaled of one, not recorded", both[:1], []operation{{family: unscale}}, "A: 4 tensors, 4800 bytes"},
		{"products of nothing known", both, []operation{{family: multiply, tensor: true}}, "-"},
		{"twice as much in one buffer", both, []operation{of("float", 2080)}, ": 1 tensors, 8320 bytes"},
	} {
		m := newMatcher(params, test.optimizers, 1)
		g := run{region: region{place: AfterBackward}, family: test.ops[0].family, operations: test.ops}
		got := "-"
		if p, ok := m.pass(g); ok {
			got = fmt.Sprintf("%s: %d tensors, %d bytes", p.Optimizer, p.Parameters, p.Bytes)
		}
		if got != test.want {
			t.Errorf("%s: %s, want %s", test.what, got, test.want)
		}
	}
	m := newMatcher(classesOf([2]int64{1, 1}), nil, 1)
	if _, ok := m.pass(run{region: region{place: AfterBackward}, family: multiply,
		operations: []operation{of("float", 1)}}); !ok {
		t.Error("of a model of one element")
	}
	if _, ok := m.pass(run{family: multiply, operations: []operation{of("float", 1)}}); ok {
		t.Error("before backward")
	}
	wide := &Params{Classes: []ParamClass{{Dims: []int64{8}, Numel: 8, Count: 3}}} // of unknown size
	if o := newMatcher(wide, nil, 1).owners[0]; o.bytes != 24 || o.numel != 24 || o.name != "" {
		t.Errorf("%+v", o)
	}
}

// TestPassOfRun: what a pass says of the run that it is.
func TestPassOfRun(t *testing.T) {
	m := newMatcher(classesOf([2]int64{1, 600}), nil, 1)
	of := &timeline.Operand{Shapes: [][]int64{{600}}, Dtype: "float"}
	for _, test := range []struct {
		what string
		g    run
		op   operation
		want string
	}{
		{"by a tensor", run{family: multiply}, operation{tensor: true}, "scale tensor doubtful"},
		{"by a tensor that decays", run{family: multiply, decays: true}, operation{tensor: true},
			"scale tensor doubtful decay"},
		{"that divides", run{family: multiply, decays: true}, operation{tensor: true, divides: true},
			"scale tensor doubtful"},
		{"that is whole", run{family: multiply, decays: true}, operation{tensor: true, whole: true},
			"scale tensor doubtful"},
		{"by a number that is not recorded", run{family: multiply}, operation{}, "scale doubtful decay"},
		{"by a number", run{family: multiply}, operation{factor: "0.5"}, "scale doubtful"},
		{"by a count", run{family: multiply, counted: true}, operation{tensor: true}, "scale tensor"},
		{"by one", run{family: multiply}, operation{factor: "1"}, "scale doubtful one"},
		{"clipped", run{family: multiply, afterNorm: true}, operation{tensor: true}, "clip tensor"},
		{"each element", run{family: limitEach}, operation{}, "clip value"},
		{"zeros", run{family: zeroFill}, operation{factor: "1"}, "zero"},
	} {
		test.op.of, test.g.place = of, AfterBackward
		test.g.operations = []operation{test.op}
		test.g.operations[0].start, test.g.operations[0].end = 10, 30
		p, ok := m.pass(test.g)
		words := []string{string(p.Kind)}
		for i, is := range []bool{p.Tensor, p.Doubtful, p.Decay, p.One, p.ByValue} {
			if is {
				words = append(words, []string{"tensor", "doubtful", "decay", "one", "value"}[i])
			}
		}
		if got := strings.Join(words, " "); got != test.want || !ok || p.HostStart != 10 || p.HostEnd != 30 {
			t.Errorf("%s: %s, want %s; %v from %d to %d", test.what, got, test.want, ok, p.HostStart, p.HostEnd)
		}
	}
	between := run{region: region{place: BetweenMicroBatches}, family: multiply, operations: []operation{{of: of,
		tensor: true, end: 30}, {of: of, tensor: true, end: 20}}}
	if p, ok := m.pass(between); !ok || p.Doubtful || p.HostEnd != 30 || p.Launches != 2 {
		t.Errorf("between micro-batches: %+v", p)
	}
}

// TestReplaces: products into other tensors replace gradients after backward alone, by a tensor that
// clips or by a count.
func TestReplaces(t *testing.T) {
	for _, test := range []struct {
		what  string
		f     family
		place Place
		kind  PassKind
		ops   []operation
		count bool
		want  bool
	}{
		{"clipped", product, AfterBackward, ClipPass, ops(2, operation{tensor: true}), false, true},
		{"in backward", product, InBackward, ClipPass, ops(2, operation{tensor: true}), false, false},
		{"between", product, BetweenMicroBatches, ClipPass, ops(2, operation{tensor: true}), true, false},
		{"limits between", limitEach, BetweenMicroBatches, ClipPass, ops(2, operation{}), false, true},
		{"limits in backward", limitEach, InBackward, ClipPass, ops(2, operation{}), false, false},
		{"by a count between", product, BetweenMicroBatches, ScalePass, ops(2, operation{}), true, false},
		{"by a count", product, AfterBackward, ScalePass, ops(2, operation{}), true, true},
		{"divided by a count", product, AfterBackward, DividePass, ops(2, operation{}), true, false},
	} {
		g := &run{region: region{place: test.place}, family: test.f, operations: test.ops, counted: test.count}
		if got := g.replaces(test.kind); got != test.want {
			t.Errorf("%s: %v", test.what, got)
		}
	}
}

// TestPieces: runs that each clip a part of the gradients are one pass.
func TestPieces(t *testing.T) {
	params := classesOf([2]int64{2, 10}, [2]int64{1, 20})
	c := (&matcher{params: params}).shapeCounts()
	after, between := region{AfterBackward, 0}, region{BetweenMicroBatches, 0}
	clip := func(at region, o operation, numel ...int64) run {
		g := run{region: at, family: multiply, afterNorm: true, used: make(map[string]int)}
		for _, n := range numel {
			o.family, o.of = multiply, &timeline.Operand{Shapes: [][]int64{{n}}}
			g.add(o)
		}
		return g
	}
	scale := clip(after, operation{}, 20)
	scale.afterNorm = false
	norms := clip(after, operation{}, 20)
	norms.operations[0].family = norm
	for _, test := range []struct {
		what string
		runs []run
		want string
	}{
		{"nothing", nil, "[]"},
		{"of different ones", []run{clip(after, operation{}, 10), clip(after, operation{}, 20)}, "[2]"},
		{"of all", []run{clip(after, operation{}, 10), clip(after, operation{}, 20), clip(after, operation{}, 10)},
			"[3]"},
		{"of one twice", []run{clip(after, operation{}, 20), clip(after, operation{}, 20)}, "[1 1]"},
		{"of one twice, and another", []run{clip(after, operation{}, 20), clip(after, operation{}, 20, 10),
			clip(after, operation{}, 10)}, "[2 2]"},
		{"of no parameter", []run{clip(after, operation{}, 7), clip(after, operation{}, 7)}, "[2]"},
		{"between micro-batches", []run{clip(between, operation{}, 10), clip(between, operation{}, 20)}, "[2]"},
		{"in two places", []run{clip(after, operation{}, 10), clip(between, operation{}, 20)}, "[1 1]"},
		{"in backward", []run{clip(region{InBackward, 0}, operation{}, 10), clip(region{InBackward, 0}, operation{},
			20)}, "[1 1]"},
		{"by other kinds of factors", []run{clip(after, operation{tensor: true}, 10), clip(after, operation{}, 20)},
			"[1 1]"},
		{"and a scaling", []run{clip(after, operation{}, 10), scale}, "[1 1]"},
		{"and norms", []run{clip(after, operation{}, 10), norms}, "[1 1]"},
		{"norms", []run{norms, clip(after, operation{}, 10)}, "[1 1]"},
	} {
		sizes := []int{}
		for _, r := range c.joinPieces(test.runs) {
			sizes = append(sizes, len(r.operations))
		}
		if got := fmt.Sprint(sizes); got != test.want {
			t.Errorf("%s: %s, want %s", test.what, got, test.want)
		}
	}
}

// TestRoom: how often a tensor of a shape fits into a run, as there are parameters of it; and
// which sums are norms of gradients.
func TestRoom(t *testing.T) {
	params := classesOf([2]int64{2, 10}, [2]int64{1, 20})
	params.Classes = append(params.Classes, ParamClass{Dims: []int64{4, 8}, Numel: 32, Count: 1}, ParamClass{
		Dims: []int64{77}, Numel: 77})
	params.total()
	c := (&matcher{params: params}).shapeCounts()
	of := func(f family, shapes ...[]int64) *operation {
		return &operation{family: f, of: &timeline.Operand{Shapes: shapes}}
	}
	ten, twenty, other := []int64{10}, []int64{20}, []int64{7}
	for _, test := range []struct {
		what string
		used map[string]int
		t    *operation
		want bool
	}{
		{"the first", nil, of(multiply, ten), true}, {"the second", map[string]int{"10 ": 1}, of(multiply, ten), true},
		{"a third", map[string]int{"10 ": 2}, of(multiply, ten), false},
		{"two at once", nil, of(multiply, ten, ten), true}, {"three at once", nil, of(multiply, ten, ten, ten), false},
		{"two and one", map[string]int{"10 ": 1}, of(multiply, ten, ten), false},
		{"another shape", map[string]int{"10 ": 2}, of(multiply, twenty), true},
		{"of no parameter", map[string]int{"7 ": 9}, of(multiply, other), true},
		{"no product", map[string]int{"10 ": 2}, of(norm, ten), true},
	} {
		if got := c.room(&run{used: test.used}, test.t); got != test.want {
			t.Errorf("%s: %v", test.what, got)
		}
	}
	for _, test := range []struct {
		shapes [][]int64
		want   family
		any    bool
		n      int
	}{
		{[][]int64{ten}, norm, true, 1}, {[][]int64{{4, 8}}, norm, true, 1}, {[][]int64{{32}}, norm, true, 1},
		{[][]int64{{72}}, norm, true, 4}, {[][]int64{other}, noFamily, false, 0}, {[][]int64{{8, 4}}, noFamily, false,
			0},
		{[][]int64{{77}}, noFamily, false, 0}, {[][]int64{{32, 1}}, noFamily, false, 0}, {nil, noFamily, false, 0},
		{[][]int64{ten, twenty}, noFamily, true, 2}, {[][]int64{other, {32}}, noFamily, true, 1},
	} {
		list := []operation{*of(norm, ten), *of(reduceAll, test.shapes...)}
		c.markNorms(list)
		if list[0].family != norm || list[1].family != test.want {
			t.Errorf("a sum of %v is of family %d, want %d", test.shapes, list[1].family, test.want)
		}
		if c.any(test.shapes) != test.any || c.parameters(test.shapes) != test.n {
			t.Errorf("%v may be %d gradients, want %d", test.shapes, c.parameters(test.shapes), test.n)
		}
	}
}

// TestParts: what is divided before its reduce-scatter is a pass of its own if it is all of the
// gradients, and what remains is another.
func TestParts(t *testing.T) {
	m := newMatcher(classesOf([2]int64{1, 600}, [2]int64{1, 200}), nil, 1)
	of := func(numel int64, scattered bool) operation {
		return operation{family: multiply, scattered: scattered, of: &timeline.Operand{Shapes: [][]int64{{numel}}}}
	}
	for _, test := range []struct {
		what string
		ops  []operation
		want string
	}{
		{"none", []operation{of(600, false), of(200, false)}, "2"},
		{"all", []operation{of(600, true), of(200, true)}, "2 scattered"},
		{"all, and shards", []operation{of(600, true), of(150, false), of(200, true)}, "2 scattered, 1"},
		{"one", []operation{of(600, false), of(200, true)}, "2"},
	} {
		var got []string
		for _, r := range m.parts(run{region: region{place: AfterBackward}, family: multiply, operations: test.ops}) {
			text := fmt.Sprint(len(r.operations))
			if r.scattered {
				text += " scattered"
			}
			got = append(got, text)
		}
		if text := strings.Join(got, ", "); text != test.want {
			t.Errorf("%s: %s, want %s", test.what, text, test.want)
		}
	}
	norms := []operation{{family: norm, start: 10}, {family: multiply, start: 20}, {family: norm, start: 30}}
	if got := fmt.Sprint(normStarts(norms)); got != "[10 30]" {
		t.Errorf("norms begin at %s", got)
	}
	x := rankOf(t, `
1/1 100 +80 user_annotation Optimizer.step#LBFGS.step
1/1 110 +2 cpu_op aten::linear dims=[[7]]
1/1 120 +20 cpu_op "autograd::engine::evaluate_function: MmBackward0"
1/1 150 +2 cpu_op aten::add_ dims=[[8],[9]]
1/1 180 +2 cpu_op aten::add_ dims=[[6]]
`)
	if got := fmt.Sprint(steppedShapes(x)); got != "map[LBFGS:map[8 :true 9 :true]]" {
		t.Errorf("an optimizer steps %s", got)
	}
}
