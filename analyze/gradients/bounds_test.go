package gradients

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/timeline"
)

// TestReduces: which collectives can be of gradients, by kind, size and, without a size, site.
func TestReduces(t *testing.T) {
	params := classesOf([2]int64{1, 1}, [2]int64{1, 2}, [2]int64{1, 9})
	hook := timeline.LaunchSite{Site: timeline.SiteBackwardHook}
	for _, test := range []struct {
		kind  timeline.CollectiveKind
		elems int64
		site  timeline.LaunchSite
		want  bool
	}{
		{timeline.AllReduce, 0, hook, false},
		{timeline.AllReduce, 1, hook, false}, // a norm, although a parameter has one element
		{timeline.AllReduce, 2, timeline.UnknownSite, true},
		{timeline.AllReduce, 3, hook, false},
		{timeline.AllReduce, 9, timeline.UnknownSite, true},
		{timeline.AllReduce, 16, timeline.UnknownSite, false},
		{timeline.AllReduce, 17, timeline.UnknownSite, true},
		{timeline.ReduceScatter, 16, timeline.UnknownSite, false},
		{timeline.ReduceScatter, 17, timeline.UnknownSite, true},
		{timeline.Reduce, 17, timeline.UnknownSite, true},
		{timeline.AllGather, 17, hook, false},
		{timeline.Broadcast, 17, hook, false},
		{timeline.AllReduce, Unknown, hook, true},
		{timeline.AllReduce, Unknown, timeline.UnknownSite, false},
		{timeline.ReduceScatter, Unknown, timeline.UnknownSite, true},
		{timeline.Reduce, Unknown, timeline.UnknownSite, false},
		{timeline.AllGather, Unknown, hook, false},
	} {
		if got := params.Reduces(test.kind, test.elems, test.site); got != test.want {
			t.Errorf("%v of %d at %v: %v", test.kind, test.elems, test.site.Site, got)
		}
	}
}

// TestReducedAgain: a reduction before the last backward pass of its step is done again if that
// reduces as much; of other steps, kinds and sizes it is another.
func TestReducedAgain(t *testing.T) {
	c := func(step, backward int, kind timeline.CollectiveKind, elems int64, gradient bool) HostCollective {
		return HostCollective{Step: step, Backward: backward, Kind: kind, Elems: elems, Gradient: gradient}
	}
	list := []HostCollective{
		c(0, 0, timeline.AllReduce, 8, true), c(0, 1, timeline.AllReduce, 8, true),
		c(1, 2, timeline.AllReduce, 8, true), c(1, 2, timeline.AllReduce, 9, true), c(1, 3, timeline.AllReduce, 8,
			true),
		c(2, 4, timeline.ReduceScatter, 8, true), c(2, 5, timeline.AllReduce, 8, true),
		c(3, 6, timeline.AllReduce, 8, false), c(3, 7, timeline.AllReduce, 8, true),
		c(4, 8, timeline.AllReduce, 8, true), c(4, 9, timeline.AllReduce, 8, false),
		c(5, 10, timeline.AllReduce, 8, true), c(5, 11, timeline.AllReduce, 8, true), c(5, 12, timeline.AllReduce, 8,
			true),
		c(-1, 13, timeline.AllReduce, 8, true), c(-1, 14, timeline.AllReduce, 8, true),
	}
	markAgain(list)
	var again []int
	for i := range list {
		if list[i].Again {
			again = append(again, i)
		}
	}
	if !slices.Equal(again, []int{0, 2, 11, 12}) {
		t.Error(again)
	}
	markAgain(list[:1])
	markAgain(nil)
}

// TestOneOfEach: a pass waits once for each parameter if there is a start between most of its norms,
// or as many starts as parameters, and not few.
func TestOneOfEach(t *testing.T) {
	norms := func(n int) (list []operation) {
		for i := range n {
			list = append(list, operation{start: int64(10 * (i + 1)), end: int64(10*(i+1) + 5)})
		}
		return list
	}
	starts := func(from, n int, every int64) (list []int64) {
		for i := range n {
			list = append(list, int64(from)+every*int64(i))
		}
		return list
	}
	for _, test := range []struct {
		name   string
		params int
		norms  int
		starts []int64
		want   bool
	}{
		{"one after each", 10, 10, starts(12, 10, 10), true},
		{"at the next one's start", 10, 10, starts(10, 10, 10), true},
		{"one between most", 10, 10, starts(12, 9, 10), true},
		{"between fewer", 10, 10, starts(12, 8, 10), false},
		{"all after the last", 10, 10, starts(120, 10, 1), true},
		{"as many as parameters, but few", 7, 7, starts(120, 7, 1), false},
		{"eight", 8, 8, starts(120, 8, 1), true},
		{"one parameter", 1, 1, starts(12, 1, 10), false},
		{"two", 2, 2, starts(12, 2, 10), true},
		{"none", 10, 10, nil, false},
	} {
		p := &Pass{Parameters: test.params}
		if got := p.oneEach(norms(test.norms), test.starts); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
	}
}

// TestFirstOperands: what the first operand of a product may be multiplied by.
func TestFirstOperands(t *testing.T) {
	of := func(list bool, shapes ...[]int64) timeline.Operand {
		return timeline.Operand{Shapes: shapes, List: list}
	}
	tensor := of(false, []int64{4, 3})
	for _, test := range []struct {
		name string
		by   timeline.Operand
		want bool
	}{
		{"a number", of(false, []int64{}), true},
		{"what was not recorded", of(false), true},
		{"a list", of(true, []int64{4, 3}), true},
		{"the same shape", of(false, []int64{4, 3}), false},
		{"one of each row", of(false, []int64{4, 1}), true},
		{"one of each column", of(false, []int64{1, 3}), true},
		{"one", of(false, []int64{1, 1}), true},
		{"another shape", of(false, []int64{2, 1}), false},
		{"fewer dimensions", of(false, []int64{3}), false},
		{"more", of(false, []int64{4, 3, 1}), false},
	} {
		if got := scales(tensor, test.by); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
	}
	for _, test := range []struct {
		ops  []timeline.Operand
		want bool
	}{
		{nil, false}, {[]timeline.Operand{of(true, []int64{8}, []int64{9})}, true}, {[]timeline.Operand{of(true,
			[]int64{8})}, false},
		{[]timeline.Operand{of(true, []int64{8, 2}, []int64{9})}, false}, {[]timeline.Operand{of(false, []int64{8},
			[]int64{9})}, false},
	} {
		if got := flatPieces(test.ops); got != test.want {
			t.Errorf("%v: %v", test.ops, got)
		}
	}
}

// TestOwnElements: the size of a collective by its own operands, where no other record has it.
func TestOwnElements(t *testing.T) {
	of := func(dtype string, shapes ...[]int64) timeline.Operand {
		return timeline.Operand{Dtype: dtype, Shapes: shapes}
	}
	for _, test := range []struct {
		ops  []timeline.Operand
		want string
	}{
		{nil, "-1 "},
		{[]timeline.Operand{of("float", []int64{4, 3})}, "12 float"},
		{[]timeline.Operand{of("float", []int64{4, 3}, []int64{5})}, "17 float"},
		{[]timeline.Operand{of("float", []int64{4}), of("half", []int64{9})}, "9 half"},
		{[]timeline.Operand{of("float", []int64{9}), of("half", []int64{9})}, "9 float"},
		{[]timeline.Operand{of("float", []int64{4}), of("half", []int64{5}), of("half", []int64{99})}, "5 half"},
		{[]timeline.Operand{of("float"), of("", []int64{})}, "-1 "},
		{[]timeline.Operand{of("float", []int64{}), of("", []int64{})}, "1 float"},
		{[]timeline.Operand{of("group", []int64{7})}, "7 "},
	} {
		n, dtype := ownElements(test.ops)
		if got := fmt.Sprint(n, " ", dtype); got != test.want {
			t.Errorf("%v: %q, want %q", test.ops, got, test.want)
		}
	}
}

// TestInstanceArithmetic: which number most parameters vote for, and since when gradients are those
// of an optimizer's next update.
func TestInstanceArithmetic(t *testing.T) {
	for _, test := range []struct {
		votes map[int]int
		want  int
	}{
		{nil, Unknown}, {map[int]int{2: 1}, 2}, {map[int]int{2: 5, 3: 4}, 2}, {map[int]int{2: 5, 3: 5}, 3},
		{map[int]int{1: 1, 2: 3, 4: 2}, 2},
	} {
		for range 8 { // maps have no order
			if got := mostVoted(test.votes); got != test.want {
				t.Fatalf("%v: %d, want %d", test.votes, got, test.want)
			}
		}
	}
	r := instanceRun{touches: touches{counts: []int{4, 0, 6}}, spans: 1}
	pass := func(accumulated, added []int) Backward { return Backward{Accumulated: accumulated, Added: added} }
	sets, adds := pass([]int{4, 0, 6}, []int{0, 0, 0}), pass([]int{4, 0, 6}, []int{4, 0, 6})
	for _, test := range []struct {
		name   string
		passes []Backward
		want   int
	}{
		{"nothing", nil, 0}, {"one", []Backward{sets}, 0}, {"set twice", []Backward{sets, sets}, 1}, {"added",
			[]Backward{sets, adds}, 0},
		{"set, then added to", []Backward{sets, sets, adds}, 1},
		{"set in part", []Backward{sets, pass([]int{4, 0, 6}, []int{1, 0, 0})}, 1},
		{"added to in part", []Backward{sets, pass([]int{4, 0, 6}, []int{3, 0, 0})}, 0},
		{"half of it is reached", []Backward{sets, pass([]int{0, 9, 5}, []int{0, 0, 0})}, 1},
		{"less is", []Backward{sets, pass([]int{4, 9, 0}, []int{0, 0, 0})}, 0},
	} {
		if got := r.lastClear(test.passes); got != test.want {
			t.Errorf("%s: %d, want %d", test.name, got, test.want)
		}
	}
	r.spans = 2
	if r.lastClear([]Backward{sets, sets}) != 0 {
		t.Error("of several one cannot be told")
	}
	runs := []instanceRun{{step: 7}}
	for _, kind := range []int{1, 2, 1, 1} {
		runs = addRun(runs, 1, instanceRun{touches: touches{kind: kind}, spans: 1})
	}
	var text []string
	for _, r := range runs {
		text = append(text, fmt.Sprint(r.kind, "x", r.spans))
	}
	if got := strings.Join(text, " "); got != "0x0 1x3 2x1" {
		t.Error(got)
	}
	for want, list := range map[bool][][]instanceRun{
		false: {nil, {{spans: 1}}}, true: {{{spans: 2}}, {{spans: 1}, {spans: 1}}},
	} {
		for _, runs := range list {
			if severalRuns(runs) != want {
				t.Errorf("%v", runs)
			}
		}
	}
}
