package gradients

import (
	"fmt"
	"testing"

	"github.com/gaprof/gaprof/analyze/steps"
)

// TestTouched: how many parameters of each class an optimizer's span touches: of its operators in
// place that go over tensors of a class, the one with the fewest has one each.
func TestTouched(t *testing.T) {
	const span = "1/1 100 +80 user_annotation Optimizer.step#A.step\n"
	op := func(at int, name, dims string) string {
		return fmt.Sprintf("1/1 %d +4 cpu_op %s dims=%s\n", at, name, dims)
	}
	for _, test := range []struct{ what, rows, want string }{
		{"nothing", "", "[0 0]"},
		{"both", op(100, "aten::addcdiv_", "[[8],[8]]") + op(110, "aten::addcdiv_", "[[9]]"), "[1 1]"},
		{"of two, one is in both operators", op(100, "aten::mul_", "[[8]]") + op(110, "aten::mul_", "[[8]]") +
			op(120, "aten::addcdiv_", "[[8]]"), "[1 0]"},
		{"two of a class", op(100, "aten::mul_", "[[8]]") + op(110, "aten::mul_", "[[8]]"), "[2 0]"},
		{"a list", op(110, "aten::_foreach_add_", "[[[8],[8],[9]],[]]"), "[2 1]"},
		{"not in place", op(110, "aten::mul", "[[8]]"), "[0 0]"},
		{"no parameter's shape", op(110, "aten::mul_", "[[7]]"), "[0 0]"},
		{"inside another operator", op(110, "aten::addcdiv_", "[[8]]") + "1/1 111 +2 cpu_op aten::mul_ dims=[[9]]\n",
			"[1 0]"},
		{"after the span", op(180, "aten::mul_", "[[8]]"), "[0 0]"},
		{"before it", op(90, "aten::mul_", "[[8]]"), "[0 0]"},
		{"without shapes", "1/1 110 +4 cpu_op aten::mul_\n", "[0 0]"},
		{"in the closure", op(105, "aten::mul_", "[[9]]") +
			"1/1 110 +9 cpu_op \"autograd::engine::evaluate_function: MmBackward0\"\n" +
			op(119, "aten::mul_", "[[8]]"), "[1 0]"},
	} {
		x := rankOf(t, span+test.rows)
		s := newStepping(x, classesOf([2]int64{1, 8}, [2]int64{1, 9}))
		if got := fmt.Sprint(s.touched(x.Optimizers[0]).counts); got != test.want {
			t.Errorf("%s: %s, want %s", test.what, got, test.want)
		}
	}
}

// TestTouchedBetween: what the spans between two instants touch, each counted by itself.
func TestTouchedBetween(t *testing.T) {
	const source = `
1/1 10 +10 user_annotation Optimizer.step#A.step
1/1 11 +1 cpu_op aten::mul_ dims=[[8]]
1/1 12 +1 cpu_op aten::mul_ dims=[[8]]
1/1 13 +1 cpu_op aten::addcdiv_ dims=[[8]]
1/1 14 +1 cpu_op aten::addcdiv_ dims=[[8]]
1/1 30 +10 user_annotation Optimizer.step#A.step
1/1 31 +1 cpu_op aten::mul_ dims=[[8]]
1/1 50 +10 user_annotation Optimizer.step#A.step
1/1 51 +1 cpu_op aten::mul_ dims=[[9]]
1/1 70 +10 user_annotation Optimizer.step#A.step
1/1 71 +1 cpu_op aten::lerp_ dims=[[8]]
`
	x := rankOf(t, source)
	params := classesOf([2]int64{2, 8}, [2]int64{1, 9})
	s := newStepping(x, params)
	for _, test := range []struct {
		start, end int64
		want       string
	}{{0, 100, "[4 1]"}, {20, 100, "[2 1]"}, {19, 100, "[4 1]"}, {0, 30, "[2 0]"}, {0, 31, "[3 0]"}, {40, 50, "[0 0]"},
		{45, 60, "[0 1]"}, {90, 100, "[0 0]"}} {
		if got := fmt.Sprint(s.between(test.start, test.end)); got != test.want {
			t.Errorf("[%d,%d): %s, want %s", test.start, test.end, got, test.want)
		}
	}
	var kinds []int
	for _, span := range x.Optimizers {
		kinds = append(kinds, s.touched(span).kind)
	}
	if kinds[1] != kinds[3] || kinds[0] == kinds[1] || kinds[1] == kinds[2] || kinds[0] == kinds[2] {
		t.Errorf("kinds %v", kinds)
	}
	first := s.touched(x.Optimizers[0])
	if again := s.touched(x.Optimizers[0]); &again.counts[0] != &first.counts[0] || again.kind != first.kind {
		t.Error("a span is looked at twice")
	}
	step := &steps.Step{Update: steps.Interval{Start: 30, End: 80}, HostEnd: 80} // touches two of 8 and one of 9
	for _, test := range []struct {
		passes [][]int
		want   bool
	}{
		{[][]int{{2, 1}}, true}, {[][]int{{3, 1}}, true}, {[][]int{{1, 1}, {1, 1}}, false}, {[][]int{{1, 1}, {2, 0}},
			true},
		{[][]int{{2, 0}}, false}, {nil, false},
	} {
		var passes []Backward
		for _, n := range test.passes {
			passes = append(passes, Backward{Accumulated: n})
		}
		if got := s.once(step, passes); got != test.want {
			t.Errorf("of passes that reach %v: once %v", test.passes, got)
		}
	}
	params.Classes[1].Count = 0 // no parameter after all
	if !s.once(step, []Backward{{Accumulated: []int{2}}}) {
		t.Error("what is no parameter counts")
	}
	if s = newStepping(x, params); !s.once(&steps.Step{Update: steps.Interval{Start: 90}, HostEnd: 95}, nil) {
		t.Error("an update that touches nothing")
	}
}
