package facts

import (
	"fmt"
	"strings"
	"testing"
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
	for before, want := range map[string]string{
		"c": "[1]", "bc": "[2]", "abc": "[3]", "cabc": "[1 3]", "bcabc": "[2 3]", "abcabc": "[3 3]",
	} {
		var b strings.Builder
		at := 0
		for _, letter := range before {
			fmt.Fprintf(&b, "0/20 %d +1 kernel ncclDevKernel_AllReduce_%c\n", at+5, letter)
			at += 10
		}
		for i, letter := range "abcabc" {
			fmt.Fprintf(&b, `1/2 %d +6 cpu_op "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad"
1/2 %d +2 cpu_op torch::autograd::AccumulateGrad
1/2 %d +1 cuda_runtime cudaLaunchKernelExC corr=%d
0/20 %d +1 kernel ncclDevKernel_AllReduce_%c corr=%[4]d
`, at, at+1, at+3, i+1, at+5, letter)
			at += 10
			if letter == 'c' {
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
		if got := fmt.Sprint(sizes); got != want {
			t.Errorf("%s before two steps of abc: groups of %s, want %s", before, got, want)
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
