package facts

import (
	"fmt"
	"strings"
	"testing"
)

// recycling is a step in which a reduce-scatter runs from 100 to 50000 ns, backward computes
// to 20000, and a copy is launched at 500, after a span that makes its stream wait. It ends
// with the start of the copy.
const recycling = `1/2 10 +80 cpu_op "autograd::engine::evaluate_function: MulBackward0"
1/2 20 +1 cuda_runtime cudaLaunchKernel corr=1
1/2 30 +1 cuda_runtime cudaLaunchKernel corr=2
1/2 400 +300 cpu_op "autograd::engine::evaluate_function: MulBackward0"
1/2 410 +20 user_annotation "FSDP::post_backward_rs_wait (layers.0)"
1/2 415 +5 cuda_runtime cudaStreamWaitEvent
1/2 500 +10 cuda_runtime cudaLaunchKernel corr=3
1/2 600 +10 cuda_runtime cudaLaunchKernel corr=4
1/2 690 +5 cpu_op torch::autograd::AccumulateGrad
1/1 900 +50 user_annotation Optimizer.step#A.step
0/7 90 +19910 kernel gemm corr=1
0/23 100 +49900 kernel ncclDevKernel_ReduceScatter corr=2
0/7 90000 +10 kernel later corr=4
0/7 COPY +10 kernel chunk_cat corr=3`

// A wait is seen only where a kernel that was launched after the span had to wait, and starts
// with the end of a reduce-scatter.
func TestBufferWaits(t *testing.T) {
	for _, test := range []struct{ name, start, from, to, want string }{
		{"it waits", "50002", "", "", "510 to 50000"},
		{"the copy starts long after the end", "70001", "", "", ""},
		{"it starts before the end", "49999", "", "", ""},
		{"it is launched when it starts", "50002", "1/2 500 +10 ", "1/2 500 +49400 ", ""},
		{"the span makes no stream wait", "50002", "cudaStreamWaitEvent", "cudaEventQuery", ""},
		{"another span", "50002", "post_backward_rs_wait", "post_backward_reduce", ""},
		{"the span is on another thread", "50002", "1/2 41", "1/3 41", ""},
		{"the collective is no reduce-scatter", "50002", "ReduceScatter", "AllGather", ""},
		{"a message is launched in between", "50002", "0/7 90000",
			"1/2 450 +10 cuda_runtime cudaLaunchKernel corr=9\n" +
				"0/24 60000 +5 kernel ncclDevKernel_AllGather corr=9\n0/7 90000", "510 to 50000"},
		{"it is launched in the span", "50002", "1/2 500 +10", "1/2 425 +4", ""},
		{"it starts after the launch", "50002", "0/23 100 +49900", "0/23 1000 +49000", "1000 to 50000"},
	} {
		source := strings.ReplaceAll(recycling, "COPY", test.start)
		if !strings.Contains(source, test.from) {
			t.Fatalf("%s: nothing to replace", test.name)
		}
		if test.from != "" {
			source = strings.ReplaceAll(source, test.from, test.to)
		}
		r, got := one(t, source), ""
		for _, w := range r.BufferWaits {
			if r.Collectives[w.Collective].End != w.Until {
				t.Errorf("%s: %+v of another collective", test.name, w)
			}
			got += fmt.Sprintf("%d to %d", w.From, w.Until)
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// The places of collectives in a step, and when the device computes for its last backward.
func TestPlaces(t *testing.T) {
	r := one(t, strings.ReplaceAll(recycling, "COPY", "50002"))
	if got := fmt.Sprint(r.Collectives[0].Phase, r.Steps[0].LastBackward); got != "backward[{90 90010}]" {
		t.Errorf("got %s", got)
	}
}
