package whatif

import (
	"fmt"
	"strings"
	"testing"
)

// hookRun is steps whose hooks all-reduce each gradient on the stream that computes: three kernels of backward
// of 100 us, each with 50 us of reduction after it. With divides the hook also divides what was reduced.
func hookRun(steps int, divides bool) string {
	var m madeRun
	t := 0.0
	for range steps {
		m.add("1/1", t, 5, "cpu_op aten::linear")
		m.call("1/1", t+1, 7, t+10, 50, "gemm", "")
		end := t + 60
		for i := range 3 {
			at := t + 20 + 50*float64(i)
			m.add("1/2", at, 6, `cpu_op "autograd::engine::evaluate_function: MmBackward0"`)
			m.call("1/2", at+1, 7, end+2, 100, "gemm_backward", "")
			m.add("1/2", at+8, 38, `cpu_op "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad"`)
			m.add("1/2", at+9, 3, `cpu_op torch::autograd::AccumulateGrad dims=[[1000,1000]] type=["float"]`)
			m.reduce("1/2", at+14, 7, end+104, 50, allReduceKernel, "0", 1_000_000)
			if end += 154; divides {
				m.add("1/2", at+30, 6, `cpu_op aten::div_ dims=[[1000,1000],[]] type=["float","Scalar"]`)
				m.call("1/2", at+31, 7, end+2, 10, "div", "")
				end += 12
			}
		}
		m.add("1/1", t+200, 10, "user_annotation Optimizer.step#SGD.step")
		m.call("1/1", t+202, 7, end+2, 40, "adam", "")
		end += 42
		m.corr++
		m.add("1/1", t+220, end+5-t-220, "cuda_runtime cudaDeviceSynchronize corr=%d", m.corr)
		t = end + 20
	}
	return m.text.String()
}

// Reductions in hooks run beside backward once they have a stream: of three times 50 us and gaps of 2 before
// each, what is left is the last one, 8.5 us after its gradient.
func TestSplitOffCompute(t *testing.T) {
	w := alone(t, hookRun(4, false))
	usual := &w.Ranks[0].Usual
	// before: 3 * (2 + 50) and 2 to the update; after: the event, 50, the event of the update
	want := 3*52_000 + 2_000 - usual[classEventComm] - 50_000 - usual[classEvent]
	if p := predict(t, w, "split-stream"); p.Gain.Mean != want {
		t.Errorf("gains %d, want %d", p.Gain.Mean, want)
	}
	// what a collective comes from is known by its stream where no event says so
	quiet := alone(t, strings.ReplaceAll(hookRun(4, false), "cudaEventRecordWithFlags", "cudaGetLastError"))
	least := want + usual[classEventComm] - quiet.Ranks[0].Usual[classEventComm]
	if p := predict(t, quiet, "split-stream"); p.Gain.Mean != least {
		t.Errorf("without events gains %d, want %d", p.Gain.Mean, least)
	}
	// with kernels of half the length reductions are still beside them
	faster := predict(t, w, "split-stream,faster=gemm_backward:2").Gain.Mean
	if want += 150_000; faster != want {
		t.Errorf("with faster kernels gains %d, want %d", faster, want)
	}
	// and what takes no time gains all of it, wherever it runs
	if free := predict(t, w, "split-stream,free-collective").Gain.Mean; free < 3*50_000 {
		t.Errorf("with free collectives gains %d", free)
	}
}

// sharedRun is steps with two communicators on one stream: reductions of 100 and 50 us that are ready together.
func sharedRun(group string) string {
	var m madeRun
	t := 0.0
	for range 4 {
		m.call("1/1", t, 7, t+10, 100, "gemm", "")
		m.reduce("1/1", t+20, 20, t+118, 100, allReduceKernel, "0", 1_000_000)
		m.reduce("1/1", t+40, 20, t+220, 50, reduceScatterKernel, group, 500_000)
		m.add("1/1", t+60, 1, "cuda_runtime cudaStreamWaitEvent")
		m.add("1/1", t+61, 1, "cuda_runtime cudaStreamWaitEvent")
		m.add("1/1", t+70, 10, "user_annotation Optimizer.step#SGD.step")
		m.call("1/1", t+72, 7, t+278, 40, "adam", "")
		m.corr++
		m.add("1/1", t+90, 318+5-90, "cuda_runtime cudaDeviceSynchronize corr=%d", m.corr)
		t += 343
	}
	return m.text.String()
}

// Two communicators that share a stream no longer wait for each other.
func TestSplitCommunicators(t *testing.T) {
	w := alone(t, sharedRun("1"))
	p := predict(t, w, "split-stream")
	// the update waits for the longer one, which ends at 218 us, instead of the shorter at 270
	if want := int64(52_000); p.Gain.Mean < want-3_000 || p.Gain.Mean > want {
		t.Errorf("gains %d, want %d", p.Gain.Mean, want)
	}
	for _, c := range []struct{ events, want string }{
		{sharedRun("0"), "each communicator has a stream of its own"},
		{launched, "no collective"},
		{hookRun(4, true), "uses the result"},
		{sharedRun("1") + // a copy on the stream of communication
			"0/20 17us +1us gpu_memcpy \"Memcpy DtoD (Device -> Device)\" stream=20\n", "copies"},
	} {
		uses, _ := Parse([]string{"split-stream"})
		p, err := Together([]*Rank{rankOfText(t, c.events)}, nil).Predict(uses)
		if err != nil || !strings.Contains(p.Reason, c.want) {
			t.Errorf("%q, %v, want %q", p.Reason, err, c.want)
		}
	}
}

// scaleRun is steps that scale four gradients one by one: 5 us and 5 us for each million elements. The host launches
// every 20 us, so the device waits for it.
func scaleRun(sizes []int, between string) string {
	var m madeRun
	t := 0.0
	for range 4 {
		m.add("1/1", t, 8, "cpu_op aten::linear")
		m.call("1/1", t+1, 7, t+11, 30, "gemm", "")
		for i, n := range sizes {
			at := t + 20 + 16*float64(i)
			m.add("1/2", at, 6, `cpu_op "autograd::engine::evaluate_function: MmBackward0"`)
			m.add("1/2", at+8, 6, `cpu_op "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad"`)
			m.add("1/2", at+9, 3, `cpu_op torch::autograd::AccumulateGrad dims=[[%d,1000]] type=["float"]`, 1000*n)
		}
		end := 0.0
		for i, n := range sizes {
			at := t + 100 + 20*float64(i)
			m.add("1/1", at, 15, `cpu_op aten::mul_ dims=[[%d,1000],[]] type=["float","float"]`, 1000*n)
			m.call("1/1", at+5, 7, at+15, float64(5+5*n), "mul", "")
			end = at + 15 + float64(5+5*n)
			if between != "" && i == 1 {
				m.call("1/1", at+16, 7, end, 1, between, "")
			}
		}
		at := t + 100 + 20*float64(len(sizes))
		m.add("1/1", at, 30, "user_annotation Optimizer.step#SGD.step")
		m.call("1/1", at+5, 7, at+15, 100, "adam", "")
		m.corr++
		m.add("1/1", at+40, 115+5-40, "cuda_runtime cudaDeviceSynchronize corr=%d", m.corr)
		t = at + 140
	}
	return m.text.String()
}

// Four kernels that are launched every 20 us become one that is launched with the first and moves the bytes of all.
func TestForeachKnownTruth(t *testing.T) {
	w := alone(t, scaleRun([]int{1, 1, 1, 2}, ""))
	if got := len(w.Ranks[0].Scales); got != 4 {
		t.Fatalf("%d passes", got)
	}
	// launched at 105, it runs from 115 to 145 where the last one ended at 190, and the update follows
	// after the usual gap where it waited 5 us for its launch
	want := 195_000 - 145_000 - w.Ranks[0].Usual[classOrder]
	p := predict(t, w, "foreach-scale")
	if p.Gain.Mean != want {
		t.Errorf("gains %d, want %d", p.Gain.Mean, want)
	}
	uses, _ := Parse([]string{"foreach-scale"})
	r, _, err := w.Report([][]Use{uses})
	const fitted = "16 kernels become 4; alpha 5.0 us, beta 0.62 us per MB (1600.0 GB/s), " +
		"from 16 of 2 sizes, 8.0 MB to 16.0 MB"
	if err != nil || !strings.Contains(r.Edits[0].Fitted, fitted) {
		t.Errorf("fitted %q, want %q, %v", r.Edits[0].Fitted, fitted, err)
	}
	// of one size only nothing can be fitted: the bytes go as fast as they did
	w = alone(t, scaleRun([]int{1, 1, 1, 1}, ""))
	want = 195_000 - 155_000 - w.Ranks[0].Usual[classOrder]
	if p := predict(t, w, "foreach-scale"); p.Gain.Mean != want {
		t.Errorf("of one size gains %d, want %d", p.Gain.Mean, want)
	}
	// without the pass the update is launched when the first operator began, and 17 us of the loop later
	if p := predict(t, w, "drop-scale-pass"); p.Gain.Mean != 195_000-(100_000+17_000+10_000) {
		t.Errorf("dropped gains %d", p.Gain.Mean)
	}
	// a pass that is dropped cannot be fused as well
	drop, both := predict(t, w, "drop-scale-pass").Gain, predict(t, w, "foreach-scale,drop-scale-pass").Gain
	if drop != both {
		t.Errorf("dropped %+v, with fusing %+v", drop, both)
	}
}

// A pass that cannot be one operation says why.
func TestForeachRefused(t *testing.T) {
	const one, all = "aten::mul_ dims=[[1000,1000],[]]", "aten::_foreach_mul_ dims=[[[1000,1000]],[]]"
	foreach := strings.ReplaceAll(scaleRun([]int{1}, ""), one, all)
	for i, c := range []struct{ events, want string }{
		{launched, "no pass scales"},
		{scaleRun([]int{1, 1, 1, 2}, "log"), "other operations run between"},
		{foreach, "one call already"},
	} {
		uses, _ := Parse([]string{"foreach-scale"})
		p, err := Together([]*Rank{rankOfText(t, c.events)}, nil).Predict(uses)
		if err != nil || !strings.Contains(p.Reason, c.want) {
			t.Errorf("%s: %q, %v, want %q", fmt.Sprint(i), p.Reason, err, c.want)
		}
	}
}
