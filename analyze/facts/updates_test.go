package facts

import (
	"fmt"
	"strings"
	"testing"
)

// parts are what a training loop is made of, each 100 ns: @0 to @4 stand for 0 to 40 ns after its beginning.
var parts = map[string]string{
	"forward": `1/1 @0 +9 cpu_op aten::linear dims=[[8,4],[4,4],[4]] type=["float","float","float"]`,
	"sets": `1/1 @0 +9 cpu_op "autograd::engine::evaluate_function: AddmmBackward0"
1/1 @1 +9 cpu_op "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad"
1/1 @1 +8 cpu_op torch::autograd::AccumulateGrad dims=[[4,4]] type=["float"]
1/1 @1 +7 cpu_op aten::detach
1/1 @2 +9 cpu_op "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad"
1/1 @2 +8 cpu_op torch::autograd::AccumulateGrad dims=[[4]] type=["float"]
1/1 @2 +7 cpu_op aten::detach`,
	"adds": `1/1 @0 +9 cpu_op "autograd::engine::evaluate_function: AddmmBackward0"
1/1 @1 +9 cpu_op "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad"
1/1 @1 +8 cpu_op torch::autograd::AccumulateGrad dims=[[4,4]] type=["float"]
1/1 @1 +7 cpu_op aten::add_ dims=[[4,4],[4,4],[]] type=["float","float","Scalar"]
1/1 @2 +9 cpu_op "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad"
1/1 @2 +8 cpu_op torch::autograd::AccumulateGrad dims=[[4]] type=["float"]
1/1 @2 +7 cpu_op aten::add_ dims=[[4],[4],[]] type=["float","float","Scalar"]`,
	"half": `1/1 @0 +9 cpu_op "autograd::engine::evaluate_function: AddmmBackward0"
1/1 @1 +9 cpu_op "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad"
1/1 @1 +8 cpu_op torch::autograd::AccumulateGrad dims=[[4,4]] type=["float"]
1/1 @1 +7 cpu_op aten::add_ dims=[[4,4],[4,4],[]] type=["float","float","Scalar"]
1/1 @2 +9 cpu_op "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad"
1/1 @2 +8 cpu_op torch::autograd::AccumulateGrad dims=[[4]] type=["float"]`,
	"zero_grad": `1/1 @0 +9 user_annotation Optimizer.zero_grad#A.zero_grad`,
	"zeros":     `1/1 @0 +9 cpu_op aten::_foreach_zero_ dims=[[[4,4],[4]]] type=["TensorList"]`,
	"one zero":  `1/1 @0 +9 cpu_op aten::zero_ dims=[[4]] type=["float"]`,
	"step": `1/1 @0 +50 user_annotation Optimizer.step#A.step
1/1 @1 +9 cpu_op aten::_foreach_add_ dims=[[[4,4],[4]],[[4,4],[4]],[]] type=["TensorList","TensorList","Scalar"]`,
	"idle step": `1/1 @0 +50 user_annotation Optimizer.step#A.step
1/1 @1 +30 python_function "torch/optim/optimizer.py(1): step"
1/1 @2 +15 user_annotation Optimizer.step#Base.step`,
	"mark": `1/1 @0 +9 cpu_op aten::_foreach_norm dims=[[[4,4],[4]],[]] type=["TensorList","Scalar"]`,
	"next": `1/1 @0 +9 cpu_op aten::item`,
	"reduce-scatter": `1/1 @0 +9 cpu_op record_param_comms coll=_reduce_scatter_base in=20 out=10 dtype=Float gsize=2
1/1 @1 +3 cpu_op c10d::_reduce_scatter_base_`,
	"in backward": `1/1 @0 +90 cpu_op "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad"
1/1 @1 +8 cpu_op torch::autograd::AccumulateGrad dims=[[4,4]] type=["float"]
1/1 @2 +20 user_annotation Optimizer.step#B.step
1/1 @4 +9 user_annotation Optimizer.zero_grad#B.zero_grad`,
}

// loop writes the trace of a loop, from the names of its parts.
func loop(t *testing.T, names string) string {
	t.Helper()
	var b strings.Builder
	for i, name := range strings.Split(names, ", ") {
		part, ok := parts[name]
		if !ok {
			t.Fatalf("%q is no part of a loop", name)
		}
		at := 1000 + 100*i
		for k := range 5 {
			part = strings.ReplaceAll(part, fmt.Sprint("@", k), fmt.Sprint(at+10*k))
		}
		b.WriteString(part + "\n")
	}
	return b.String()
}

// TestClears: what is said of when gradients are cleared.
func TestClears(t *testing.T) {
	for _, test := range []struct{ loop, kept, blank, inside, zeros string }{
		{"forward, sets, step, zero_grad, forward, sets, step", "[]", "[]", "[]", "[1]"},
		{"forward, sets, step, forward, adds, step", "[1]", "[]", "[]", "[]"},
		{"forward, sets, step, forward, half, step", "[]", "[]", "[]", "[]"},
		{"forward, adds, step", "[]", "[]", "[]", "[]"},
		{"forward, sets, step, zero_grad, forward, adds, step", "[]", "[]", "[]", "[1]"},
		{"forward, sets, zero_grad, step, forward, adds, step", "[1]", "[]", "[]", "[0]"},
		{"forward, sets, step, forward, sets, forward, adds, step", "[]", "[]", "[]", "[]"},
		{"forward, sets, step, forward, adds, forward, adds, step", "[1]", "[]", "[]", "[]"},
		{"forward, sets, step, forward, adds, step, forward, adds, step, zero_grad, next", "[1 2]", "[]", "[]", "[-1]"},
		{"forward, sets, step, forward, adds, zeros, step", "[1]", "[1 aten::_foreach_zero_]", "[]", "[]"},
		{"forward, sets, zeros, step, forward, sets, step", "[]", "[0 aten::_foreach_zero_]", "[]", "[]"},
		{"forward, sets, one zero, step, forward, sets, step", "[]", "[]", "[]", "[]"},
		{"forward, sets, zero_grad, idle step, forward, sets, zero_grad, idle step", "[]",
			"[0 Optimizer.zero_grad#A.zero_grad 1 Optimizer.zero_grad#A.zero_grad]", "[]", "[0 1]"},
		{"forward, sets, zero_grad, step, forward, sets, step", "[]", "[]", "[]", "[0]"},
		{"zero_grad, forward, sets, idle step, zero_grad, forward, sets, idle step", "[]", "[]", "[]", "[0 1]"},
		{"forward, sets, zero_grad, forward, sets, step", "[]", "[]", "[0 Optimizer.zero_grad#A.zero_grad]", "[0]"},
		{"forward, sets, zero_grad, forward, adds, step", "[]", "[]", "[0 Optimizer.zero_grad#A.zero_grad]", "[0]"},
		{"forward, sets, forward, sets, step", "[]", "[]",
			"[0 autograd::engine::evaluate_function: torch::autograd::AccumulateGrad]", "[]"},
		{"forward, sets, reduce-scatter, forward, sets, step", "[]", "[]", "[]", "[]"},
		{"forward, sets, forward, adds, step", "[]", "[]", "[]", "[]"},
		{"step, forward, sets, step", "[]", "[]", "[]", "[]"},
		{"forward, sets, step, forward, step, forward, sets, step", "[]", "[]", "[]", "[]"},
		{"forward, in backward, forward, in backward", "[]", "[]", "[]", "[1 -1]"},
	} {
		r := one(t, loop(t, test.loop))
		clears := func(list []Clear, named bool) string {
			var words []string
			for _, c := range list {
				words = append(words, fmt.Sprint(c.Step))
				if named {
					words = append(words, c.Event.Name)
				}
			}
			return fmt.Sprint(words)
		}
		var inside []string
		for _, z := range r.ZeroInside {
			inside = append(inside, fmt.Sprint(z.Step, " ", z.Event.Name))
		}
		got := []string{clears(r.Kept, false), clears(r.Blank, true), fmt.Sprint(inside), fmt.Sprint(r.ZeroSteps)}
		if want := []string{test.kept, test.blank, test.inside, test.zeros}; strings.Join(got,
			" ") != strings.Join(want, " ") {
			t.Errorf("%s:\ngot  %q\nwant %q", test.loop, got, want)
		}
	}
}

// TestCleared: by zero_grad or by a pass that fills all gradients with zeros, in that step.
func TestCleared(t *testing.T) {
	r := one(t, loop(t,
		"forward, sets, step, zero_grad, forward, sets, step, forward, sets, zeros, step, forward, sets, mark, step"))
	var got []bool
	for i := range r.Steps {
		got = append(got, r.Cleared(i))
	}
	if fmt.Sprint(got) != "[false true true false]" {
		t.Error(got)
	}
}

// TestRunsOfOptimizers: what each optimizer makes the device do, and how long that does nothing
// in between.
func TestRunsOfOptimizers(t *testing.T) {
	const source = `
1/1 10 +1 cpu_op torch::autograd::AccumulateGrad
1/1 20 +40 user_annotation Optimizer.step#A.step
1/1 25 +1 cuda_runtime cudaLaunchKernel corr=1
1/1 35 +1 cuda_runtime cudaLaunchKernel corr=2
1/1 36 +1 cuda_runtime cudaLaunchKernel corr=3
1/1 70 +20 user_annotation Optimizer.step#B.step
1/1 75 +1 cuda_runtime cudaLaunchKernel corr=4
1/1 100 +1 cpu_op torch::autograd::AccumulateGrad
1/1 120 +9 user_annotation Optimizer.step#A.step
0/7 60 +5 kernel first corr=1
0/7 75 +25 kernel second corr=2
0/8 55 +3 kernel third corr=3
0/7 110 +5 kernel fourth corr=4
`
	want := "A step 0: 3 events [55,100) idle 12\nB step 0: 1 events [110,115) idle 0\n" +
		"A step 1: 0 events [0,0) idle 0\n"
	if got := runsText(one(t, source)); got != want {
		t.Errorf("got:\n%swant:\n%s", got, want)
	}
	several := one(t, source+"1/1 41 +1 cuda_runtime cudaLaunchKernel corr=5\n1/9 200 +5 kernel other corr=5")
	if got := runsText(several); !strings.HasPrefix(got, "A step 0: 4 events [55,205) idle 0\n") {
		t.Error(got)
	}
	backward := one(t, loop(t, "forward, in backward, forward, in backward"))
	if names := fmt.Sprint(backward.InBackward(0), backward.InBackward(1), backward.InBackward(2),
		r0(t).InBackward(0)); names !=
		"map[B:true] map[B:true] map[] map[]" {
		t.Error(names)
	}
}

func r0(t *testing.T) *Rank { t.Helper(); return one(t, loop(t, "forward, sets, step")) }

func runsText(r *Rank) string {
	var b strings.Builder
	for _, o := range r.OptimizerRuns {
		fmt.Fprintf(&b, "%s step %d: %d events [%d,%d) idle %d\n", o.Name, o.Step, o.Events, o.Start, o.End, o.Idle)
	}
	return b.String()
}
