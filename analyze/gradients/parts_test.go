package gradients

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/steps"
	"github.com/gaprof/gaprof/analyze/timeline"
)

// classesOf are classes of so many parameters of so many elements of four bytes each.
func classesOf(pairs ...[2]int64) *Params {
	p := &Params{}
	for _, pair := range pairs {
		p.Classes = append(p.Classes, ParamClass{Dims: []int64{pair[1]}, Numel: pair[1], Dtype: "float", Size: 4,
			Count: int(pair[0])})
	}
	p.total()
	return p
}

func TestTotals(t *testing.T) {
	p := classesOf([2]int64{2, 10}, [2]int64{3, 7})
	p.Classes = append(p.Classes, ParamClass{Numel: 5, Count: 1}) // of unknown element size
	p.total()
	if p.Count != 6 || p.Numel != 46 || p.Bytes != 164 || !p.Known() || (&Params{}).Known() {
		t.Errorf("%+v", p)
	}
	for _, c := range []struct {
		accumulated []int
		want        int
	}{{nil, 0}, {[]int{1}, 1}, {[]int{5, 1, 1}, 4}, {[]int{2, 3, 1}, 6}} {
		if got := p.reached(c.accumulated); got != c.want {
			t.Errorf("%v reach %d, want %d", c.accumulated, got, c.want)
		}
	}
	w := wholeOf([]int{5, 2, 0}, p.Classes)
	if w.count != 4 || w.numel != 34 || !slices.Equal(w.counts, []int{2, 2, 0}) {
		t.Errorf("%+v", w)
	}
}

// TestCoverage: a pass touches at least nine tenths of the elements, whichever parameters
// these are.
func TestCoverage(t *testing.T) {
	for _, c := range []struct {
		params  []string
		touched []string
		want    bool
	}{
		{[]string{"90", "10"}, []string{"90"}, true},
		{[]string{"89", "11"}, []string{"89"}, false},
		{[]string{"90", "10"}, []string{"10"}, false},
		{[]string{"90", "10"}, []string{"90", "10"}, true},
		{[]string{"50", "40", "10"}, []string{"50", "40"}, true},
		{[]string{"50", "39", "11"}, []string{"50", "39"}, false},
		{[]string{"50", "50"}, []string{"50"}, false},             // one of two that are alike
		{[]string{"90", "10"}, []string{"10", "10", "10"}, false}, // one of them three times
		{[]string{"9,10", "10"}, []string{"10,9"}, false},         // another shape
		{[]string{"9,10", "10"}, []string{"100"}, true},           // one flat buffer of all
		{[]string{"9,10", "10"}, []string{"120"}, true},           // padded
		{[]string{"9,10", "10"}, []string{"201"}, false},          // more than twice as much is none
		{[]string{"9,10", "10"}, []string{"60", "30"}, true},      // two buffers
		{[]string{"9,10", "10"}, []string{"60", "29"}, false},     // which are too small together
	} {
		s := &script{params: c.params}
		for range 2 {
			s.move('f')
			s.move('b')
			for _, shape := range c.touched {
				s.product(shape, byTensor)
			}
			s.move('s')
		}
		n := 0
		for _, p := range one(t, s.text.String()).Passes {
			if p.Kind == ScalePass {
				n++
			}
		}
		if got := n == 2; got != c.want {
			t.Errorf("%v of %v: %d passes in two steps", c.touched, c.params, n)
		}
	}
}

// TestFactorsThatDecay: a number a little below one is a decay, of weights or of an average;
// one itself, and what is far from it, is not.
func TestFactorsThatDecay(t *testing.T) {
	for factor, want := range map[string]string{
		"0.9": "", "0.999": "", "0.99999999": "", "1.": "one", "1": "one", "1.0": "one", "1.001": "scale",
		"0.89": "scale", "0.5": "scale", "0": "scale", "-1": "scale", "2": "scale", "": "scale", "x": "scale",
	} {
		got := ""
		for _, p := range one(t, twice(1, func(s *script, _ int) {
			each(func(_ int, shape string) { s.product(shape, byNumber+fmt.Sprintf(`["",%q]`, factor)) })
		})).Passes {
			got = "scale"
			if p.One {
				got = "one"
			}
		}
		if got != want {
			t.Errorf("%q: %q, want %q", factor, got, want)
		}
	}
}

func TestMixedFactors(t *testing.T) {
	for _, c := range []struct {
		factors    []string
		one, mixed bool
	}{
		{[]string{"1", "1"}, true, false}, {[]string{"1", "1."}, true, true}, {[]string{"1", "2"}, false, true},
		{[]string{"2", "2"}, false, false}, {[]string{"", ""}, false, false}, {[]string{"2", "1"}, false, true},
	} {
		g := &run{}
		for _, f := range c.factors {
			g.operations = append(g.operations, operation{factor: f})
		}
		if g.byOne() != c.one || g.mixed() != c.mixed {
			t.Errorf("%q: by one %v, mixed %v", c.factors, g.byOne(), g.mixed())
		}
	}
}

// TestForms: the shapes of a gradient on one of four ranks, and when flat buffers are shards.
func TestForms(t *testing.T) {
	m := &matcher{ranks: 4}
	for _, c := range []struct {
		dims []int64
		want string
	}{{[]int64{8, 3}, "8 3 |2 3 "}, {[]int64{9, 3}, "9 3 |3 3 "}, {[]int64{1}, "1 "}, {nil, ""}, {[]int64{5},
		"5 |2 "}} {
		if got := strings.Join(m.forms(&ParamClass{Dims: c.dims}), "|"); got != c.want {
			t.Errorf("%v: %q, want %q", c.dims, got, c.want)
		}
	}
	if got := strings.Join((&matcher{ranks: 2}).forms(&ParamClass{Dims: []int64{7, 3}}), "|"); got != "7 3 |4 3 " {
		t.Errorf("on two ranks %q", got)
	}
	for _, c := range []struct{ ranks, flat, numel, want int64 }{
		{4, 250, 1000, 4}, {4, 225, 1000, 4}, {4, 224, 1000, 1}, {4, 899, 1000, 4}, {4, 900, 1000, 1}, {4, 0, 1000, 1},
		{1, 250, 1000, 1}, {0, 250, 1000, 1}, {2, 450, 1000, 2}, {2, 449, 1000, 1},
	} {
		if got := (&matcher{ranks: c.ranks}).shards(c.flat, c.numel); got != c.want {
			t.Errorf("%d of %d elements on %d ranks: %d, want %d", c.flat, c.numel, c.ranks, got, c.want)
		}
	}
	if got := (&matcher{ranks: 1}).forms(&ParamClass{Dims: []int64{8}}); len(got) != 1 {
		t.Errorf("on one rank %q", got)
	}
}

// TestSynchronization: who reduces with whom, by the groups of the gradient collectives.
func TestSynchronization(t *testing.T) {
	rs := func(size int64) HostCollective {
		return HostCollective{Kind: timeline.ReduceScatter, Gradient: true, GroupSize: size}
	}
	ar := func(size int64) HostCollective {
		return HostCollective{Kind: timeline.AllReduce, Gradient: true, GroupSize: size}
	}
	other := func(c HostCollective) HostCollective { c.Gradient = false; return c }
	for _, c := range []struct {
		name  string
		list  []HostCollective
		world int64
		want  string
	}{
		{"nothing", nil, 8, "none by 0 in 0 shards"},
		{"DDP", []HostCollective{ar(8), ar(8)}, 8, "all_reduce by 8 in 0 shards"},
		{"DDP, and the world is unknown", []HostCollective{ar(8)}, 0, "all_reduce by 8 in 0 shards"},
		{"FSDP", []HostCollective{rs(8), rs(8)}, 8, "reduce_scatter by 8 in 8 shards"},
		{"HSDP: shards of four, two replicas", []HostCollective{rs(4), ar(2), rs(4), ar(2), ar(2)}, 8,
			"reduce_scatter by 8 in 4 shards"},
		{"HSDP, and the world is unknown", []HostCollective{rs(4), ar(2)}, 0, "reduce_scatter by 8 in 4 shards"},
		{"HSDP in a part of a larger world", []HostCollective{rs(4), ar(2)}, 64, "reduce_scatter by 8 in 4 shards"},
		{"more than the world has", []HostCollective{rs(8), ar(8)}, 8, "reduce_scatter by 8 in 8 shards"},
		{"groups of several sizes", []HostCollective{ar(2), ar(8), ar(4)}, 8, "all_reduce by 8 in 0 shards"},
		{"what carries no gradients", []HostCollective{ar(2), other(ar(8)), other(rs(8))}, 8,
			"all_reduce by 2 in 0 shards"},
		{"one of another step", []HostCollective{ar(2), {Kind: timeline.ReduceScatter, Gradient: true, GroupSize: 4,
			Step: -1}},
			8, "all_reduce by 2 in 0 shards"},
	} {
		s := synchronization([]steps.Step{{HostEnd: 100, Complete: true}}, make([]Step, 1), nil, c.list, c.world)
		kind := "none"
		if s.Kind != timeline.NotCommunication {
			kind = s.Kind.String()
		}
		if got := fmt.Sprintf("%s by %d in %d shards", kind, s.Ranks, s.Shards); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestPatterns(t *testing.T) {
	for _, c := range []struct {
		perPass []int
		want    SyncPattern
	}{
		{nil, SyncUnknown}, {[]int{0}, SyncNone}, {[]int{0, 0}, SyncNone}, {[]int{3}, SyncEvery}, {[]int{3, 1},
			SyncEvery},
		{[]int{0, 3}, SyncLast}, {[]int{0, 0, 1}, SyncLast}, {[]int{3, 0}, SyncUnknown}, {[]int{1, 0, 1}, SyncUnknown},
	} {
		if got := patternOf(c.perPass); got != c.want {
			t.Errorf("%v: %s, want %s", c.perPass, got, c.want)
		}
	}
	whole, part := steps.Step{Complete: true}, steps.Step{}
	for _, c := range []struct {
		lists [][]int
		steps []steps.Step
		want  []int
	}{
		{[][]int{{1}, {2}, {2}}, []steps.Step{whole, whole, whole}, []int{2}},
		{[][]int{{1}, {2}}, []steps.Step{whole, whole}, []int{1}},
		{[][]int{{1}, {1}, {2}}, []steps.Step{part, part, whole}, []int{2}},
		{[][]int{{1}}, []steps.Step{part}, []int{1}},
		{[][]int{{1}, {1}}, []steps.Step{part, part}, nil},
	} {
		if got := typical(c.lists, c.steps); !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, want %v", c.lists, got, c.want)
		}
	}
	if got := mostFrequent(map[string]int{"b": 2, "a": 2, "c": 1}, "none"); got != "a" {
		t.Errorf("of equally frequent ones %s", got)
	}
	if got := mostFrequent(map[string]int{}, "none"); got != "none" {
		t.Errorf("of none %s", got)
	}
}

// TestModeOf: the count that most parameters agree on; a class votes with its mean, rounded.
func TestModeOf(t *testing.T) {
	passes := func(lists ...[]int) []Backward {
		var out []Backward
		for _, l := range lists {
			out = append(out, Backward{Accumulated: l, Forwards: 1})
		}
		return out
	}
	for _, c := range []struct {
		name   string
		params *Params
		passes []Backward
		want   int
	}{
		{"none", &Params{}, passes([]int{1}), Unknown},
		{"two passes", classesOf([2]int64{3, 1}), passes([]int{3}, []int{3}), 2},
		{"tied weights accumulate twice", classesOf([2]int64{1, 1}, [2]int64{5, 2}), passes([]int{2, 5}), 1},
		{"most parameters decide", classesOf([2]int64{4, 1}, [2]int64{3, 2}), passes([]int{8, 3}), 2},
		{"a class that is reached in part", classesOf([2]int64{4, 1}), passes([]int{4}, []int{1}), 1},
		{"a class that is reached in half", classesOf([2]int64{4, 1}), passes([]int{4}, []int{2}), 2},
		{"a pass that ends early", classesOf([2]int64{1, 1}, [2]int64{2, 2}), passes([]int{1, 2}, []int{1}), 1},
	} {
		if got := c.params.modeOf(c.params.all(), c.passes); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
	for _, c := range []struct{ counts, want []int }{
		{nil, nil}, {[]int{2}, []int{Unknown}}, {[]int{2, 2}, []int{2, 2}}, {[]int{1, 2}, []int{Unknown, 2}},
		{[]int{3, 2, 3}, []int{3, 2, 3}},
	} {
		if got := trusted(slices.Clone(c.counts)); !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, want %v", c.counts, got, c.want)
		}
	}
	for _, c := range []struct {
		forwards []int
		want     int
	}{{nil, 1}, {[]int{4}, 4}, {[]int{4, 2, 8}, 2}, {[]int{0, 3}, 3}} {
		var list []Backward
		for _, n := range c.forwards {
			list = append(list, Backward{Forwards: n})
		}
		if got := forwardsOf(list); got != c.want {
			t.Errorf("%v: %d, want %d", c.forwards, got, c.want)
		}
	}
}

// TestBetween: a pass belongs to the window that it begins in.
func TestBetween(t *testing.T) {
	list := []Backward{{Start: 10}, {Start: 20}, {Start: 30}}
	for _, c := range []struct {
		start, end int64
		want       int
	}{{0, 100, 3}, {10, 30, 2}, {11, 30, 1}, {10, 31, 3}, {31, 100, 0}, {20, 20, 0}, {30, 10, 0}} {
		if got := len(between(list, c.start, c.end)); got != c.want {
			t.Errorf("[%d,%d): %d, want %d", c.start, c.end, got, c.want)
		}
	}
	a := Backward{Start: 1, End: 9, First: 2, Last: 8, Accumulated: []int{1, 2}, InPlace: 1, Plain: true, Forwards: 2}
	a.join(Backward{Start: 11, End: 19, First: 12, Last: 18, Accumulated: []int{1, 0, 4}, InPlace: 2, Forwards: 3})
	if a.End != 19 || a.Last != 18 || !slices.Equal(a.Accumulated, []int{2, 2, 4}) || a.InPlace != 3 || a.Plain ||
		a.Forwards != 3 || a.Start != 1 || a.First != 2 || a.of(2) != 4 || a.of(3) != 0 {
		t.Errorf("%+v", a)
	}
}

// TestCover: which messages together are the gradients.
func TestCover(t *testing.T) {
	p := classesOf([2]int64{1, 600}, [2]int64{2, 200})
	all := wholeOf([]int{1, 2}, p.Classes)
	exact := all
	exact.exact = true
	for _, c := range []struct {
		name    string
		w       whole
		covered int64
		elems   []int64
		want    string
	}{
		{"one by one", all, 0, []int64{200, 600, 200}, "[0 1 2]"},
		{"one by one among others", all, 0, []int64{200, 5, 600, 200, 7}, "[0 2 3]"},
		{"one of them too often", all, 0, []int64{200, 200, 200, 600}, "[0 1 3]"},
		{"half of them", all, 0, []int64{600, 200}, "[0 1]"},
		{"fewer than half of them, of most elements", all, 0, []int64{600}, "[]"},
		{"one buffer", all, 0, []int64{1000}, "[0]"},
		{"two buckets", all, 0, []int64{300, 700}, "[1 0]"},
		{"nine tenths", all, 0, []int64{900}, "[0]"},
		{"less", all, 0, []int64{899}, "[]"},
		{"padded to twice as much", all, 0, []int64{2000}, "[0]"},
		{"more than that", all, 0, []int64{2001}, "[]"},
		{"others reduce a part", all, 500, []int64{450}, "[0]"},
		{"others reduce a part, too little is left", all, 500, []int64{399}, "[]"},
		{"exactly", exact, 0, []int64{1000}, "[0]"},
		{"exactly, and padded", exact, 0, []int64{1001}, "[]"},
		{"exactly, and a little less", exact, 0, []int64{999}, "[]"},
		{"exactly one by one", exact, 0, []int64{200, 600, 200}, "[0 1 2]"},
		{"exactly, without one", exact, 0, []int64{200, 600}, "[]"},
		{"nothing", all, 0, nil, "[]"},
		{"one more bucket that still fits", all, 0, []int64{500, 420, 80}, "[0 1 2]"},
	} {
		var messages []message
		for i, n := range c.elems {
			messages = append(messages, message{index: i, elems: n})
		}
		if got := fmt.Sprint(cover(messages, []whole{c.w}, c.covered, p.Classes)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	node := []message{{index: 0, elems: 1100, node: true}}
	if got := cover(node, []whole{all}, 0, p.Classes); len(got) != 1 {
		t.Errorf("of a node, a tenth more: %v", got)
	}
	node[0].elems = 1101
	if got := cover(node, []whole{all}, 0, p.Classes); got != nil {
		t.Errorf("of a node, more than a tenth more: %v", got)
	}
}
