package facts

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/text"
)

// index reads a trace in text form and indexes it.
func index(t *testing.T, source string) *timeline.Index {
	t.Helper()
	tr, err := text.Read(strings.NewReader(source), "test")
	if err != nil {
		t.Fatal(err)
	}
	return timeline.New(tr)
}

// compute reads a trace in text form and returns its facts.
func compute(t *testing.T, source string) []*Rank {
	t.Helper()
	return Compute(index(t, source))
}

// one is compute for a trace of a single rank.
func one(t *testing.T, source string) *Rank {
	t.Helper()
	ranks := compute(t, source)
	if len(ranks) != 1 {
		t.Fatalf("%d ranks, want 1", len(ranks))
	}
	checkInvariants(t, ranks[0])
	return ranks[0]
}

// checkInvariants holds what is true of every rank of every trace.
func checkInvariants(t *testing.T, r *Rank) {
	t.Helper()
	for i := range r.Steps {
		for k, w := range r.Steps[i].Windows {
			if idle := r.Steps[i].Idle[k].Sum(); idle != w.Ledger[timeline.IdleBucket] {
				t.Errorf("step %d: causes of idle time sum to %d, the ledger is %v", i, idle, w.Ledger)
			}
			if w.Ledger.Sum() != w.End-w.Start {
				t.Errorf("step %d: the ledger sums to %d, the window is %d", i, w.Ledger.Sum(), w.End-w.Start)
			}
			for b, ns := range w.Ledger {
				if ns < 0 {
					t.Errorf("step %d: bucket %v is %d", i, timeline.Bucket(b), ns)
				}
			}
		}
	}
	for _, kind := range timeline.CollectiveKinds() {
		o := r.Measure(r.Select(func(m *Collective) bool { return m.Kind == kind }))
		if o.Overlapped > o.Busy || o.WithMemory > o.Busy || o.Overlapped > o.WithMemory {
			t.Errorf("%v: %+v", kind, o)
		}
	}
	if r.Unlinked > r.DeviceEvents || r.UnlinkedAtStart > r.Unlinked {
		t.Errorf("%d events, %d unlinked, %d at the start", r.DeviceEvents, r.Unlinked, r.UnlinkedAtStart)
	}
	if len(r.FirstUnlinked) != min(mostShown, r.Unlinked) {
		t.Errorf("%d events of %d without launches are shown", len(r.FirstUnlinked), r.Unlinked)
	}
}

func wantText(t *testing.T, got, want string) {
	t.Helper()
	if want = strings.TrimLeft(want, "\n"); got != want {
		t.Errorf("got:\n%swant:\n%s", got, want)
	}
}

func TestEmptyTrace(t *testing.T) {
	if ranks := compute(t, ""); len(ranks) != 0 {
		t.Errorf("%d ranks in an empty trace", len(ranks))
	}
	if ranks := Compute(timeline.New(trace.NewBuilder().Build())); len(ranks) != 0 {
		t.Errorf("%d ranks", len(ranks))
	}
}

const accumulateGrad = "cpu_op torch::autograd::AccumulateGrad"

// Collectives are hidden by compute kernels, and by copies in the second figure.
func TestOverlap(t *testing.T) {
	r := one(t, `
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
	if r.Unlinked != 1 || r.UnlinkedAtStart != 1 {
		t.Errorf("unlinked %d, at start %d", r.Unlinked, r.UnlinkedAtStart)
	}
	if o := r.Measure(r.Select(func(*Collective) bool { return true })); o != (Overlap{1, 30, 10, 20}) {
		t.Errorf("overlap %+v", o)
	}
}

// TestEventsOutsideSteps: what is launched after the last update is in no step.
func TestEventsOutsideSteps(t *testing.T) {
	r := one(t, `
1/1 10 +1 `+accumulateGrad+`
1/1 20 +10 user_annotation Optimizer.step#A.step
1/1 21 +1 cuda_runtime cudaLaunchKernel corr=1
1/1 40 +1 cuda_runtime cudaLaunchKernel corr=2
0/7 100 +50 kernel k corr=1
0/7 200 +50 kernel k corr=2`)
	if len(r.Steps) != 1 || r.Steps[0].LinkedEvents != 1 || r.Steps[0].Windows[0].End != 150 {
		t.Errorf("%+v", r.Steps)
	}
}

// TestLaunchProblems: what timeline finds wrong with launches is a problem of the rank.
func TestLaunchProblems(t *testing.T) {
	for _, test := range []struct {
		name, source string
		linked       int
		problem      trace.Code
	}{
		{"one launch of many operations is a graph", `
1/1 1 +5 cuda_runtime cudaGraphLaunch corr=1
0/7 10 +1 kernel a corr=1
0/7 20 +1 kernel b corr=1`, 2, ""},
		{"two separate launches with one id", `
1/1 1 +2 cuda_runtime cudaLaunchKernel corr=1
1/1 5 +2 cuda_runtime cudaLaunchKernel corr=1
0/7 10 +1 kernel a corr=1`, 0, trace.DuplicateLaunch},
		{"the External id decides between them", `
1/1 1 +2 cuda_runtime cudaLaunchKernel corr=1 ext=4
1/1 5 +2 cuda_runtime cudaLaunchKernel corr=1 ext=5
0/7 10 +1 kernel a corr=1 ext=5`, 1, trace.DuplicateLaunch},
		{"before its launch", `
1/1 10 +2 cuda_runtime cudaLaunchKernel corr=1
0/7 9 +1 kernel a corr=1`, 1, trace.ImpossibleDevice},
		{"without any id", `
1/1 1 +2 cuda_runtime cudaLaunchKernel corr=1
0/7 9 +1 kernel a`, 0, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := one(t, test.source)
			if got := r.DeviceEvents - r.Unlinked; got != test.linked {
				t.Errorf("%d linked, want %d", got, test.linked)
			}
			found := trace.Code("")
			for _, p := range r.Problems {
				if p.Code != trace.Unlinked {
					found = p.Code
				}
			}
			if found != test.problem {
				t.Errorf("problem %q, want %q", found, test.problem)
			}
		})
	}
}

// TestGenericKernels: RCCL calls every collective Generic; the message has the kind.
func TestGenericKernels(t *testing.T) {
	r := one(t, `
1/1 100 +9 cpu_op record_param_comms coll=_reduce_scatter_base `+
		`in=1000 out=125 dtype=BFloat16 group=3 gsize=8 seq=4 rank=5
1/1 101 +5 cuda_runtime hipExtLaunchKernel corr=1
1/1 120 +9 cpu_op record_param_comms coll=all_to_all in=10 out=10 dtype=Float
1/1 121 +5 cuda_runtime hipExtLaunchKernel corr=2
0/0 200 +30 kernel "ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)" corr=1
0/0 300 +30 kernel "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)" corr=2
0/0 400 +30 kernel "ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)" corr=9`)
	var got strings.Builder
	for _, m := range r.Collectives {
		fmt.Fprintf(&got, "%v bytes=%d group=%q size=%d seq=%d\n", m.Kind, m.Bytes, m.Group, m.GroupSize, m.Seq)
	}
	wantText(t, got.String(), `
reduce_scatter bytes=2000 group="3" size=8 seq=4
all_to_all bytes=40 group="" size=0 seq=-1
other bytes=-1 group="" size=0 seq=-1
`)
	if r.ID != 5 || r.WorldSize != 8 || r.IDSource != "record_param_comms" {
		t.Errorf("rank %d of %d by %s", r.ID, r.WorldSize, r.IDSource)
	}
}

// inferenceTrace is two linked periods of B A A after an unlinked beginning.
func inferenceTrace(unlinked ...string) string {
	var b strings.Builder
	for i, name := range unlinked {
		fmt.Fprintf(&b, "0/9 %d +5 kernel ncclDevKernel_ReduceScatter_Sum_%s_RING_LL\n", 10+10*i, name)
	}
	for step := range 2 {
		t := 1000 * (step + 1)
		fmt.Fprintf(&b, "1/1 %d +1 %s\n", t-500, accumulateGrad)
		for i, name := range []string{"f32", "bf16", "bf16"} {
			optimizer := "A"
			if i == 0 {
				optimizer = "B"
			}
			at, corr := t-400+50*i, step*3+i+1
			fmt.Fprintf(&b, "1/1 %d +40 user_annotation Optimizer.step#%s.step\n", at, optimizer)
			fmt.Fprintf(&b, "1/1 %d +5 cuda_runtime cudaLaunchKernel corr=%d\n", at+10, corr)
			fmt.Fprintf(&b, "0/9 %d +5 kernel ncclDevKernel_ReduceScatter_Sum_%s_RING_LL corr=%d\n", t+10*i, name, corr)
		}
	}
	return b.String()
}

func TestInferredGroups(t *testing.T) {
	for _, test := range []struct {
		name     string
		unlinked []string
		want     string
	}{
		{"none", nil, ""},
		{"a whole period", []string{"f32", "bf16", "bf16"}, "B 1, A 2"},
		{"aligned from the end", []string{"bf16"}, "A 1"},
		{"two periods are two groups", []string{"bf16", "f32", "bf16", "bf16"}, "A 1, B 1, A 2"},
		{"a mismatch ends it", []string{"f32", "f32", "bf16"}, "A 1"},
		{"no match at the end", []string{"f32"}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := one(t, inferenceTrace(test.unlinked...))
			var parts []string
			for _, g := range r.Groups {
				if g.Inferred {
					parts = append(parts, fmt.Sprintf("%s %d", g.Site.Name, len(g.Members)))
				}
			}
			if got := strings.Join(parts, ", "); got != test.want {
				t.Errorf("inferred %q, want %q", got, test.want)
			}
			for _, m := range r.Collectives {
				if !m.Linked && m.Site != timeline.UnknownSite {
					t.Error("a guess entered the launch sites")
				}
			}
		})
	}
}

// TestSeveralRanksInOneFile: correlation ids clash, processes and devices do not.
func TestSeveralRanksInOneFile(t *testing.T) {
	ranks := compute(t, `
distributed backend=nccl rank=0 world_size=2
10/10 0 +9 cpu_op record_param_comms coll=allreduce in=8 out=8 dtype=Float rank=0 gsize=2 ext=1
10/10 1 +2 cuda_runtime cudaLaunchKernel corr=1 ext=1
10/10 20 +5 user_annotation Optimizer.step#A.step
20/20 0 +9 cpu_op record_param_comms coll=allreduce in=8 out=8 dtype=Float rank=1 gsize=2 ext=2
20/20 1 +2 cuda_runtime cudaLaunchKernel corr=1 ext=2
20/20 20 +5 user_annotation Optimizer.step#A.step
0/7 30 +5 kernel "ncclDevKernel_AllReduce_Sum_f32_RING_LL()" corr=1 ext=1
1/7 30 +9 kernel "ncclDevKernel_AllReduce_Sum_f32_RING_LL()" corr=1 ext=2`)
	if len(ranks) != 2 {
		t.Fatalf("%d ranks, want 2", len(ranks))
	}
	for i, r := range ranks {
		checkInvariants(t, r)
		if r.ID != int64(i) || r.WorldSize != 2 {
			t.Errorf("rank %d: %d of %d", i, r.ID, r.WorldSize)
		}
		if len(r.Devices) != 1 || r.Devices[0].PID != fmt.Sprint(i) || len(r.Collectives) != 1 {
			t.Errorf("rank %d: %d devices, %d collectives", i, len(r.Devices), len(r.Collectives))
		}
	}
}

// TestProblemsOfTheTrace: what is wrong with a trace as a whole is reported with the first of
// its ranks only, before its own problems.
func TestProblemsOfTheTrace(t *testing.T) {
	ranks := compute(t, `
10/10 1 +2 cuda_runtime cudaLaunchKernel corr=1 ext=1
20/20 1 +2 cuda_runtime cudaLaunchKernel corr=1 ext=2
0/7 30 +5 kernel a corr=1 ext=1
0/7 30 +9 kernel b corr=1 ext=2
0/7 10 +9 kernel c corr=77`)
	if len(ranks) != 2 || ranks[0].DeviceEvents != 1 || ranks[1].DeviceEvents != 1 {
		t.Fatalf("%d ranks", len(ranks))
	}
	if p := ranks[0].Problems[0]; p.Code != trace.SharedDevice || p.Count != 1 {
		t.Errorf("problem %+v", p)
	}
	if hasProblem(ranks[1], trace.SharedDevice) {
		t.Error("the second rank reports it again")
	}
}

// TestSeveralDevices: devices of one process are summed, never united.
func TestSeveralDevices(t *testing.T) {
	r := one(t, `
1/1 1 +2 cuda_runtime cudaLaunchKernel corr=1
1/1 5 +2 cuda_runtime cudaLaunchKernel corr=2
1/1 8 +2 cuda_runtime cudaLaunchKernel corr=3
0/7 100 +50 kernel ncclDevKernel_AllReduce_Sum_f32_RING_LL corr=1
1/7 100 +50 kernel ncclDevKernel_AllReduce_Sum_f32_RING_LL corr=2
1/9 100 +20 kernel gemm corr=3`)
	if o := r.Measure(r.Select(func(*Collective) bool { return true })); o != (Overlap{2, 100, 20, 20}) {
		t.Errorf("%+v", o)
	}
}

func TestDoubt(t *testing.T) {
	overlapping := `
0/7 100 +50 kernel gemm
0/7 120 +50 kernel ncclDevKernel_AllReduce_Sum_f32_RING_LL`
	if r := one(t, overlapping); !r.SelfOverlap || !hasProblem(r, trace.CommOnCompute) {
		t.Error("communication on top of compute of its own stream is not doubted")
	}
	serial := `
0/7 100 +20 kernel gemm
0/7 120 +50 kernel ncclDevKernel_AllReduce_Sum_f32_RING_LL`
	if r := one(t, serial); r.SelfOverlap || !hasProblem(r, trace.CommOnCompute) {
		t.Error("one stream after the other is possible")
	}
	little := serial + "\n0/9 100 +21 kernel gemm"
	if r := one(t, little); r.SelfOverlap || hasProblem(r, trace.CommOnCompute) {
		t.Error("a stream of communication may compute a little")
	}
	if r := one(t, little+"\n0/7 160 +1 kernel add"); !r.SelfOverlap || !hasProblem(r, trace.CommOnCompute) {
		t.Error("on top of communication it may not")
	}
	var slow strings.Builder
	for i := range minSample {
		fmt.Fprintf(&slow, "1/1 %dms +5ms cuda_runtime cudaLaunchKernel corr=%d\n", 10*i, i+1)
		fmt.Fprintf(&slow, "0/7 %dms +1ms kernel k corr=%d\n", 10*i+5, i+1)
	}
	if r := one(t, slow.String()); !hasProblem(r, trace.SuspectUnit) {
		t.Error("launches of 5 ms are not doubted")
	}
	if r := one(t, strings.ReplaceAll(slow.String(), "+5ms", "+5us")); hasProblem(r, trace.SuspectUnit) {
		t.Error("launches of 5 us are doubted")
	}
}

func hasProblem(r *Rank, code trace.Code) bool {
	for _, p := range r.Problems {
		if p.Code == code {
			return true
		}
	}
	return false
}

// TestGlobalRank: Rank is the place in a group; the largest group is the world.
func TestGlobalRank(t *testing.T) {
	r := one(t, `
1/1 0 +9 cpu_op record_param_comms coll=allreduce in=8 out=8 dtype=Float rank=1 gsize=2 granks="[3, 5]"
1/1 10 +9 cpu_op record_param_comms coll=allreduce in=8 out=8 rank=5 gsize=8 granks="[0, 1, 2, 3, 4, 5, 6, 7]"
1/1 20 +9 cpu_op record_param_comms coll=allreduce in=8 out=8 dtype=Float rank=5 gsize=8`)
	if r.ID != 5 || r.WorldSize != 8 || r.Mixed() {
		t.Errorf("rank %d of %d, mixed %v", r.ID, r.WorldSize, r.Mixed())
	}
	mixed := one(t, `
1/1 0 +9 cpu_op record_param_comms coll=allreduce in=8 out=8 dtype=Float rank=0 gsize=2
1/1 10 +9 cpu_op record_param_comms coll=allreduce in=8 out=8 dtype=Float rank=1 gsize=2`)
	if !mixed.Mixed() || !hasProblem(mixed, trace.MixedRanks) {
		t.Error("two ranks in one process are not noticed")
	}
}

// A shape that no tensor has is said to be one: what follows from it is unknown.
func TestImpossibleShapeIsSaid(t *testing.T) {
	said := func(dims string) string {
		r := one(t, `
1/1 0 +5 cpu_op torch::autograd::AccumulateGrad dims=`+dims+`
1/1 10 +5 user_annotation Optimizer.step#SGD.step
0/7 1 +1 kernel k`)
		for _, p := range r.Problems {
			if p.Code == trace.NumberRange {
				return p.Detail
			}
		}
		return ""
	}
	const want = "shapes of more than 1099511627776 elements, such as [[4294967296,4294967296]]"
	if got := said("[[4294967296,4294967296]]"); got != want {
		t.Errorf("%q", got)
	}
	if got := said("[[4294967296,256]]"); got != "" {
		t.Errorf("%q", got)
	}
}
