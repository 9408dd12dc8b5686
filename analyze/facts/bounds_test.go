package facts

import (
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"github.com/gaprof/gaprof/trace"
)

// TestFirstRow: what launches may be the very first row of a trace.
func TestFirstRow(t *testing.T) {
	r := one(t, `
1/1 0 +1 cuda_runtime cudaLaunchKernel corr=1
1/1 20 +5 user_annotation Optimizer.step#A.step
2/20 5 +9 kernel `+allReduce+` corr=1`)
	c := &r.Collectives[0]
	if c.Step != 0 || !c.Linked || r.Unlinked != 0 || r.Steps[0].LinkedEvents != 1 || r.Groups[0].Step != 0 {
		t.Errorf("%+v %+v", c, r.Groups)
	}
	r = one(t, `
1/1 0 +50 cpu_op "autograd::engine::evaluate_function: MulBackward0"
1/2 0 +1 cpu_op "autograd::engine::evaluate_function: MulBackward0"
1/1 60 +5 user_annotation Optimizer.step#A.step
1/1 40 +1 cpu_op torch::autograd::AccumulateGrad
2/7 90 +1 kernel k`)
	if len(r.Backwards) != 1 {
		t.Errorf("%+v", r.Backwards)
	}
	r = one(t, `
1/1 1 +2 cuda_runtime cudaLaunchKernel corr=1
1/1 2 +50 cpu_op "autograd::engine::evaluate_function: MulBackward0"
1/1 40 +1 cpu_op torch::autograd::AccumulateGrad
1/1 60 +5 user_annotation Optimizer.step#A.step
2/7 5 +9 kernel gemm corr=1
2/20 5 +9 kernel `+allReduce+` corr=1`)
	if got := fmt.Sprint(r.Steps[0].LastBackward); got != "[{0 0}]" { // launched before it
		t.Error(got)
	}
	r = one(t, `
1/1 1 +50 cpu_op "autograd::engine::evaluate_function: MulBackward0"
1/1 1 +2 cuda_runtime cudaLaunchKernel corr=1
1/1 40 +1 cpu_op torch::autograd::AccumulateGrad
1/1 51 +2 cuda_runtime cudaLaunchKernel corr=2
1/1 60 +5 user_annotation Optimizer.step#A.step
2/7 5 +9 kernel gemm corr=1
2/7 80 +9 kernel gemm corr=2
2/20 5 +9 kernel `+allReduce+` corr=1`)
	if got := fmt.Sprint(r.Steps[0].LastBackward); got != "[{5 14}]" { // from its start to before its end
		t.Error(got)
	}
}

// TestBoundsOfWaits: a kernel starts within 20 us of the end that it waited for, and was launched as
// long before its start.
func TestBoundsOfWaits(t *testing.T) {
	for start, want := range map[string]int{"50000": 1, "69999": 1, "70000": 0} {
		if r := one(t, strings.ReplaceAll(recycling, "COPY", start)); len(r.BufferWaits) != want {
			t.Errorf("from %s: %d waits, want %d", start, len(r.BufferWaits), want)
		}
	}
	for launch, want := range map[string]int{"+29490": 1, "+29491": 1, "+29501": 1, "+29502": 1, "+29503": 0} {
		source := strings.ReplaceAll(strings.ReplaceAll(recycling, "COPY", "50002"), "1/2 500 +10 ",
			"1/2 500 "+launch+" ")
		if r := one(t, source); len(r.BufferWaits) != want {
			t.Errorf("launched until %s: %d waits, want %d", launch, len(r.BufferWaits), want)
		}
	}
}

// TestNothingToSend: messages of no bytes are known to have none, and one that is unknown makes a
// sum unknown.
func TestNothingToSend(t *testing.T) {
	for _, test := range []struct{ sizes, want string }{
		{"0", "0"}, {"0 0", "0"}, {"0 8", "8"}, {"8 0", "8"}, {"8 16", "24"}, {"-1 8", "-1"}, {"8 -1", "-1"},
		{"0 -1 8", "-1"}, {"1", "1"},
		{"9223372036854775800 7", "9223372036854775807"}, {"9223372036854775800 8", "-1"},
		{"4611686018427387904 4611686018427387904 4611686018427387904 4611686018427387904 8", "-1"},
	} {
		sum := int64(0)
		for word := range strings.FieldsSeq(test.sizes) {
			var n int64
			fmt.Sscan(word, &n)
			sum = addKnown(sum, n)
		}
		if fmt.Sprint(sum) != test.want {
			t.Errorf("%s: %d", test.sizes, sum)
		}
	}
}

// TestSuspectShares: a kernel whose name speaks of communication is said from over a hundredth of the
// busy time, with all of its runs.
func TestSuspectShares(t *testing.T) {
	const name = "my_all_reduce_kernel"
	for _, test := range []struct {
		runs []int
		want string
	}{
		{[]int{1000}, ""}, {[]int{1001}, "1 1001 100001"}, {[]int{500, 501}, "2 1001 100001"},
		{[]int{3000}, "1 3000 102000"}, {nil, ""},
	} {
		var b strings.Builder
		at := 0
		for _, n := range test.runs {
			fmt.Fprintf(&b, "0/8 %d +%d kernel %s\n", at, n, name)
			at += n
		}
		busy := 99_000
		fmt.Fprintf(&b, "0/7 %d +%d kernel gemm\n", at, busy)
		got := ""
		for _, s := range one(t, b.String()).Suspects {
			got += fmt.Sprint(s.Count, " ", s.Time, " ", s.Busy)
		}
		if got != test.want {
			t.Errorf("%v: %q, want %q", test.runs, got, test.want)
		}
	}
}

// TestWarmupOfGraphs: one graph that is made is one.
func TestWarmupOfGraphs(t *testing.T) {
	const step = "\n1/1 60 +5 user_annotation Optimizer.step#A.step"
	if w := one(t, "1/1 10 +20 cuda_runtime cudaGraphInstantiate"+step).Warmup; !w.Graphs ||
		fmt.Sprint(w.Compiling) != "[20]" {
		t.Errorf("%+v", w)
	}
	if w := one(t,
		"1/1 10 +20 cpu_op compile_fx\n1/1 15 +25 cpu_op inductor_compile\n"+
			"1/1 70 +5 cpu_op compile_fx"+step).Warmup; w.Graphs ||
		fmt.Sprint(w.Compiling) != "[30]" || len(w.Compiled) != 2 {
		t.Errorf("%+v", w)
	}
	if w := one(t, "1/1 10 +20 cpu_op \"entire_frame_compile (dynamo_timed)\""+step).Warmup; fmt.Sprint(w.Compiling) !=
		"[20]" {
		t.Errorf("as PyTorch names them: %+v", w)
	}
}

// TestSharedTexts: texts that are equal are one, and none is of the trace.
func TestSharedTexts(t *testing.T) {
	texts := map[string]string{}
	first, again := own(texts, strings.Clone("a text")), own(texts, strings.Clone("a text"))
	if first != "a text" || unsafe.StringData(first) != unsafe.StringData(again) || own(texts, "") != "" {
		t.Error("another text")
	}
	if len(texts) > 2 {
		t.Errorf("%d texts", len(texts))
	}
}

// TestNoPlace: what is concluded has no place in the file.
func TestNoPlace(t *testing.T) {
	for _, r := range compute(t, "0/7 5 +3 kernel k\n10/10 1 +2 cpu_op a\n20/20 1 +2 cpu_op b") {
		for _, p := range r.Problems {
			if p.Offset != -1 || p.Code == trace.BadEscape {
				t.Errorf("%+v", p)
			}
		}
	}
}

// TestAlone: a trace of one rank that no other is compared with is not measured for that.
func TestAlone(t *testing.T) {
	alone, compared := ComputeAlone(index(t, communicating))[0], one(t, communicating)
	if len(alone.Work.Devices) != 0 || len(compared.Work.Devices) == 0 || len(alone.Steps) != len(compared.Steps) {
		t.Errorf("%+v, compared %+v", alone.Work, compared.Work)
	}
}

// TestStepAt: the step whose host window holds an instant; what precedes the first update is of the
// first step, and what follows the last one of none.
func TestStepAt(t *testing.T) {
	r := &Rank{Steps: make([]Step, 2)}
	r.Steps[0].HostEnd, r.Steps[1].HostEnd = 10, 20
	for at, want := range map[int64]int{0: 0, 9: 0, 10: 1, 19: 1, 20: -1, 99: -1} {
		if got := r.StepAt(at); got != want {
			t.Errorf("at %d: step %d, want %d", at, got, want)
		}
		for step := -1; step < 3; step++ {
			if got := r.holds(step, at); got != (step == want && want >= 0) {
				t.Errorf("step %d holds %d: %v", step, at, got)
			}
		}
	}
}
