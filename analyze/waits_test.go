package analyze

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/facts"
)

// rankOf is n steps of a rank, each with a reduce-scatter of so many elements that
// starts late ns behind the others'.
func rankOf(rank, n, elems, late int, optimizer string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "distributed backend=nccl rank=%d world_size=4\ngroup 0 ranks=0,1,2,3\n", rank)
	for i := range n {
		at := 100_000 * i
		fmt.Fprintf(&b, `9/1 %d +1 cpu_op torch::autograd::AccumulateGrad dims=[[%d]] type=["float"]
9/1 %d +5000 user_annotation Optimizer.step#%s.step
9/1 %d +10 cpu_op record_param_comms coll=_reduce_scatter_base in=%d out=%d dtype=Float group=0 gsize=4
9/1 %d +1 cuda_runtime launch corr=%d
0/9 %d +%d kernel ncclDevKernel_ReduceScatter corr=%d
`, at+5, elems, at+1000, optimizer, at+1100, elems, elems/4, at+1105, i+1, at+3000+late, 20_000-late, i+1)
	}
	return b.String()
}

func TestRanksOfAReport(t *testing.T) {
	input := func(file, source string) Input { return Input{File: file, Trace: read(t, source)} }
	for _, c := range []struct {
		name   string
		inputs []Input
		want   string // straggler, matched, waits, then notes
	}{
		{"nothing", nil, "nil 0 []"},
		{"one rank", []Input{input("a", rankOf(0, 3, 64, 0, "A"))}, "nil 0 [-] "},
		{"two of four", []Input{input("a", rankOf(0, 3, 64, 0, "A")), input("b", rankOf(1, 3, 64, 100, "A"))},
			"1 3 [300 0] process group 0: no trace of ranks 2, 3 was given: a wait for them counts as transfer"},
		{
			"one silent",
			[]Input{
				input("a", rankOf(0, 3, 64, 0, "A")),
				input("b", rankOf(1, 3, 64, 100, "A")),
				input("c", rankOf(2, 3, 64, 0, "A")),
				input("d", "distributed backend=nccl rank=3 world_size=4\n9/1 0 +1 cpu_op aten::mm\n"),
			},
			"1 3 [300 0 300 -] process group 0: rank 3 recorded none of its collectives|" +
				"the ranks did not record the same steps: rank 3 has 0 steps, rank 0 has 3",
		},
		{
			"two models",
			[]Input{input("a", rankOf(0, 3, 64, 0, "A")), input("b", rankOf(1, 3, 128, 0, "B"))},
			"nil 0 [- -] process group 0: rank 0 and rank 1: every alignment has a mismatch|" +
				"process group 0: no trace of ranks 2, 3 was given: a wait for them counts as transfer|" +
				"the ranks did not record the same steps: counted from the end, " +
				"step 1 runs A on rank 0 and B on rank 1|" +
				"ranks 0, 1 show different optimizers or parameters: " +
				"traces of different runs, or parts of one model",
		},
		{
			"no number of their own",
			[]Input{
				input("a", strings.Replace(rankOf(0, 3, 64, 0, "A"), "rank=0", "rank=0", 1)),
				input("b", rankOf(0, 3, 64, 100, "A")),
			},
			"1 3 [300 0] ", // who is a member is unknown then, so nobody is called absent
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := Run(c.inputs, Options{})
			got := "nil"
			if r.Straggler != nil {
				got = fmt.Sprint(*r.Straggler)
			}
			var waits []string
			for _, row := range r.Ranks {
				if row.Wait == nil {
					waits = append(waits, "-")
					continue
				}
				waits = append(waits, fmt.Sprint(*row.Wait))
			}
			got = fmt.Sprint(got, " ", r.Matching.Matched, " ", waits, " ", strings.Join(r.Matching.Notes, "|"))
			if strings.TrimSpace(got) != strings.TrimSpace(c.want) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
			if len(c.inputs) > 1 != (r.Matching.SameSteps != nil) {
				t.Error(r.Matching.SameSteps)
			}
		})
	}
}

func TestHostOf(t *testing.T) {
	for file, want := range map[string]string{
		"traces/node-3_4711.1700000000000000000.pt.trace.json.gz": "node-3",
		`C:\runs\gpu_box_12.1700000000.pt.trace.json`:             "gpu_box",
		"node-3.pt.trace.json":                                    "",
		"rank0_trace.json.gz":                                     "",
		"-":                                                       "",
	} {
		if got := hostOf(&Rank{File: file, Rank: &facts.Rank{}}); got != want {
			t.Errorf("%s: %q, want %q", file, got, want)
		}
	}
	said := &facts.Rank{Identity: facts.Identity{Host: "gpu17.cluster"}}
	if got := hostOf(&Rank{File: "node-3_4711.1.pt.trace.json", Rank: said}); got != "gpu17.cluster" {
		t.Errorf("%q: the trace goes before the name of its file", got)
	}
}
