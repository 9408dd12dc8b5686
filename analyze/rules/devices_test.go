package rules_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/rules"
)

// stepsOnDevices is two steps of one process of 1000 us, in which the reduce-scatter of
// each of its devices stands exposed for 100 us.
func stepsOnDevices(devices int) string {
	var b strings.Builder
	b.WriteString("distributed backend=nccl rank=0 world_size=2\n")
	for i := range 2 {
		at, corr := 1000*i, 100*i
		fmt.Fprintf(&b, "100/2 %dus +9us cpu_op torch::autograd::AccumulateGrad dims=[[1000,250]] type=[\"float\"]\n",
			at+20)
		for d := range devices {
			corr += 2
			fmt.Fprintf(&b, `100/1 %dus +1us cuda_runtime launch corr=%d
%d/7 %dus +900us kernel gemm corr=%d
100/1 %dus +1us cuda_runtime launch corr=%d
%d/20 %dus +100us kernel ncclDevKernel_ReduceScatter corr=%d
`, at+30+2*d, corr, d, at+100, corr, at+50+2*d, corr+1, d, at+1000, corr+1)
		}
		fmt.Fprintf(&b, "100/1 %dus +5us user_annotation Optimizer.step#A.step\n", at+90)
	}
	return b.String()
}

// What a step costs does not grow with the devices that a process drives.
func TestCostOnSeveralDevices(t *testing.T) {
	for _, devices := range []int{1, 2} {
		inputs := []analyze.Input{rankFile(t, "rank0.txt", stepsOnDevices(devices))}
		r := analyze.Run(inputs, analyze.Options{Rules: rules.All()})
		for _, f := range r.Findings {
			if f.Rule == "OV001" && (*f.Cost != 100_000 || *f.Share != 0.1 || f.Saving.High > *f.Cost) {
				t.Errorf("%d devices: cost %d ns, %v of the step", devices, *f.Cost, *f.Share)
			}
		}
		if got := findings(r); len(got) != 1 || got[0] != "OV001 error" {
			t.Errorf("%d devices: %q", devices, got)
		}
	}
}
