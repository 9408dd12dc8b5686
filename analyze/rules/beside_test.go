package rules_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sharded is three steps of FSDP in which backward computes twice, 300 us each, and a
// reduce-scatter runs between the two for 400 us, beside an all-gather of some us.
func sharded(gather int) string {
	var text strings.Builder
	text.WriteString("distributed backend=nccl rank=0 world_size=8\ndevice 0 \"NVIDIA H100 80GB HBM3\"\n" +
		"thread 1/1 process=python name=main\nthread 1/2 name=autograd\n")
	corr := 0
	launch := func(thread string, at, start, dur, stream int, name string) {
		corr++
		fmt.Fprintf(&text, "1/%s %dus +2us cuda_runtime cudaLaunchKernel corr=%d\n", thread, at, corr)
		fmt.Fprintf(&text, "0/%d %dus +%dus kernel %s corr=%d stream=%d\n", stream, start, dur, name, corr, stream)
	}
	node := func(at int, name string) {
		fmt.Fprintf(&text, "1/2 %dus +10us cpu_op \"autograd::engine::evaluate_function: %s\"\n", at, name)
	}
	ask := func(at, elements int, kind string) {
		const message = "1/2 %dus +8us cpu_op record_param_comms coll=%s in=%d out=%d dtype=Float group=0 gsize=8\n"
		fmt.Fprintf(&text, message, at, kind, elements, elements/8)
	}
	for step := range 3 {
		t := step * 2000
		fmt.Fprintf(&text, "1/1 %dus +9us cpu_op aten::linear\n", t+10)
		launch("1", t+12, t+20, 300, 7, "sgemm_forward")
		node(t+20, "NllLossBackward0")
		node(t+30, "AddmmBackward0")
		launch("2", t+32, t+320, 300, 7, "sgemm_backward")
		node(t+40, "torch::autograd::AccumulateGrad")
		const accumulate = "1/2 %dus +1us cpu_op torch::autograd::AccumulateGrad dims=[[2000,2000]] type=[\"float\"]\n"
		fmt.Fprintf(&text, accumulate, t+41)
		ask(t+42, 4000000, "_reduce_scatter_base")
		launch("2", t+44, t+620, 400, 20, "ncclDevKernel_ReduceScatter_Sum_f32_RING_LL()")
		if gather > 0 {
			ask(t+50, 4000000, "_allgather_base")
			launch("2", t+52, t+620, gather, 21, "ncclDevKernel_AllGather_RING_LL()")
		}
		node(t+60, "AddmmBackward0")
		launch("2", t+62, t+1020, 300, 7, "sgemm_backward")
		fmt.Fprintf(&text, "1/1 %dus +20us user_annotation Optimizer.step#AdamW.step\n", t+80)
		launch("1", t+82, t+1320, 30, 7, "adam")
	}
	return text.String()
}

// Where all-gathers run beside an exposed reduce-scatter, the next layer's parameters are what
// backward waits for.
func TestReduceScatterBesideGathers(t *testing.T) {
	for _, test := range []struct {
		gather int
		why    string
		fix    string
	}{
		{0, "launched in backward, between its kernels; 3 of 3", "give it compute to hide behind"},
		{150, "launched in backward, between its kernels; 3 of 3", "give it compute to hide behind"},
		{380, "all-gathers run beside 95 % of it", "set_modules_to_backward_prefetch"},
	} {
		path := filepath.Join(t.TempDir(), "fsdp.txt")
		if err := os.WriteFile(path, []byte(sharded(test.gather)), 0o600); err != nil {
			t.Fatal(err)
		}
		found := false
		for _, f := range analyse(t, path).Findings {
			if f.Rule == "OV001" {
				found = strings.Contains(f.Why, test.why) && strings.Contains(f.Fix, test.fix)
				if !found {
					t.Errorf("all-gathers of %d us: why %q, fix %q", test.gather, f.Why, f.Fix)
				}
			}
		}
		if !found {
			t.Errorf("all-gathers of %d us: not found as wanted", test.gather)
		}
	}
}
