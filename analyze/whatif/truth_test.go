package whatif

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/analyze/ranks"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace/text"
)

// lateRun writes the traces of ranks that compute and all-reduce in each step and wait for it on the
// host. The host of one rank thinks for late ns before it launches.
func lateRun(world, slow int, late int64) []string {
	traces := make([]strings.Builder, world)
	line := func(rank int, at int64, thread string, dur int64, rest string, args ...any) {
		fmt.Fprintf(&traces[rank], "%s %dns +%dns %s\n", thread, at, dur, fmt.Sprintf(rest, args...))
	}
	for rank := range traces {
		const head = "recording format=kineto\ndistributed backend=nccl rank=%d world_size=%d\n"
		fmt.Fprintf(&traces[rank], head, rank, world)
	}
	for rank := range world {
		line(rank, 0, "1/1", 6_000, "cuda_runtime cudaLaunchKernel corr=999")
		line(rank, 10_000, "0/7", 1_000, "kernel first corr=999 stream=7")
	}
	at := int64(1_000_000)
	for step := range 6 {
		end := int64(0)
		start := make([]int64, world)
		for rank := range world {
			launch := at + int64(rank)*1_000
			if rank == slow {
				launch += late
			}
			line(rank, launch, "1/1", 6_000, "cuda_runtime cudaLaunchKernel corr=%d", 10*step+1)
			line(rank, launch+10_000, "0/7", 1_000_000, "kernel gemm corr=%d stream=7", 10*step+1)
			start[rank] = launch + 10_000 + 1_000_000 + 8_000
			line(rank, launch+20_000, "1/1", 20_000, "cpu_op record_param_comms coll=allreduce in=1000 out=1000 "+
				"dtype=Float group=0 gsize=%d rank=%d seq=%d", world, rank, step+1)
			line(rank, launch+22_000, "1/1", 1_000, "cuda_runtime cudaEventRecordWithFlags corr=%d", 10*step+2)
			line(rank, launch+25_000, "1/1", 6_000, "cuda_runtime cudaLaunchKernelExC corr=%d", 10*step+3)
			line(rank, launch+50_000, "1/1", 100_000, "user_annotation Optimizer.step#A.step")
			end = max(end, start[rank]+200_000)
		}
		for rank := range world {
			line(rank, start[rank], "0/20", end-start[rank],
				"kernel ncclDevKernel_AllReduce_Sum_f32_RING_LL corr=%d stream=20", 10*step+3)
			wait := start[rank] - 800_000
			line(rank, wait, "1/1", end+10_000-wait, "cuda_runtime cudaStreamSynchronize corr=%d", 10*step+4)
		}
		at = end + 100_000
	}
	var list []string
	for rank := range traces {
		list = append(list, traces[rank].String())
	}
	return list
}

// A delay of known length on one rank is what the others wait, and what the replay gains without it.
func TestKnownDelay(t *testing.T) {
	for _, world := range []int{2, 4, 8} {
		for _, late := range []int64{50e3, 100e3, 200e3, 500e3, 1e6, 2e6, 5e6, 10e6, 20e6, 50e6} {
			var list []*Rank
			var sources []ranks.Source
			for i, events := range lateRun(world, 1, late) {
				tr, err := text.Read(strings.NewReader(events), "")
				if err != nil {
					t.Fatal(err)
				}
				x := timeline.New(tr)
				of := facts.Compute(x)
				list = append(list, Of(x.Ranks[0], of[0]))
				sources = append(sources, ranks.Source{Rank: of[0], ID: int64(i)})
			}
			w := Together(list, ranks.Match(sources, ranks.Options{}))
			if f, err := w.Fit(); err != nil || f.Replayed != f.Span || f.Worst != 0 || w.Joined != 6 {
				t.Fatalf("%d ranks, %d ns: %+v, %d joined, %v", world, late, f, w.Joined, err)
			}
			got := predict(t, w, "no-straggler").Gain.Mean
			want := late - 1_000*int64(world-2) // the others are up to so much late themselves
			if off := got - want; max(off, -off) > want/100+2_000 {
				t.Errorf("%d ranks, a delay of %d ns: gain of %d", world, late, got)
			}
		}
	}
}
