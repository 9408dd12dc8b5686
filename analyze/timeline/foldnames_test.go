package timeline

import (
	"fmt"
	"testing"
)

// TestHasFold: a part anywhere in a name, in any case of letters.
func TestHasFold(t *testing.T) {
	for _, c := range []struct {
		name, part string
		want       bool
	}{
		{"NcclAllReduce", "allreduce", true}, {"ALLREDUCE", "allreduce", true}, {"xallreducex", "allreduce", true},
		{"allreduc", "allreduce", false}, {"all_reduce", "allreduce", false}, {"", "all", false}, {"all", "all", true},
		{"ball", "all", true}, {"call", "alla", false}, {"a2a", "2", true}, {"Reduce", "reduce", true}, {"xyz", "all",
			false},
	} {
		if got := HasFold(c.name, c.part); got != c.want {
			t.Errorf("%s in %s: %v", c.part, c.name, got)
		}
	}
}

// TestWordsOf: where words of a name end; template arguments have none.
func TestWordsOf(t *testing.T) {
	for name, want := range map[string]string{
		"": "__", "allReduce": "_all_reduce_", "all_reduce": "_all_reduce_", "AllReduceKernel": "_all_reduce_kernel_",
		"NCCLAllReduce": "_nccl_all_reduce_", "a2a": "_a_2_a_", "all2All": "_all_2_all_",
		"kernel<all_reduce>":               "_kernel_",
		"kernel<f<x>, all_reduce>dispatch": "_kerneldispatch_", "a<b>::combine<c>": "_a_combine_",
		"deep::notifyRank": "_deep_notify_rank_",
		"x__y":             "_x_y_",
	} {
		if got := wordsOf(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// TestLaunchedOnItsThread: a span launches what is called on its thread until it ends, and nothing of the
// next thread.
func TestLaunchedOnItsThread(t *testing.T) {
	r := only(t, `
1/1 0 +100 cpu_op step
1/1 10 +2 cuda_runtime cudaLaunchKernel corr=1
1/1 99 +5 cuda_runtime cudaLaunchKernel corr=2
1/1 100 +5 cuda_runtime cudaLaunchKernel corr=3
1/2 50 +2 cuda_runtime cudaLaunchKernel corr=4
0/7 200 +1 kernel a corr=1
0/7 210 +1 kernel b corr=2
0/7 220 +1 kernel c corr=3
0/7 230 +1 kernel d corr=4`)
	for row := range int32(len(r.Col.Name)) {
		if r.Name(row) == "step" {
			if got := len(r.LaunchedBy(row)); got != 2 {
				t.Errorf("%d events, want 2", got)
			}
		}
	}
}

// TestSparseNumbers: numbers that are eight times as far apart as there are of them count, others do not.
func TestSparseNumbers(t *testing.T) {
	for last, want := range map[int]int{17: 2, 18: 0} {
		r := only(t, fmt.Sprintf("1/1 0 +1 cpu_op a ext=1\n1/1 5 +1 cpu_op b ext=%d\n0/7 20 +1 kernel k corr=1", last))
		if n := NumbersOf(r); n.There != want {
			t.Errorf("from 1 to %d: %+v", last, n)
		}
	}
}
