package facts

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/gradients"
	"github.com/gaprof/gaprof/analyze/idle"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace"
)

const reduceScatter = "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL"

// replays is a recording of n steps, 1000 us apart, each of which launches a copy and a graph
// of two kernels and a reduce-scatter in between, that overlaps the first and runs on the
// same row. Of the graph's events each has args, and the reduce-scatter also comm.
func replays(n int, launch, args, comm string) string {
	var b strings.Builder
	for k := range n {
		at := 1000 * k
		fmt.Fprintf(&b, "1/1 %dus +8us cuda_runtime cudaMemcpyAsync corr=%d\n", at+10, 10*k+1)
		fmt.Fprintf(&b, "0/7 %dus +5us gpu_memcpy \"Memcpy HtoD (Pinned -> Device)\" corr=%d\n", at+100, 10*k+1)
		fmt.Fprintf(&b, "1/1 %dus +80us user_annotation Optimizer.step#AdamW.step\n", at+120)
		fmt.Fprintf(&b, "1/1 %dus +30us cuda_runtime %s corr=%d\n", at+130, launch, 10*k+2)
		fmt.Fprintf(&b, "0/7 %dus +300us kernel gemm corr=%d %s\n", at+200, 10*k+2, args)
		fmt.Fprintf(&b, "0/7 %dus +200us kernel %s corr=%d %s %s\n", at+400, reduceScatter, 10*k+2, args, comm)
		fmt.Fprintf(&b, "0/7 %dus +50us kernel adam corr=%d %s\n", at+650, 10*k+2, args)
	}
	return b.String()
}

// TestReplays: everything of a replay belongs to the step that launches the graph. That its
// parts overlap on one row says nothing: the driver, or a tool, chose it.
func TestReplays(t *testing.T) {
	r := one(t, replays(4, "cudaGraphLaunch", "graph=3", ""))
	if len(r.Problems) > 0 || r.SelfOverlap || r.OnCompute > 0 {
		t.Errorf("problems %v, overlap %v, %d on streams of compute", r.Problems, r.SelfOverlap, r.OnCompute)
	}
	for i := range r.Steps {
		s := &r.Steps[i]
		w := s.Windows[0]
		length := int64(1_000_000)
		if i == 3 {
			length = 600_000 // to the end of its own activity
		}
		if s.LinkedEvents != 4 || w.Start != int64(1000*i+100)*1000 || w.End-w.Start != length {
			t.Errorf("step %d: %d events, window %d+%d", i, s.LinkedEvents, w.Start, w.End-w.Start)
		}
		if l := w.Ledger; l[timeline.ComputeBucket] != 350_000 || l[timeline.ReduceScatterBucket] != 100_000 {
			t.Errorf("step %d: %v", i, l)
		}
	}
	for i, c := range r.Collectives {
		want := timeline.LaunchSite{Site: timeline.SiteGraph, Name: "optimizer_step AdamW"}
		if !c.Linked || !c.Replayed || c.Step != i || c.Site != want {
			t.Errorf("%+v", c)
		}
	}
	// The same, launched kernel by kernel in one call, cannot be.
	if r := one(t, replays(4, "cudaLaunchKernel", "", "")); !r.SelfOverlap || r.Collectives[0].Replayed {
		t.Error("communication beside compute on one stream is not noticed")
	}
}

// TestIdleOfReplays: what ends a gap before a replay was launched by the graph's call; gaps
// inside are the device's own, or the order of the graph.
func TestIdleOfReplays(t *testing.T) {
	r := one(t, replays(4, "cudaGraphLaunch", "graph=3", ""))
	// 105 to 200: until 120 nothing is known of the host (it ended its call at 18), until 130 it
	// is in the optimizer, until 160 the launch is open; the 40 that follow are long.
	// 600 to 650 inside the graph: launched long ago. 700 to 1100: the host is late until 1010,
	// after which the call is open for 8 and the copy starts 82 later.
	want := map[idle.Cause]int64{
		idle.NoOperator: 15_000 + 310_000, idle.Optimizer: 10_000, idle.LaunchLatency: 30_000 + 8_000,
		idle.QueuedWait: 40_000 + 50_000 + 82_000,
	}
	for cause, ns := range r.Steps[1].Idle[0].Causes {
		if ns != want[idle.Cause(cause)] {
			t.Errorf("%s: %d, want %d", idle.Cause(cause), ns, want[idle.Cause(cause)])
		}
	}
}

// TestAnnotatedReplays: the numbers of annotations are those of the capture, which every
// replay repeats; the message is the kernel's, the site where it was captured.
func TestAnnotatedReplays(t *testing.T) {
	r := one(t, replays(3, "hipGraphLaunch", "graph=3 module=layers.0 phase=backward",
		`coll=_reduce_scatter_base in=8000000 out=4000000 dtype=bfloat16 group=0 gdesc=mesh_dp gsize=2 seq=41`))
	for _, c := range r.Collectives {
		if c.Number() != -1 || c.Captured() != 41 || c.Bytes != 16_000_000 || c.Desc != "mesh_dp" || c.GroupSize != 2 {
			t.Errorf("%+v", c)
		}
		if c.Site != (timeline.LaunchSite{Site: timeline.SiteBackwardHook}) {
			t.Errorf("%+v", c.Site)
		}
	}
	if r = one(t, replays(3, "launch", "", "coll=allreduce seq=41")); r.Collectives[0].Number() != 41 ||
		r.Collectives[0].Captured() != -1 {
		t.Errorf("%+v", r.Collectives[0])
	}
}

// TestReplaysWithIDsOfTheirOwn: where kernels have ids that no call has, the graph's number
// still says what they are; from where they were launched is not known.
func TestReplaysWithIDsOfTheirOwn(t *testing.T) {
	source := replays(3, "cudaGraphLaunch", "graph=3", "seq=4 module=head")
	for k := range 3 {
		source = strings.ReplaceAll(source, fmt.Sprintf("corr=%d graph", 10*k+2), fmt.Sprintf("corr=%d graph", 900+k))
	}
	r := one(t, source)
	for _, c := range r.Collectives {
		if c.Linked || !c.Replayed || c.Site != timeline.UnknownSite || c.Number() != -1 || c.Step != -1 {
			t.Errorf("%+v", c)
		}
	}
	if r.SelfOverlap || r.Unlinked != 9 || len(r.Groups) > 0 {
		t.Errorf("overlap %v, %d unlinked, %d groups", r.SelfOverlap, r.Unlinked, len(r.Groups))
	}
}

// TestSyncOfReplays: reductions inside a graph may be those of the gradients. Small ones are
// norms and counts.
func TestSyncOfReplays(t *testing.T) {
	backward := "1/1 1us +1us cpu_op torch::autograd::AccumulateGrad dims=[[8,8]] type=[\"float\"]\n" +
		"1/1 1001us +1us cpu_op torch::autograd::AccumulateGrad dims=[[8,8]] type=[\"float\"]\n"
	for _, c := range []struct {
		launch, comm string
		want         gradients.SyncPattern
	}{
		{"cudaGraphLaunch", "", gradients.SyncUnknown},
		{"cudaGraphLaunch", "coll=_reduce_scatter_base in=800 out=400 dtype=Float", gradients.SyncUnknown},
		{"cudaGraphLaunch", "coll=_reduce_scatter_base in=8 out=4 dtype=Float", gradients.SyncNone},
		{"cudaGraphLaunch", "coll=allreduce", gradients.SyncUnknown},
		{"cudaGraphLaunch", "coll=allreduce in=4 out=4 dtype=Float", gradients.SyncNone},
		{"cudaGraphLaunch", "coll=allreduce in=64 out=64 dtype=Float", gradients.SyncUnknown},
		{"cudaLaunchKernel", "", gradients.SyncNone},
	} {
		source := backward + replays(2, c.launch, "", c.comm)
		if strings.Contains(c.comm, "coll=allreduce") {
			source = strings.ReplaceAll(source, reduceScatter, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL")
		}
		r := one(t, source)
		if r.Sync.Pattern != c.want || (r.Sync.PerPass == nil) != (c.want == gradients.SyncUnknown) {
			t.Errorf("%s %s: %s %v, want %s", c.launch, c.comm, r.Sync.Pattern, r.Sync.PerPass, c.want)
		}
	}
}

// TestPhasesOfReplays: parts of a graph are of the phase in which they were captured.
func TestPhasesOfReplays(t *testing.T) {
	backward := "1/1 1us +1us cpu_op torch::autograd::AccumulateGrad dims=[[8,8]] type=[\"float\"]\n"
	for _, c := range []struct {
		name, source string
		want         Phase
	}{
		{"all of a step, perhaps", replays(1, "cudaGraphLaunch", "", ""), PhaseUnknown},
		{"after an eager backward", backward + replays(1, "cudaGraphLaunch", "", ""), PhaseOptimizer},
		{"annotated", replays(1, "cudaGraphLaunch", "phase=backward", ""), PhaseBackward},
		{"annotated as a step", replays(1, "cudaGraphLaunch", `"name"=Optimizer.step#A.step`, ""), PhaseOptimizer},
		{"no graph", replays(1, "cudaLaunchKernel", "", ""), PhaseOptimizer},
	} {
		x := index(t, c.source)
		rank, d := x.Ranks[0], x.Ranks[0].Devices[0]
		phases := NewPhases(rank, Compute(x)[0])
		for i, row := range d.Rows {
			if rank.Name(row) == "gemm" {
				if got := phases.Phase(row, d.Launch[i]); got != c.want {
					t.Errorf("%s: %s, want %s", c.name, got, c.want)
				}
			}
		}
	}
}

// TestWarmupCapture: the calls of a step that only captures launch nothing, and no two
// calls of theirs are one.
func TestWarmupCapture(t *testing.T) {
	var b strings.Builder
	b.WriteString("1/1 -900us +9us cuda_runtime cudaStreamBeginCapture_v10000 corr=800\n")
	for i := range 20 {
		fmt.Fprintf(&b, "1/1 %dus +5us cuda_runtime cudaLaunchKernel corr=%d\n", -800+10*i, 801+i)
	}
	b.WriteString("1/1 -500us +300us cuda_runtime cudaGraphInstantiate corr=900\n")
	b.WriteString("1/1 -100us +20us user_annotation Optimizer.step#AdamW.step\n")
	r := one(t, b.String()+replays(3, "cudaGraphLaunch", "graph=3", ""))
	if len(r.Steps) != 4 || len(r.Steps[0].Windows) > 0 || r.Steps[0].LinkedEvents > 0 || r.Steps[1].LinkedEvents != 4 {
		t.Errorf("%d steps, %+v", len(r.Steps), r.Steps[0].Windows)
	}
	if hasProblem(r, trace.DuplicateLaunch) || r.Unlinked > 0 {
		t.Errorf("%v", r.Problems)
	}
}

// TestHostOfRank: the machine that the trace names, but in merged files, which name one.
func TestHostOfRank(t *testing.T) {
	const merged = "recording host=gpu17\n1/1 1 +1 cuda_runtime l corr=1\n0/7 9 +1 kernel k corr=1\n"
	if r := one(t, merged); r.Host != "gpu17" {
		t.Errorf("%q", r.Host)
	}
	for _, r := range compute(t, merged+"2/1 1 +1 cuda_runtime l corr=7\n1/7 9 +1 kernel k corr=7\n") {
		if r.Host != "" {
			t.Errorf("%q in a merged file", r.Host)
		}
	}
}

// TestEagerBesideReplays: compute of a graph that is drawn on the stream of a collective is
// no sign of wrong tracks.
func TestEagerBesideReplays(t *testing.T) {
	const eager = "1/1 15us +2us cuda_runtime launch corr=700\n0/7 250us +100us kernel " + reduceScatter + " corr=700\n"
	if r := one(t, eager+replays(1, "cudaGraphLaunch", "", "")); r.SelfOverlap || r.OnCompute > 0 {
		t.Errorf("overlap %v, %d on streams of compute", r.SelfOverlap, r.OnCompute)
	}
	if r := one(t, eager+replays(1, "launch", "", "")); !r.SelfOverlap {
		t.Error("without a graph it is one")
	}
}
