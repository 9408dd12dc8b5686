package steps

import (
	"fmt"
	"strings"
	"testing"
)

// TestRanges: how many of a list lie in a range that begins with its start and ends before its end.
func TestRanges(t *testing.T) {
	list := []int64{2, 4, 4, 7}
	for from := range int64(9) {
		for to := range int64(9) {
			n := 0
			for _, v := range list {
				if from <= v && v < to {
					n++
				}
			}
			if CountIn(list, from, to) != n || AnyIn(list, from, to) != (n > 0) {
				t.Errorf("[%d,%d): %d, %v, want %d", from, to, CountIn(list, from, to), AnyIn(list, from, to), n)
			}
		}
	}
	if CountIn(nil, 0, 9) != 0 || AnyIn(nil, 0, 9) {
		t.Error("something in nothing")
	}
}

// TestWhatSeparatesUpdates: with accumulations, nodes of backward, or neither; on whatever threads;
// and what a step is until the first one ends.
func TestWhatSeparatesUpdates(t *testing.T) {
	const evaluate = "cpu_op \"autograd::engine::evaluate_function: MulBackward0\"\n"
	for _, test := range []struct{ name, source, want string }{
		{"nodes without accumulations", "1/2 10 +2 " + evaluate + "1/1 20 +5 user_annotation Optimizer.step#A.step\n" +
			"1/1 26 +2 user_annotation Optimizer.step#A.step\n1/2 30 +2 " + evaluate +
			"1/1 40 +5 user_annotation Optimizer.step#A.step",
			"A [10,28) 18 for [20,28) false\nA [28,45) 17 for [40,45) true\n"},
		{"bare nodes on two threads",
			"1/3 10 +2 cpu_op MulBackward0\n1/1 20 +5 user_annotation Optimizer.step#A.step\n" +
				"1/2 30 +2 cpu_op MulBackward0\n1/1 40 +5 user_annotation Optimizer.step#B.step\n" +
				"1/3 50 +2 cpu_op MulBackward0\n1/1 60 +5 user_annotation Optimizer.step#C.step",
			"A [10,25) 15 for [20,25) false\nB [25,45) 20 for [40,45) true\nC [45,65) 20 for [60,65) true\n"},
		{"one bare node", "1/1 20 +5 user_annotation Optimizer.step#A.step\n" +
			"1/2 30 +2 cpu_op MulBackward0\n1/1 40 +5 user_annotation Optimizer.step#B.step",
			"A [20,25) 5 for [20,25) false\nB [25,45) 20 for [40,45) true\n"},
		{"after a marker", "1/1 5 i - marker\n1/2 7 i - marker\n1/1 10 +2 cpu_op aten::x\n1/2 9 +2 cpu_op aten::y\n" +
			"1/1 20 +5 user_annotation Optimizer.step#A.step", "A [9,25) 16 for [20,25) false\n"},
		{"nothing between others",
			"1/1 20 +5 user_annotation Optimizer.step#A.step\n1/1 40 +5 user_annotation Optimizer.step#B.step",
			"A+B [20,45) 25 for [20,45) false\n"},
		{"one node of a kind decides, whatever others do",
			"1/1 20 +5 user_annotation Optimizer.step#A.step\n1/2 30 +2 " + evaluate +
				"1/1 40 +5 user_annotation Optimizer.step#B.step\n1/2 50 +2 cpu_op MulBackward0\n" +
				"1/1 60 +5 user_annotation Optimizer.step#C.step",
			"A [20,25) 5 for [20,25) false\nB+C [25,65) 40 for [40,65) true\n"},
		{"accumulations on two threads", "1/3 10 +2 cpu_op torch::autograd::AccumulateGrad\n" +
			"1/1 20 +5 user_annotation Optimizer.step#A.step\n1/2 30 +2 cpu_op torch::autograd::AccumulateGrad\n" +
			"1/1 40 +5 user_annotation Optimizer.step#A.step\n1/3 50 +2 cpu_op torch::autograd::AccumulateGrad\n" +
			"1/1 60 +5 user_annotation Optimizer.step#A.step",
			"A [10,25) 15 for [20,25) true\nA [25,45) 20 for [40,45) true\nA [45,65) 20 for [60,65) true\n"},
		{"one accumulation decides, not nodes", "1/2 10 +2 " + evaluate +
			"1/1 12 +2 cpu_op torch::autograd::AccumulateGrad\n" +
			"1/1 20 +5 user_annotation Optimizer.step#A.step\n1/2 30 +2 " + evaluate +
			"1/1 40 +5 user_annotation Optimizer.step#A.step",
			"A [10,45) 35 for [20,45) false\n"},
		{"a gradient at the end of an update", "1/1 10 +2 cpu_op torch::autograd::AccumulateGrad\n" +
			"1/1 20 +5 user_annotation Optimizer.step#A.step\n1/1 25 +2 cpu_op torch::autograd::AccumulateGrad\n" +
			"1/1 40 +5 user_annotation Optimizer.step#A.step",
			"A [10,25) 15 for [20,25) true\nA [25,45) 20 for [40,45) true\n"},
		{"a closure ends an update of its own", "1/1 5 +2 cpu_op torch::autograd::AccumulateGrad\n" +
			"1/1 10 +20 user_annotation Optimizer.step#L.step\n1/1 12 +4 " + evaluate +
			"1/1 13 +2 cpu_op torch::autograd::AccumulateGrad\n1/1 40 +20 user_annotation Optimizer.step#L.step\n" +
			"1/1 42 +4 " + evaluate +
			"1/1 43 +2 cpu_op torch::autograd::AccumulateGrad",
			"L [5,30) 25 for [16,30) false\nL [30,60) 30 for [46,60) true\n"},
		{"the first event of any thread, if it lasts",
			"1/3 3 i - marker\n1/3 8 +1 cpu_op aten::mm\n1/2 6 +1 cpu_op aten::mm\n" +
				"1/1 9 +1 cpu_op aten::mm\n1/1 20 +5 user_annotation Optimizer.step#A.step",
			"A [6,25) 19 for [20,25) false\n"},
		{"one step of the profiler", "1/1 5 +40 user_annotation ProfilerStep#7", " [5,45) 40 for [5,45) false\n"},
		{"steps of the profiler on two threads",
			"1/2 5 +40 user_annotation ProfilerStep#7\n1/1 50 +30 user_annotation ProfilerStep#8\n" +
				"1/2 90 +20 user_annotation ProfilerStep#9",
			" [5,45) 40 for [5,45) false\n [45,80) 35 for [50,80) true\n [80,110) 30 for [90,110) true\n"},
		{"what is cut short is not complete",
			"problem truncated\n1/1 5 +40 user_annotation ProfilerStep#7\n1/1 50 +30 user_annotation ProfilerStep#8",
			" [5,45) 40 for [5,45) false\n [45,80) 35 for [50,80) false\n"},
		{"damaged compression cuts it",
			"problem compression_damage\n1/1 5 +40 user_annotation ProfilerStep#7\n" +
				"1/1 50 +30 user_annotation ProfilerStep#8",
			" [5,45) 40 for [5,45) false\n [45,80) 35 for [50,80) false\n"},
		{"other damage does not",
			"problem bad_escape\n1/1 5 +40 user_annotation ProfilerStep#7\n1/1 50 +30 user_annotation ProfilerStep#8",
			" [5,45) 40 for [5,45) false\n [45,80) 35 for [50,80) true\n"},
	} {
		var b strings.Builder
		s := one(t, test.source)
		for i := range s.List {
			step := &s.List[i]
			fmt.Fprintf(&b, "%s [%d,%d) %d for [%d,%d) %v\n", strings.Join(step.Optimizers, "+"), step.HostStart,
				step.HostEnd,
				step.HostDuration(), step.Update.Start, step.Update.End, step.Complete)
		}
		if b.String() != test.want {
			t.Errorf("%s:\n%swant\n%s", test.name, b.String(), test.want)
		}
	}
}

// TestSameLaunchAtZero: the first row of a trace may be a launch call like any other, and of events that start at
// once each counts.
func TestSameLaunchAtZero(t *testing.T) {
	s := one(t, `
1/1 0 +1 cuda_runtime cudaLaunchKernel corr=1
1/1 2 +1 cuda_runtime cudaLaunchKernel corr=2
1/1 20 +5 user_annotation Optimizer.step#A.step
2/7 3 +4 kernel a corr=1
2/8 3 +9 kernel b corr=2`)
	if w := s.List[0].Windows; s.List[0].LinkedEvents != 2 || len(w) != 1 || w[0].Start != 3 || w[0].End != 12 ||
		w[0].Ledger[0] != 9 {
		t.Errorf("%+v", s.List[0])
	}
}

// TestSource: what steps were cut at.
func TestSource(t *testing.T) {
	for source, want := range map[string]Source{
		"1/1 5 +4 user_annotation ProfilerStep#7":                                                 FromProfiler,
		"1/1 5 +4 user_annotation ProfilerStep#7\n1/1 15 +4 user_annotation ProfilerStep#8":       FromProfiler,
		"1/1 5 +4 user_annotation ProfilerStep#7\n1/1 6 +1 user_annotation Optimizer.step#A.step": FromOptimizer,
		"1/1 5 +4 cpu_op aten::mm": None,
	} {
		if got := one(t, source).Source; got != want {
			t.Errorf("%s: %s, want %s", source, got, want)
		}
	}
}

// TestForwardBetweenUpdatesInBackward: optimizers that step in backward make one update of each
// pass, which ends where operators run that are neither its own, nor an optimizer's, on any thread.
func TestForwardBetweenUpdatesInBackward(t *testing.T) {
	pass := func(at int) string {
		return fmt.Sprintf("1/2 %d +20 cpu_op \"autograd::engine::evaluate_function: "+
			"torch::autograd::AccumulateGrad\"\n"+
			"1/2 %d +1 cpu_op torch::autograd::AccumulateGrad\n1/2 %d +9 user_annotation Optimizer.step#A.step\n"+
			"1/2 %d +1 cpu_op aten::mul_\n1/2 %d +1 cpu_op aten::add_\n", at, at+1, at+5, at+6, at+16)
	}
	for _, test := range []struct {
		between string
		want    int
	}{
		{"", 1},
		{"1/1 130 +1 cpu_op aten::mm\n", 2},
		{"1/1 130 +1 cpu_op gaprof::other\n", 1},
		{"1/1 130 +5 user_annotation Optimizer.step#B.step\n1/1 131 +1 cpu_op aten::mm\n", 1},
		{"1/1 120 +1 cpu_op aten::mm\n", 2},
	} {
		s := one(t, "1/1 0 +1 cpu_op aten::mm\n"+pass(100)+test.between+pass(200))
		n := 0
		for i := range s.List {
			n += strings.Count(strings.Join(s.List[i].Optimizers, ""), "A")
		}
		if n != test.want {
			t.Errorf("%q: %d updates of A, want %d", test.between, n, test.want)
		}
	}
}
