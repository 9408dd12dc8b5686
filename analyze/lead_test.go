package analyze

import (
	"fmt"
	"strings"
	"testing"
)

// scattered is steps of 1000 ns whose backward pass has two kernels, the last of which
// ends at 500, and two reduce-scatters, of which the first starts at the ns given.
func scattered(starts ...int) string {
	var b strings.Builder
	for i, start := range starts {
		t, corr := 1000*i, 10*i
		fmt.Fprintf(&b, `1/2 %d +20 cpu_op "autograd::engine::evaluate_function: MulBackward0"
1/2 %d +1 cuda_runtime launch corr=%d
1/2 %d +1 cuda_runtime launch corr=%d
1/2 %d +20 cpu_op "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad"
1/2 %d +2 cpu_op torch::autograd::AccumulateGrad
1/1 %d +50 user_annotation Optimizer.step#A.step
1/1 %d +1 cuda_runtime launch corr=%d
1/1 %d +1 cuda_runtime launch corr=%d
1/1 %d +1 cuda_runtime launch corr=%d
0/7 %d +100 kernel gemm corr=%d
0/7 %d +200 kernel gemm corr=%d
0/7 %d +50 kernel update corr=%d
0/9 %d +10 kernel ncclDevKernel_ReduceScatter corr=%d
0/9 %d +10 kernel ncclDevKernel_ReduceScatter corr=%d
`, t+10, t+12, corr+1, t+14, corr+2, t+40, t+45,
			t+100, t+101, corr+3, t+103, corr+4, t+105, corr+5,
			t+150, corr+1, t+300, corr+2, t+850, corr+3, t+start, corr+4, t+start+20, corr+5)
	}
	return b.String()
}

// The lead is from the first reduce-scatter to the end of backward, not of the optimizer,
// and the median of steps counts.
func TestScatterLeads(t *testing.T) {
	for _, test := range []struct {
		name, source string
		want         int64
		ok           bool
	}{
		{"while backward runs", scattered(400), 100, true},
		{"behind it", scattered(600), -100, true},
		{"the median of steps", scattered(400, 700, 450), 50, true},
		{"no backward", stepping(3, 300), 0, false},
		{"no reduce-scatter", strings.ReplaceAll(scattered(400), "ReduceScatter", "AllGather"), 0, false},
		{"nothing", "1/1 0 +5 cpu_op aten::mul", 0, false},
	} {
		if got, ok := MedianLead(ScatterLeads(read(t, test.source))); got != test.want || ok != test.ok {
			t.Errorf("%s: %d %v, want %d %v", test.name, got, ok, test.want, test.ok)
		}
	}
	if got := fmt.Sprint(ScatterLeads(read(t, scattered(400, 700, 450)))); got != "[100 -200 50]" {
		t.Errorf("leads by step: %s", got)
	}
}
