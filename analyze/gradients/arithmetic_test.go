package gradients

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/steps"
	"github.com/gaprof/gaprof/analyze/timeline"
)

func TestGapAt(t *testing.T) {
	gaps := Gaps{{Start: 10, End: 20}, {Start: 30, End: 40}}
	for at, want := range map[int64]int{9: -1, 10: 0, 19: 0, 20: -1, 29: -1, 30: 1, 39: 1, 40: -1} {
		got := gaps.At(at)
		if want < 0 && got != nil || want >= 0 && got != &gaps[want] {
			t.Errorf("at %d: %+v, want gap %d", at, got, want)
		}
	}
	for _, c := range []struct {
		g    Gap
		want bool
	}{{Gap{}, false}, {Gap{Accumulating: true}, true}, {Gap{Accumulating: true, Used: true}, false}, {Gap{Used: true},
		false}} {
		if c.g.Loses() != c.want {
			t.Errorf("%+v loses", c.g)
		}
	}
}

// TestUsualPasses: how many backward passes a step of some optimizers usually has; of equally
// frequent numbers the least, and a first step that was cut does not count.
func TestUsualPasses(t *testing.T) {
	for _, c := range []struct {
		name   string
		counts []int
		first  bool // the first step is complete
		want   int
	}{
		{"always two", []int{2, 2, 2}, true, 2},
		{"mostly four", []int{4, 2, 4}, true, 4},
		{"as often two as four", []int{4, 2, 2, 4}, true, 2},
		{"as often four as two", []int{2, 4, 4, 2}, true, 2},
		{"a first one that was cut", []int{1, 4}, false, 4},
		{"one that was cut, alone", []int{3}, false, 3},
		{"none", []int{0, 0, 2}, true, 2},
		{"always one", []int{1, 1}, true, 1},
		{"more often three than five", []int{5, 3, 3, 5, 3}, true, 3},
		{"more often five than three", []int{5, 3, 3, 5, 5}, true, 5},
	} {
		list, passes := make([]steps.Step, len(c.counts)), make([][]Backward, len(c.counts))
		for i, n := range c.counts {
			list[i] = steps.Step{Complete: i > 0 || c.first, Optimizers: []string{"A", "B"}}
			passes[i] = make([]Backward, n)
		}
		for range 8 { // maps have no order
			if got := usualPasses(list, passes)["A\x00B"]; got != c.want {
				t.Fatalf("%s: %d, want %d", c.name, got, c.want)
			}
		}
	}
}

func TestSameReach(t *testing.T) {
	p := classesOf([2]int64{10, 1}, [2]int64{10, 2})
	for _, c := range []struct {
		a, b []int
		want bool
	}{
		{[]int{10, 10}, []int{10, 10}, true}, {[]int{10, 10}, []int{10, 8}, true}, {[]int{10, 10}, []int{10, 7}, false},
		{[]int{10, 7}, []int{10, 10}, false}, {[]int{10}, []int{0, 10}, false}, {nil, nil, true}, {[]int{10},
			[]int{9}, true},
		{[]int{10}, []int{8}, false},
	} {
		if got := p.sameReach(&Backward{Accumulated: c.a}, &Backward{Accumulated: c.b}); got != c.want {
			t.Errorf("%v and %v: %v", c.a, c.b, got)
		}
	}
	// An input whose gradient says how to change it is reached by the first pass alone.
	p = classesOf([2]int64{19, 1}, [2]int64{1, 2})
	with, without := &Backward{Accumulated: []int{19, 1}}, &Backward{Accumulated: []int{19}}
	if p.sameReach(with, without) || !p.sameReach(without, with) {
		t.Error("what the first pass reaches and the second does not")
	}
}

// TestNodeOrder: whether n forward passes are micro-batches of their own. f is a node of the
// model, + adds losses, m is another node that combines them, and . is an accumulation.
func TestNodeOrder(t *testing.T) {
	names := map[rune]string{'f': "AddmmBackward0", '+': "AddBackward0", 'm': "MeanBackward0", 's': "StackBackward0"}
	for _, c := range []struct {
		nodes string
		n     int
		want  int
	}{
		{"fff.f.f.", 1, 1},
		{"+ffffff..", 2, 2},            // two losses are added up, all parameters are shared
		{"sffffff..", 2, 2},            // or stacked
		{"mffffff..", 2, 1},            // one loss: an encoder that sees several inputs
		{"ffffff..", 2, 2},             // nothing combines losses
		{"+f.ffffffffffffffff.", 2, 1}, // the first is complete before the second begins
		{"+ffffffffff.ffffffffff.", 2, 2},
		{"+", 2, 2},
		{"", 3, 3},
		{"f+fff..", 2, 2}, // sums inside the model join nothing
		{"mf+fff..", 2, 1},
	} {
		var o nodeOrder
		for _, r := range c.nodes {
			if r == '.' {
				o.accumulated()
			} else {
				o.node(names[r])
			}
		}
		if got := o.several(c.n); got != c.want {
			t.Errorf("%s: %d of %d, want %d", c.nodes, got, c.n, c.want)
		}
	}
}

func TestLayers(t *testing.T) {
	for _, c := range []struct {
		accumulated []int
		n           int
		want        bool
	}{{[]int{4, 8}, 4, true}, {[]int{4, 6}, 4, false}, {[]int{0, 0}, 4, false}, {[]int{0, 4}, 4, true}, {nil, 2, false},
		{[]int{1}, 1, true}} {
		if got := layers(c.accumulated, c.n); got != c.want {
			t.Errorf("%v of %d: %v", c.accumulated, c.n, got)
		}
	}
	for _, c := range [][3]int{{0, 5, 5}, {3, 5, 3}, {5, 3, 3}, {0, 0, 0}, {2, 2, 2}} {
		if got := leastOf(c[0], c[1]); got != c[2] {
			t.Errorf("%v: %d", c, got)
		}
	}
	for _, c := range []struct {
		counts map[int]int
		want   int
	}{{nil, 0}, {map[int]int{1: 2, 2: 2}, 2}, {map[int]int{0: 3, 5: 2}, 0}, {map[int]int{4: 1}, 4}} {
		for range 8 {
			if got := mostFrequentCount(c.counts); got != c.want {
				t.Fatalf("%v: %d, want %d", c.counts, got, c.want)
			}
		}
	}
}

// TestFewNodes: sums and means of losses say nothing of how many forward passes there were,
// unless there is nothing else.
func TestLossArithmetic(t *testing.T) {
	for _, node := range []string{"AddBackward0", "SubBackward0", "MulBackward0", "DivBackward0", "SumBackward0",
		"SumBackward1",
		"MeanBackward0", "MeanBackward1", "NegBackward0", "StackBackward0", "CatBackward0", "ToCopyBackward0"} {
		s := &script{params: []string{"100,20", "64"}}
		for range 2 {
			s.move('f')
			s.move('f')
			s.event(3, "autograd::engine::evaluate_function: "+node, "")
			for range 2 {
				s.event(3, "autograd::engine::evaluate_function: NllLossBackward0", "")
				s.event(3, "autograd::engine::evaluate_function: AddmmBackward0", "")
			}
			s.accumulate("TBackward0", nil)
			s.accumulate("TBackward0", s.params)
			s.move('s')
		}
		g := one(t, s.text.String())
		want := 1
		if node == "AddBackward0" || node == "StackBackward0" { // which join losses
			want = 2
		}
		if got := g.Backwards[1].Forwards; got != want {
			t.Errorf("%s: %d forward passes, want %d", node, got, want)
		}
	}
}

// TestTokenCounts: which all-reduces of one number come before the forward pass and which
// after backward; those of a norm, of optimizers and of frameworks are none.
func TestTokenCounts(t *testing.T) {
	at := func(start, elems int64, kind timeline.CollectiveKind, site timeline.Site) HostCollective {
		c := HostCollective{Kind: kind, Elems: elems, Site: timeline.LaunchSite{Site: site}}
		c.Event.Start = start
		return c
	}
	passes := []Backward{{Start: 100, First: 110, Last: 150}, {Start: 200, First: 210, Last: 250}}
	forward := []int64{50, 51, 52, 53, 54}
	const sum, loop = timeline.AllReduce, timeline.SiteUnknown
	for _, c := range []struct {
		name  string
		c     HostCollective
		norms []int64
		want  string
	}{
		{"before forward", at(10, 1, sum, loop), nil, "1 0"},
		{"with four operators to come", at(51, 1, sum, loop), nil, "1 0"},
		{"with three to come", at(52, 1, sum, loop), nil, "0 0"},
		{"of two numbers", at(10, 2, sum, loop), nil, "0 0"},
		{"an all-gather", at(10, 1, timeline.AllGather, loop), nil, "0 0"},
		{"by the optimizer", at(260, 1, sum, timeline.SiteOptimizerStep), nil, "0 0"},
		{"by DDP", at(10, 1, sum, timeline.SiteFrameworkHook), nil, "0 0"},
		{"between two passes", at(180, 1, sum, loop), nil, "0 0"},
		{"after backward", at(260, 1, sum, loop), nil, "0 1"},
		{"right at its end", at(250, 1, sum, loop), nil, "0 1"},
		{"before its end", at(249, 1, sum, loop), nil, "0 0"},
		{"after a norm", at(260, 1, sum, loop), []int64{255}, "0 0"},
		{"before a norm", at(260, 1, sum, loop), []int64{265}, "0 1"},
		{"after a norm of an earlier step", at(260, 1, sum, loop), []int64{20}, "0 1"},
	} {
		before, after := counts(passes, []HostCollective{c.c}, c.norms, forward)
		if got := fmt.Sprint(before, after); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func operand(dims ...[]int64) *timeline.Operand { return &timeline.Operand{Shapes: dims} }

// TestFills: whether what is multiplied is the message that follows, padding to the number of
// ranks allowed.
func TestFills(t *testing.T) {
	for _, c := range []struct {
		name        string
		t           operation
		elems, size int64
		want        bool
	}{
		{"the same", operation{of: operand([]int64{10, 3})}, 30, 4, true},
		{"padded", operation{of: operand([]int64{10, 3})}, 36, 4, true},
		{"padded too far", operation{of: operand([]int64{10, 3})}, 39, 4, false},
		{"of an unknown group", operation{of: operand([]int64{10, 3})}, 36, 0, false},
		{"nothing to pad", operation{of: operand([]int64{8, 3})}, 24, 4, true},
		{"two tensors", operation{of: operand([]int64{10}, []int64{5})}, 15, 4, true},
		{"two tensors, padded", operation{of: operand([]int64{10}, []int64{5})}, 16, 4, false},
		{"a shard", operation{of: operand([]int64{10, 3}), local: 9}, 9, 4, true},
		{"nothing known", operation{}, 0, 4, false},
		{"less", operation{of: operand([]int64{10, 3})}, 29, 4, false},
	} {
		if got := c.t.fills(&HostCollective{Elems: c.elems, GroupSize: c.size}); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	for _, c := range []struct {
		dims [][]int64
		want bool
	}{{nil, false}, {[][]int64{{5}}, true}, {[][]int64{{5, 1}}, false}, {[][]int64{{5}, {5}}, false}, {[][]int64{{}},
		false}} {
		if got := (&operation{of: operand(c.dims...)}).flat(); got != c.want {
			t.Errorf("%v is flat: %v", c.dims, got)
		}
	}
	if (&operation{}).flat() || (&operation{}).dtype() != "" {
		t.Error("of nothing known")
	}
}

// TestWrites: what changes tensors in place, other than the framework.
func TestWrites(t *testing.T) {
	for f, want := range map[family]bool{zeroFill: true, copyInto: true, multiply: true, fill: true, norm: false,
		unscale: false, adjust: false, noFamily: false} {
		if (&operation{family: f}).writes() != want || (&operation{family: f, framework: true}).writes() {
			t.Errorf("family %d", f)
		}
	}
	c := (&matcher{params: classesOf([2]int64{1, 600}, [2]int64{2, 200})}).shapeCounts()
	for _, s := range []struct {
		dims []int64
		want bool
	}{{[]int64{600}, true}, {[]int64{200}, true}, {[]int64{1000}, true}, {[]int64{400}, false}, {[]int64{20, 10},
		false}} {
		if c.any([][]int64{s.dims}) != s.want {
			t.Errorf("%v is a gradient: %v", s.dims, !s.want)
		}
	}
	if c.any(nil) {
		t.Error("no shapes")
	}
}

// TestOneEach: one of some events for each gradient: between their norms, or many after all.
func TestOneEach(t *testing.T) {
	norms := make([]operation, 10)
	for i := range norms {
		norms[i].start = int64(10 * i)
	}
	each := func(n int, offset int64) (list []int64) {
		for i := range n {
			list = append(list, int64(10*i)+offset)
		}
		return list
	}
	after := func(n int) (list []int64) {
		for i := range n {
			list = append(list, 100+int64(i))
		}
		return list
	}
	for _, c := range []struct {
		name   string
		params int
		starts []int64
		want   bool
	}{
		{"none", 10, nil, false}, {"between all", 10, each(10, 5), true}, {"between nine of ten", 10, each(9, 5), true},
		{"between eight of ten", 10, each(8, 5), false}, {"all after", 10, after(10), true}, {"nine after", 10,
			after(9), true},
		{"eight after, of ten", 10, after(8), false}, {"eight after, of eight", 8, after(8), true},
		{"seven after, of seven", 7, after(7), false}, {"one of one", 1, each(1, 5), false},
		{"two in each of few gaps", 10, append(each(4, 5), each(4, 6)...), false},
	} {
		slices.Sort(c.starts)
		if got := (&Pass{Parameters: c.params}).oneEach(norms, c.starts); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// TestMarkAveraged: products that follow a reduction each are averages, a single one is none.
func TestMarkAveraged(t *testing.T) {
	for _, c := range []struct {
		name string
		text string // r a reduction, m a product, f one of a framework, s one that is scattered, l one of a loss
		want string // of the products, in order
	}{
		{"each", "rmrmrm", "xxx"}, {"all, then all", "rrrmmm", "..."}, {"one of three", "mrmm", "..."},
		{"two of three", "rmrmm", "xx."}, {"the last two", "mrmrm", ".xx"}, {"no reductions", "mmm", "..."},
		{"those of frameworks are left out", "rfrfrm", "..."}, {"scattered ones, too", "rsrsrm", "..."},
		{"one alone", "rm", "."}, {"a loss between", "rlrmm", "..."}, {"losses of micro-batches", "lrlrmm", "...."},
		{"a loss, then each", "rlrmrm", ".xx"},
	} {
		var list []operation
		var reductions []int64
		for i, r := range c.text {
			at := int64(10 * i)
			if r == 'r' {
				reductions = append(reductions, at)
				continue
			}
			o := operation{family: multiply, start: at, end: at + 5, framework: r == 'f', scattered: r == 's'}
			if r == 'l' {
				o.of = &timeline.Operand{Shapes: [][]int64{{}}}
			}
			list = append(list, o)
		}
		markAveraged(reductions, list)
		var got strings.Builder
		for _, o := range list {
			got.WriteString(map[bool]string{true: "x", false: "."}[o.averaged])
		}
		if got.String() != c.want {
			t.Errorf("%s, %s: %s, want %s", c.name, c.text, got.String(), c.want)
		}
	}
}

// TestCovered: whether optimizers show what they touch.
func TestCovered(t *testing.T) {
	set := func(keys ...string) map[string]bool {
		m := make(map[string]bool)
		for _, k := range keys {
			m[k+" "] = true
		}
		return m
	}
	p := classesOf([2]int64{2, 100}, [2]int64{2, 10}, [2]int64{1, 5})
	for _, c := range []struct {
		name    string
		stepped map[string]map[string]bool
		want    bool
	}{
		{"all", map[string]map[string]bool{"A": set("100", "10", "5")}, true},
		{"most of both", map[string]map[string]bool{"A": set("100", "5")}, true},
		{"most of the number alone", map[string]map[string]bool{"A": set("10", "5")}, false},
		{"most of the elements alone", map[string]map[string]bool{"A": set("100")}, false},
		{"one optimizer that touches none", map[string]map[string]bool{"A": set("100", "10"), "B": set("7")}, false},
		{"two optimizers", map[string]map[string]bool{"A": set("100"), "B": set("10")}, true},
		{"none", nil, false},
	} {
		if got := p.covered(c.stepped); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	for _, c := range []struct {
		what   string
		params *Params
	}{
		{"half of the number", classesOf([2]int64{1, 100}, [2]int64{1, 10})},
		{"half of the elements", classesOf([2]int64{2, 100}, [2]int64{1, 200})},
		{"a little less than half of the elements", classesOf([2]int64{2, 100}, [2]int64{1, 250})},
	} {
		if c.params.covered(map[string]map[string]bool{"A": set("100")}) {
			t.Error(c.what)
		}
	}
	owners := []Optimizer{{Name: "A"}, {Name: "B"}}
	carried := map[string]map[numelKey]bool{"A": {{5, "float"}: true, {7, "float"}: true}, "B": {{7, "float"}: true}}
	for key, want := range map[numelKey]int{{5, "float"}: 0, {7, "float"}: -1, {9, "float"}: -1, {5, ""}: -1} {
		if got := ownerOf(owners, carried, key); got != want {
			t.Errorf("%v: %d, want %d", key, got, want)
		}
	}
	if plainDtype("c10::BFloat16") != "bfloat16" || plainDtype("float") != "float" {
		t.Error("names of dtypes")
	}
}

// TestUsed: norms are used by the next operation that is no norm.
func TestUsed(t *testing.T) {
	f := &passFinder{list: []operation{{family: norm, start: 10}, {family: norm, start: 20}, {family: reduceAll,
		start: 25},
		{family: clampFactor, start: 30}, {family: multiply, start: 40}}}
	for last, want := range map[int64]int64{20: 30, 30: 40, 40: math.MaxInt64, 10: 30} {
		if got := f.used(last); got != want {
			t.Errorf("after %d: %d, want %d", last, got, want)
		}
	}
}
