package facts

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/trace"
)

// A duration is said in a unit in which it has few digits.
func TestLength(t *testing.T) {
	for ns, want := range map[int64]string{
		0: "0.00 ms", 950e6: "950.00 ms", 1e9: "1.0 s", 59 * 60e9: "3540.0 s", 3600e9: "1.0 hours", 36e12: "10.0 hours",
	} {
		if got := length(ns); got != want {
			t.Errorf("%d ns: %s, want %s", ns, got, want)
		}
	}
}

// The span in which a stream is told to wait may hold other calls before that one.
func TestWaitAfterOtherCalls(t *testing.T) {
	source := strings.ReplaceAll(recycling, "COPY", "50002")
	wait := "1/2 415 +5 cuda_runtime cudaStreamWaitEvent"
	for _, calls := range []string{
		"1/2 411 +2 cuda_runtime cudaEventQuery\n" + wait,
		"1/2 411 +2 cpu_op aten::view\n1/2 413 +1 cuda_runtime cudaEventRecord\n" + wait,
	} {
		r := one(t, strings.Replace(source, wait, calls, 1))
		if len(r.BufferWaits) != 1 {
			t.Errorf("%s: %d waits", calls, len(r.BufferWaits))
		}
	}
}

// Collectives that a period tells the sites of are one group a period, also where the sites
// are all alike.
func TestGroupsOfPeriods(t *testing.T) {
	for _, test := range []struct{ before, period, want string }{
		{"c", "abc", "[1]"}, {"bc", "abc", "[2]"}, {"abc", "abc", "[3]"}, {"cabc", "abc", "[1 3]"},
		{"bcabc", "abc", "[2 3]"},
		{"abcabc", "abc", "[3 3]"}, {"a", "a", "[1]"}, {"aaa", "a", "[1 1 1]"}, {"b", "a", "[]"},
	} {
		var b strings.Builder
		at := 0
		for _, letter := range test.before {
			fmt.Fprintf(&b, "0/20 %d +1 kernel ncclDevKernel_AllReduce_%c\n", at+5, letter)
			at += 10
		}
		for i, letter := range test.period + test.period {
			fmt.Fprintf(&b, `1/2 %d +6 cpu_op "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad"
1/2 %d +2 cpu_op torch::autograd::AccumulateGrad
1/2 %d +1 cuda_runtime cudaLaunchKernelExC corr=%d
0/20 %d +1 kernel ncclDevKernel_AllReduce_%c corr=%[4]d
`, at, at+1, at+3, i+1, at+5, letter)
			at += 10
			if (i+1)%len(test.period) == 0 {
				fmt.Fprintf(&b, "1/1 %d +5 user_annotation Optimizer.step#A.step\n", at)
				at += 10
			}
		}
		var sizes []int
		for _, g := range one(t, b.String()).Groups {
			if g.Inferred {
				sizes = append(sizes, len(g.Members))
			}
		}
		if got := fmt.Sprint(sizes); got != test.want {
			t.Errorf("%s before two steps of %s: groups of %s, want %s", test.before, test.period, got, test.want)
		}
	}
}

// A reduce-scatter of which the host does not tell has the gradients of what goes in, even
// where a rank is left with one number of them.
func TestReduceScatterToOneNumber(t *testing.T) {
	const source = `1/2 10 +9 cpu_op "autograd::engine::evaluate_function: MulBackward0"
1/2 11 +7 cpu_op torch::autograd::AccumulateGrad
1/2 12 +1 cuda_runtime l corr=1
1/1 30 +9 user_annotation Optimizer.step#A.step
0/7 40 +1 kernel ncclDevKernel_ReduceScatter corr=1 coll=reduce_scatter in=IN out=1 dtype=Float gsize=64`
	for in, want := range map[string]string{"64": "gradient_sync", "2": "backward"} {
		x := index(t, strings.Replace(source, "IN", in, 1))
		device := x.Ranks[0].Devices[0]
		got := NewPhases(x.Ranks[0], Compute(x)[0]).Phase(device.Rows[0], device.Launch[0])
		if string(got) != want {
			t.Errorf("%s numbers in: %s, want %s", in, got, want)
		}
	}
}

// Arrows from launches that end at no device event are lost events, where they are more than
// a file without loss has and fewer than a writer that draws them otherwise.
func TestArrowsToNothing(t *testing.T) {
	for bare, want := range map[int]string{
		0: "", 1: "1 of 200 arrows from launches", 159: "159 of 200 arrows from launches", 160: "", 200: "",
	} {
		var b strings.Builder
		for i := range 200 {
			fmt.Fprintf(&b, "1/1 %d +2 cuda_runtime cudaLaunchKernel corr=%d\n", 10*i, i+1)
			fmt.Fprintf(&b, "1/1 %d s ac2g ac2g corr=%d\n", 10*i, i+1)
			fmt.Fprintf(&b, "0/7 %d f ac2g ac2g corr=%d\n", 10*i+5, i+1)
			if i >= bare {
				fmt.Fprintf(&b, "0/7 %d +1 kernel a corr=%d\n", 10*i+5, i+1)
			}
		}
		got := said(one(t, b.String()), trace.LostLaunches)
		if (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%d of 200: %q, want %q", bare, got, want)
		}
	}
}

// What runs after the last update, of a step that was not recorded to its end, changes no
// phase of the step before.
func TestPhaseBeforeACutStep(t *testing.T) {
	const cut = `
1/2 80 +9 cpu_op "autograd::engine::evaluate_function: MmBackward0"
1/2 82 +2 cpu_op torch::autograd::AccumulateGrad
1/1 95 +1 cuda_runtime l corr=8
0/7 108 +1 kernel h corr=8`
	phases := func(source string) (list []string) {
		x := index(t, source)
		p := NewPhases(x.Ranks[0], Compute(x)[0])
		for _, d := range x.Ranks[0].Devices {
			for i, row := range d.Rows {
				list = append(list, string(p.Phase(row, d.Launch[i])))
			}
		}
		return list
	}
	whole, more := phases(step), phases(step+cut)
	if n := len(whole) - 1; fmt.Sprint(whole[:n]) != fmt.Sprint(more[:n]) || whole[n] != "unknown" ||
		fmt.Sprint(more[n:]) != "[forward unknown]" {
		t.Errorf("%v, with another backward pass %v", whole, more)
	}
}

// A span that waits for no event is none of these, whatever its thread does before or after it.
func TestWaitsBesideTheSpan(t *testing.T) {
	const wait = "1/2 415 +5 cuda_runtime cudaStreamWaitEvent"
	for name, test := range map[string]struct {
		from, to string
		want     int
	}{
		"before the span":        {wait, "1/2 405 +3 cuda_runtime cudaStreamWaitEvent", 0},
		"after the span":         {wait, "1/2 432 +3 cuda_runtime cudaStreamWaitEvent", 0},
		"it ends with a launch":  {"1/2 500 +10 ", "1/2 430 +10 ", 1},
		"it ends after a launch": {"1/2 500 +10 ", "1/2 429 +10 ", 0},
	} {
		source := strings.Replace(strings.ReplaceAll(recycling, "COPY", "50002"), test.from, test.to, 1)
		if got := len(one(t, source).BufferWaits); got != test.want {
			t.Errorf("%s: %d, want %d", name, got, test.want)
		}
	}
}

// Compilation within the loading of a graph, or around it, is one time.
func TestCompilationAndGraphs(t *testing.T) {
	const step = "\n1/1 60 +5 user_annotation Optimizer.step#A.step"
	for source, want := range map[string]string{
		"1/1 10 +20 cuda_runtime cudaGraphInstantiate\n1/1 35 +5 cpu_op compile_fx": "[25] G compile_fx",
		"1/1 10 +20 cpu_op compile_fx\n1/1 35 +5 cuda_runtime cudaGraphInstantiate": "[25] compile_fx G",
		"1/1 10 +30 cuda_runtime cudaGraphInstantiate\n1/1 20 +5 cpu_op compile_fx": "[30] G compile_fx",
	} {
		w := one(t, source+step).Warmup
		got := fmt.Sprint(w.Compiling)
		for _, e := range w.Compiled {
			got += " " + strings.Replace(e.Name, "cudaGraphInstantiate", "G", 1)
		}
		if got != want {
			t.Errorf("%s: %s, want %s", source, got, want)
		}
	}
}

// Collectives of which the host tells, and that no device ran in one of the steps, are lost.
func TestCollectivesThatNeverRan(t *testing.T) {
	source := func(lost int) string {
		var b strings.Builder
		for i := range 12 {
			at := 100 * i
			fmt.Fprintf(&b, `1/2 %d +9 cpu_op "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad"
1/2 %d +7 cpu_op torch::autograd::AccumulateGrad dims=[[8,8]] type=["float"]
1/2 %d +4 cpu_op record_param_comms coll=allreduce in=64 out=64 dtype=Float gsize=2
`, at, at+1, at+2)
			if i >= lost {
				fmt.Fprintf(&b, "1/2 %d +1 cuda_runtime cudaLaunchKernelExC corr=%d\n", at+3, i+1)
				fmt.Fprintf(&b, "0/20 %d +9 kernel ncclDevKernel_AllReduce corr=%d\n", at+20, i+1)
			}
			if i%4 == 3 {
				fmt.Fprintf(&b, "1/1 %d +9 user_annotation Optimizer.step#A.step\n", at+50)
			}
		}
		return b.String()
	}
	for lost, want := range map[int]string{0: "", 1: "ran 11 of 12"} {
		r := one(t, source(lost))
		if got := said(r, trace.LostLaunches); (got == "") != (want == "") || !strings.HasSuffix(got, want) ||
			times(r, trace.LostLaunches) != int64(lost) {
			t.Errorf("%d lost: %q, want %q, of %v", lost, got, want, r.Problems)
		}
	}
}
