package facts

import (
	"fmt"
	"testing"
)

// TestLastBackwardOnStreams: the last backward pass is over on a device when all that it launched has ended, whatever
// the order in which that ends.
func TestLastBackwardOnStreams(t *testing.T) {
	for _, c := range []struct {
		kernels [3][2]int // start and length, in the order of launch, on three streams
		want    string
	}{
		{[3][2]int{{60, 10}, {70, 10}, {80, 10}}, "[{60 90}]"},
		{[3][2]int{{60, 50}, {70, 10}, {80, 10}}, "[{60 110}]"},
		{[3][2]int{{60, 10}, {70, 90}, {80, 10}}, "[{60 160}]"},
		{[3][2]int{{80, 10}, {70, 5}, {60, 5}}, "[{60 90}]"},
		{[3][2]int{{60, 30}, {60, 20}, {60, 10}}, "[{60 90}]"},
	} {
		source := `
1/1 1 +50 cpu_op "autograd::engine::evaluate_function: MulBackward0"
1/1 40 +1 cpu_op torch::autograd::AccumulateGrad
1/1 100 +5 user_annotation Optimizer.step#A.step
1/1 110 +1 cuda_runtime cudaLaunchKernel corr=9
2/7 300 +9 kernel adam corr=9
2/20 200 +9 kernel ` + allReduce
		for i, k := range c.kernels {
			source += fmt.Sprintf("\n1/1 %d +2 cuda_runtime cudaLaunchKernel corr=%d\n2/%d %d +%d kernel gemm corr=%d",
				5+5*i, i+1, 7+i, k[0], k[1], i+1)
		}
		r := one(t, source)
		if got := fmt.Sprint(r.Steps[0].LastBackward); got != c.want {
			t.Errorf("%v: %s, want %s", c.kernels, got, c.want)
		}
	}
}
