package steps

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace/text"
)

// one cuts the only rank of a trace in text form into steps, none where nothing ran.
func one(t *testing.T, source string) *Steps {
	t.Helper()
	tr, err := text.Read(strings.NewReader(source), "test")
	if err != nil {
		t.Fatal(err)
	}
	x := timeline.New(tr)
	if len(x.Ranks) != 1 {
		t.Fatalf("%d ranks, want 1", len(x.Ranks))
	}
	return Find(x.Ranks[0])
}

// stepsText prints steps one a line for comparison.
func stepsText(all *Steps) string {
	var b strings.Builder
	for _, s := range all.List {
		fmt.Fprintf(&b, "%s %s [%d,%d) acc=%d complete=%v events=%d\n", s.Kind, strings.Join(s.Optimizers, "+"),
			s.HostStart, s.HostEnd, s.Accumulations, s.Complete, s.LinkedEvents)
	}
	return b.String()
}

func wantText(t *testing.T, got, want string) {
	t.Helper()
	if want = strings.TrimLeft(want, "\n"); got != want {
		t.Errorf("got:\n%swant:\n%s", got, want)
	}
}

const accumulateGrad = "cpu_op torch::autograd::AccumulateGrad"

func TestUpdates(t *testing.T) {
	for _, test := range []struct{ name, source, want string }{
		{"two optimizers close together are one update", `
1/1 0 +5 cpu_op aten::mm
1/1 10 +1 ` + accumulateGrad + `
1/1 20 +5 user_annotation Optimizer.step#B.step
1/1 30 +5 user_annotation Optimizer.step#A.step
1/1 50 +1 ` + accumulateGrad + `
1/1 60 +5 user_annotation Optimizer.step#A.step`, `
A A+B [0,35) acc=1 complete=false events=0
B A [35,65) acc=1 complete=true events=0
`},
		{"nested spans of a subclass are one", `
1/1 10 +1 ` + accumulateGrad + `
1/1 20 +9 user_annotation Optimizer.step#Mine.step
1/1 21 +5 user_annotation Optimizer.step#AdamW.step
1/1 40 +1 ` + accumulateGrad + `
1/1 50 +9 user_annotation Optimizer.step#Mine.step
1/1 51 +5 user_annotation Optimizer.step#AdamW.step`, `
A Mine [10,29) acc=1 complete=true events=0
A Mine [29,59) acc=1 complete=true events=0
`},
		{"the first window with fewer accumulations is partial", `
1/1 10 +1 ` + accumulateGrad + `
1/1 20 +5 user_annotation Optimizer.step#A.step
1/1 30 +1 ` + accumulateGrad + `
1/1 40 +1 ` + accumulateGrad + `
1/1 50 +5 user_annotation Optimizer.step#A.step`, `
A A [10,25) acc=1 complete=false events=0
A A [25,55) acc=2 complete=true events=0
`},
		{"optimizer in backward: one update a backward pass", `
1/1 0 +5 cpu_op aten::mm
1/2 10 +9 cpu_op "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad"
1/2 11 +1 ` + accumulateGrad + `
1/2 13 +5 user_annotation Optimizer.step#A.step
1/2 20 +9 cpu_op "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad"
1/2 21 +1 ` + accumulateGrad + `
1/2 23 +5 user_annotation Optimizer.step#A.step
1/1 40 +5 cpu_op aten::mm
1/2 50 +9 cpu_op "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad"
1/2 51 +1 ` + accumulateGrad + `
1/2 53 +5 user_annotation Optimizer.step#A.step`, `
A A [0,28) acc=2 complete=false events=0
A A [28,58) acc=1 complete=true events=0
`},
		{"without any record of backward an optimizer that steps again begins a new update", `
1/1 20 +5 user_annotation Optimizer.step#A.step
1/1 30 +5 user_annotation Optimizer.step#B.step
1/1 60 +5 user_annotation Optimizer.step#A.step`, `
A A+B [20,35) acc=0 complete=false events=0
B A [35,65) acc=0 complete=true events=0
`},
		{"ProfilerStep is only a fallback", `
1/1 0 +40 user_annotation ProfilerStep#0
1/1 50 +40 user_annotation ProfilerStep#0`, `
A  [0,40) acc=0 complete=false events=0
A  [40,90) acc=0 complete=true events=0
`},
		{"device annotations are not steps", `
1/1 0 +40 cpu_op aten::mm
0/7 0 +40 gpu_user_annotation Optimizer.step#A.step
0/7 0 +40 gpu_user_annotation ProfilerStep#1`, ""},
	} {
		t.Run(test.name, func(t *testing.T) { wantText(t, stepsText(one(t, test.source)), test.want) })
	}
}

func TestDeviceWindows(t *testing.T) {
	s := one(t, `
1/1 10 +1 `+accumulateGrad+`
1/1 20 +10 user_annotation Optimizer.step#A.step
1/1 21 +1 cuda_runtime cudaLaunchKernel corr=1
1/1 50 +1 `+accumulateGrad+`
1/1 60 +10 user_annotation Optimizer.step#A.step
1/1 61 +1 cuda_runtime cudaLaunchKernel corr=2
1/1 62 +1 cuda_runtime cudaLaunchKernel corr=3
1/1 63 +1 cuda_runtime cudaMemcpyAsync corr=4
0/7 90 +5 kernel before corr=99
0/7 100 +50 kernel k corr=1
0/7 200 +50 kernel k corr=2
0/9 240 +30 kernel ncclDevKernel_ReduceScatter_Sum_f32_RING_LL corr=3
0/8 260 +20 gpu_memcpy "Memcpy DtoD" corr=4`)
	var b strings.Builder
	for _, step := range s.List {
		for _, w := range step.Windows {
			fmt.Fprintf(&b, "[%d,%d) %v\n", w.Start, w.End, w.Ledger)
		}
	}
	// The reduce-scatter runs 240-270: 10 along with the kernel, 10 alone, 10 along with the copy.
	wantText(t, b.String(), `
[100,200) [50 0 0 0 0 0 50]
[200,280) [50 20 10 0 0 0 0]
`)
}

// TestSeveralDevices: a step has a window on each device that it launches on, also where
// the process has the number of one of them, as in a container.
func TestSeveralDevices(t *testing.T) {
	s := one(t, `
0/7 5 +10 kernel gemm corr=1
1/7 15 +10 kernel gemm corr=2
1/8 15 +10 user_annotation ProfilerStep#0
1/100 0 +1 cuda_runtime cudaLaunchKernel corr=1
1/100 2 +1 cuda_runtime cudaLaunchKernel corr=2
1/100 4 +9 user_annotation Optimizer.step#Adam.step`)
	if len(s.List) != 1 || len(s.List[0].Windows) != 2 || s.List[0].LinkedEvents != 2 {
		t.Errorf("%+v", s.List)
	}
	for i, w := range s.List[0].Windows {
		if w.Device != i || w.Start != int64(5+10*i) || w.End != int64(15+10*i) {
			t.Errorf("window %+v", w)
		}
	}
}

// Letters first, then letters with a number, each once.
func TestKindName(t *testing.T) {
	for n, want := range map[int]string{0: "A", 25: "Z", 26: "A1", 51: "Z1", 52: "A2"} {
		if got := kindName(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}

func TestAt(t *testing.T) {
	s := Steps{ends: []int64{10, 20}}
	for at, want := range map[int64]int{-5: 0, 0: 0, 9: 0, 10: 1, 19: 1, 20: -1} {
		if got := s.At(at); got != want {
			t.Errorf("%d ns is in step %d, want %d", at, got, want)
		}
		for step := range s.ends {
			if s.holds(step, at) != (step == want) {
				t.Errorf("%d ns in step %d: %t", at, step, s.holds(step, at))
			}
		}
	}
}

// What a step launched may start only after what a later one launched, on another stream.
func TestWindowsAreInOrder(t *testing.T) {
	s := one(t, `
1/1 10 +1 cuda_runtime cudaLaunchKernel corr=1
1/1 20 +5 user_annotation Optimizer.step#A.step
1/1 26 +1 `+accumulateGrad+`
1/1 30 +1 cuda_runtime cudaLaunchKernel corr=2
1/1 40 +5 user_annotation Optimizer.step#A.step
1/1 46 +1 `+accumulateGrad+`
1/1 50 +1 cuda_runtime cudaLaunchKernel corr=3
1/1 60 +5 user_annotation Optimizer.step#A.step
0/7 12 +3 kernel first corr=1
0/7 90 +9 kernel second corr=2
0/8 52 +7 kernel third corr=3`)
	var got []string
	for i := range s.List {
		for _, w := range s.List[i].Windows {
			got = append(got, fmt.Sprintf("step %d [%d,%d) %v", i, w.Start, w.End, w.Ledger))
		}
	}
	want := "step 0 [12,52) [3 0 0 0 0 0 37]\nstep 2 [52,59) [7 0 0 0 0 0 0]"
	wantText(t, strings.Join(got, "\n"), want)
}

// Whole microseconds let what a backward node does last seem to follow it, and a shift of all
// times by half a microsecond changes nothing about that.
func TestOptimizerInBackwardRounded(t *testing.T) {
	for _, unit := range []string{"000", "500"} {
		pass := func(at int) string {
			return fmt.Sprintf(`
1/1 %[1]d0%[2]s +9000 cpu_op "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad"
1/1 %[1]d1%[2]s +1000 cpu_op torch::autograd::AccumulateGrad
1/1 %[1]d3%[2]s +5000 user_annotation Optimizer.step#A.step
1/1 %[1]d9%[2]s +0 cpu_op aten::as_strided`, at, unit)
		}
		forward := func(at string) string { return "\n1/1 " + at + unit + " +1000 cpu_op aten::mm" }
		s := one(t, forward("1")+pass(1)+pass(2)+forward("38")+pass(4)+pass(5))
		if len(s.List) != 2 {
			t.Errorf("shifted by %s: %d steps, want 2", unit, len(s.List))
		}
	}
}
