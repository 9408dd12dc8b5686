package gradients

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/steps"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace/text"
)

// reducing is one step whose gradients of 100, 300 and 100 elements are ready at 23, 43 and
// 63, with all-reduces of so many elements at such times.
func reducing(calls ...[2]int) string {
	var b strings.Builder
	for i, n := range []int{100, 300, 100} {
		t := 10 + 20*i
		const node = "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad"
		fmt.Fprintf(&b, "1/2 %d +18 cpu_op %q\n", t, node)
		fmt.Fprintf(&b, "1/2 %d +2 cpu_op torch::autograd::AccumulateGrad dims=[[%d]] type=[\"float\"]\n", t+11, n)
	}
	for _, c := range calls {
		const call = "1/2 %d +1 cpu_op record_param_comms coll=allreduce in=%d out=%d dtype=Float\n"
		fmt.Fprintf(&b, call, c[0], c[1], c[1])
	}
	b.WriteString("1/1 100 +10 user_annotation Optimizer.step#A.step\n")
	return b.String()
}

func TestReadiness(t *testing.T) {
	inOrder := [][2]int{{24, 100}, {44, 300}, {64, 100}}
	for _, test := range []struct{ name, source, want string }{
		{"in order", reducing(inOrder...), "1 of 100, 1 of 400, 1 of 500"},
		{"the first waits for the last", reducing([2]int{64, 100}, [2]int{65, 300}, [2]int{66, 100}),
			"41 of 500, 22 of 500, 3 of 500"},
		{"one bucket", reducing([2]int{65, 500}), "2 of 500"},
		{"after backward nothing is said", reducing([2]int{24, 100}, [2]int{44, 300}, [2]int{90, 100}),
			"0 of 0, 0 of 0, 0 of 0"},
		{"padded by a fiftieth", reducing([2]int{64, 510}), "1 of 500"},
		{"padded by more", reducing([2]int{64, 511}), "0 of 0"},
		{"a fiftieth less", reducing([2]int{64, 491}), "1 of 500"},
		{"less than that", reducing([2]int{64, 490}), "0 of 0"},
		{"before any is ready", reducing([2]int{20, 100}, [2]int{44, 300}, [2]int{64, 100}),
			"0 of 0, 1 of 400, 1 of 500"},
		{"as soon as they are ready", reducing([2]int{23, 100}, [2]int{43, 300}, [2]int{63, 100}),
			"0 of 100, 0 of 400, 0 of 500"},
		{"larger than what was ready first", reducing([2]int{24, 101}, [2]int{64, 399}), "0 of 100, 1 of 500"},
		{"of an unknown size", strings.Replace(reducing(inOrder...), "in=300 out=300", "", 1),
			"0 of 0, 0 of 0, 0 of 0"},
		{"and a number that is none of them", reducing([2]int{24, 100}, [2]int{44, 300}, [2]int{50, 1},
			[2]int{64, 100}), "1 of 100, 1 of 400, 0 of 0, 1 of 500"},
		{"not all of the gradients", reducing([2]int{64, 100}, [2]int{65, 300}), "0 of 0, 0 of 0"},
		{"twice all gradients", reducing([2]int{64, 500}, [2]int{65, 500}), "0 of 0, 0 of 0"},
		{"two kinds", strings.Replace(reducing(inOrder...), "allreduce in=300", "_reduce_scatter_base in=300", 1),
			"0 of 0, 0 of 0, 0 of 0"},
		{"no shapes", strings.ReplaceAll(reducing(inOrder...), "dims=", "concrete="), "0 of 0, 0 of 0, 0 of 0"},
	} {
		tr, err := text.Read(strings.NewReader(test.source), "test")
		if err != nil {
			t.Fatal(err)
		}
		x := timeline.New(tr).Ranks[0]
		g, _ := Compute(x, steps.Find(x), FindBackwards(x), 0)
		var got []string
		for _, c := range g.HostCollectives {
			got = append(got, fmt.Sprintf("%d of %d", c.Waited, c.Ready))
		}
		if text := strings.Join(got, ", "); text != test.want {
			t.Errorf("%s: %s, want %s", test.name, text, test.want)
		}
	}
}

// TestReadyIn: when the gradients of a pass are final, on any thread.
func TestReadyIn(t *testing.T) {
	grad := func(thread, at, length, numel int) string {
		const row = "1/%d %d +%d cpu_op torch::autograd::AccumulateGrad dims=[[%d]] type=[\"float\"]\n"
		return fmt.Sprintf(row, thread, at, length, numel)
	}
	pass := &Backward{Start: 10, End: 100, Accumulated: []int{1, 1, 1}}
	for _, test := range []struct{ what, source, want string }{
		{"in order", grad(1, 10, 5, 100) + grad(1, 20, 5, 300), "[{15 100} {25 400}]"},
		{"before the pass", grad(1, 5, 5, 7) + grad(1, 10, 5, 100), "[{15 100}]"},
		{"after the pass", grad(1, 10, 5, 100) + grad(1, 100, 5, 7), "[{15 100}]"},
		{"other nodes", "1/1 10 +5 cpu_op \"autograd::engine::evaluate_function: MmBackward0\"\n" + grad(1, 20, 5, 300),
			"[{25 300}]"},
		{"on two threads, one after the other", grad(1, 10, 5, 100) + grad(2, 20, 5, 300), "[{15 100} {25 400}]"},
		{"at once, the later one first", grad(1, 10, 50, 100) + grad(2, 20, 5, 300), "[]"},
		{"without shapes", "1/1 10 +5 cpu_op torch::autograd::AccumulateGrad\n", "[]"},
		{"of no elements", grad(1, 10, 5, 100) + grad(1, 20, 5, 0) + grad(1, 30, 5, 1), "[{15 100} {25 100} {35 101}]"},
		{"none", "1/1 10 +5 cpu_op aten::mul_\n", "[]"},
	} {
		if got := fmt.Sprint(readyIn(rankOf(t, test.source), pass)); got != test.want {
			t.Errorf("%s: %s, want %s", test.what, got, test.want)
		}
	}
	one := rankOf(t, grad(1, 10, 5, 100)+grad(1, 20, 5, 300))
	for _, test := range []struct {
		what  string
		elems []int64
		want  string
	}{
		{"two of two", []int64{100, 300}, "[20 15]"}, {"one of two", []int64{400}, "[5]"}, {"one element",
			[]int64{399, 1},
			"[5 15]"}, {"none", []int64{400, 0}, "[0 0]"},
	} {
		var list []HostCollective
		for i, n := range test.elems {
			list = append(list, HostCollective{Event: timeline.Event{Start: int64(30 + 10*i)}, Elems: n, Gradient: true,
				Kind: timeline.AllReduce})
		}
		if test.elems[0] == 100 {
			list[0].Event.Start = 35
		}
		readiness(one, []Backward{*pass}, list)
		var waited []int64
		for _, c := range list {
			waited = append(waited, c.Waited)
		}
		if got := fmt.Sprint(waited); got != test.want {
			t.Errorf("%s: %s, want %s", test.what, got, test.want)
		}
	}
	single := rankOf(t, grad(1, 10, 5, 100))
	list := []HostCollective{{Event: timeline.Event{Start: 30}, Elems: 100, Gradient: true, Kind: timeline.AllReduce},
		{Event: timeline.Event{Start: 30}, Backward: 1}, {Event: timeline.Event{Start: 30}, Backward: -1}}
	if readiness(single, []Backward{*pass}, list); list[0].Waited != 0 {
		t.Error("of a single gradient there is no order")
	}
}
