package whatif

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/analyze/ranks"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace/text"
)

// lateSteps is the number of steps of a lateRun.
const lateSteps = 6

// late is a run of which one rank is late in every step.
type late struct {
	world, slow  int
	host, kernel int64 // ns by which its host launches later, and by which its kernel takes longer
	extra        int64 // ns of a kernel that it alone launches, 0 for none
	wake         int64 // ns by which hosts return later than the device is done
	noise        int64 // ns: how much longer each rank thinks before a launch at most, now and then ten times that
}

// lateRun writes the traces of ranks that compute and all-reduce in each step and wait for it on the
// host, and says when the last step ends.
func lateRun(r late) (list []string, end int64) {
	traces := make([]strings.Builder, r.world)
	line := func(rank int, at int64, thread string, dur int64, rest string, args ...any) {
		fmt.Fprintf(&traces[rank], "%s %dns +%dns %s\n", thread, at, dur, fmt.Sprintf(rest, args...))
	}
	for rank := range traces {
		const head = "recording format=kineto\ndistributed backend=nccl rank=%d world_size=%d\n"
		fmt.Fprintf(&traces[rank], head, rank, r.world)
	}
	for rank := range r.world {
		line(rank, 0, "1/1", 6_000, "cuda_runtime cudaLaunchKernel corr=999")
		line(rank, 10_000, "0/7", 1_000, "kernel first corr=999 stream=7")
	}
	chance := rand.New(rand.NewPCG(1, uint64(r.world)))
	at := int64(1_000_000)
	for step := range lateSteps {
		start := make([]int64, r.world)
		for rank := range r.world {
			launch, work := at+int64(rank)*1_000, int64(1_000_000)
			if r.noise > 0 {
				launch += chance.Int64N(r.noise)
				if chance.IntN(8) == 0 {
					launch += 10 * r.noise
				}
			}
			if rank == r.slow {
				launch, work = launch+r.host, work+r.kernel
			}
			line(rank, launch, "1/1", 6_000, "cuda_runtime cudaLaunchKernel corr=%d", 10*step+1)
			line(rank, launch+10_000, "0/7", work, "kernel gemm corr=%d stream=7", 10*step+1)
			if rank == r.slow && r.extra > 0 {
				line(rank, launch+12_000, "1/1", 6_000, "cuda_runtime cudaLaunchKernel corr=%d", 10*step+6)
				line(rank, launch+10_000+work, "0/7", r.extra, "kernel spin corr=%d stream=7", 10*step+6)
				work += r.extra
			}
			start[rank] = launch + 10_000 + work + 8_000
			line(rank, launch+20_000, "1/1", 20_000, "cpu_op record_param_comms coll=allreduce in=1000 out=1000 "+
				"dtype=Float group=0 gsize=%d rank=%d seq=%d", r.world, rank, step+1)
			line(rank, launch+22_000, "1/1", 1_000, "cuda_runtime cudaEventRecordWithFlags corr=%d", 10*step+2)
			line(rank, launch+25_000, "1/1", 6_000, "cuda_runtime cudaLaunchKernelExC corr=%d", 10*step+3)
			line(rank, launch+50_000, "1/1", 100_000, "user_annotation Optimizer.step#A.step")
			line(rank, launch+160_000, "1/1", 1_000, "cuda_runtime cudaEventRecord corr=%d", 10*step+5)
			end = max(end, start[rank]+200_000)
		}
		for rank := range r.world {
			line(rank, start[rank], "0/20", end-start[rank],
				"kernel ncclDevKernel_AllReduce_Sum_f32_RING_LL corr=%d stream=20", 10*step+3)
			wait := min(start[rank], end) - 800_000
			line(rank, wait, "1/1", end+10_000+r.wake-wait, "cuda_runtime cudaStreamSynchronize corr=%d", 10*step+4)
		}
		at = end + 100_000 + r.wake
	}
	for rank := range traces {
		list = append(list, traces[rank].String())
	}
	return list, end
}

// worldOfTexts makes the graph of all ranks.
func worldOfTexts(t *testing.T, list []string) (*World, *ranks.Result) {
	t.Helper()
	var of []*Rank
	var sources []ranks.Source
	for i, events := range list {
		tr, err := text.Read(strings.NewReader(events), "")
		if err != nil {
			t.Fatal(err)
		}
		x := timeline.New(tr)
		f := facts.Compute(x)
		of = append(of, Of(x.Ranks[0], f[0]))
		sources = append(sources, ranks.Source{Rank: f[0], ID: int64(i)})
	}
	matched := ranks.Match(sources, ranks.Options{})
	return Together(of, matched), matched
}

// A delay of known length on one rank is what each of the others waits, and what the replay gains
// without it, within 5 % or 0.2 ms: the truth is the same run without it.
func TestKnownDelay(t *testing.T) {
	sizes := []int64{50e3, 100e3, 200e3, 500e3, 1e6, 2e6, 5e6, 10e6, 20e6, 50e6}
	for _, world := range []int{2, 4, 8} {
		for _, d := range sizes {
			for name, r := range map[string]late{
				"host":       {host: d},
				"device":     {kernel: d},
				"a kernel":   {extra: d},
				"noisy host": {host: d, noise: 20_000},
				"woken late": {host: d, wake: 1_000_000},
			} {
				r.world, r.slow = world, 1
				of := fmt.Sprintf("%d ranks, %s, %d us", world, name, d/1000)
				t.Run(of, func(t *testing.T) { knownDelay(t, r, d) })
			}
		}
	}
}

func knownDelay(t *testing.T, r late, d int64) {
	list, end := lateRun(r)
	r.host, r.kernel, r.extra = 0, 0, 0
	_, without := lateRun(r)
	w, matched := worldOfTexts(t, list)
	if f, err := w.Fit(); err != nil || f.Replayed != f.Span || f.Worst != 0 || w.Joined != lateSteps {
		t.Fatalf("%+v, %d joined, %v", f, w.Joined, err)
	}
	truth := (end - without) / lateSteps
	bound := max(d/20, 10_000) // tighter than what is promised
	if r.noise > 0 {
		bound = max(d/20, 200_000)
	}
	within(t, "what the delay costs", truth, d-bound, d+bound)
	within(t, "wait caused", matched.Figures[1].Caused/int64(lateSteps*(r.world-1)), truth-bound, truth+bound)
	if w.Late == 1 { // with noise a short delay is not the worst
		within(t, "gain", predict(t, w, "no-straggler").Gain.Mean, truth-bound, truth+bound)
	}
	within(t, "gain of the rank", predict(t, w, "no-straggler=1").Gain.Mean, truth-bound, truth+bound)
}
