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
