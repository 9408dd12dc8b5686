package facts

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/timeline"
)

// lanes are what runs on the streams of a random trace: compute, copies, and two kinds each
// of communication with a bucket of its own and without.
var lanes = []struct {
	event string
	kind  timeline.CollectiveKind
}{
	{"0/7 %dus +%dus kernel gemm", timeline.NotCommunication},
	{"0/8 %dus +%dus gpu_memcpy copy", timeline.NotCommunication},
	{"0/9 %dus +%dus kernel ncclDevKernel_ReduceScatter_Sum_f32_RING_LL", timeline.ReduceScatter},
	{"0/10 %dus +%dus kernel ncclDevKernel_AllGather_RING_LL", timeline.AllGather},
	{"0/11 %dus +%dus kernel ncclDevKernel_Broadcast_RING_LL", timeline.Broadcast},
	{"0/12 %dus +%dus kernel ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", timeline.SendRecv},
}

// spread is a random trace of some length in microseconds, and by lane what runs when.
func spread(r *rand.Rand, length int) (string, [][]bool) {
	var b strings.Builder
	runs := make([][]bool, len(lanes))
	for i, lane := range lanes {
		runs[i] = make([]bool, length)
		for at := r.IntN(12); at < length; {
			n := min(1+r.IntN(9), length-at)
			fmt.Fprintf(&b, lane.event+"\n", at, n)
			for k := range n {
				runs[i][at+k] = true
			}
			at += n + r.IntN(12)
		}
	}
	return b.String(), runs
}

// count counts the microseconds in which something is so, in ns.
func count(length int, is func(at int) bool) int64 {
	n := int64(0)
	for at := range length {
		if is(at) {
			n += 1000
		}
	}
	return n
}

// TestExposedAgainstInstants compares busy, hidden and exposed time of each kind with what
// looking at every microsecond says.
func TestExposedAgainstInstants(t *testing.T) {
	const length = 120
	r := rand.New(rand.NewPCG(5, 6))
	for range 40 {
		source, runs := spread(r, length)
		rank := one(t, source)
		any := func(at, from, to int) bool {
			return slices.ContainsFunc(runs[from:to], func(lane []bool) bool { return lane[at] })
		}
		all := int64(0)
		for i := 2; i < len(lanes); i++ {
			kind := lanes[i].kind
			which := rank.Select(func(c *Collective) bool { return c.Kind == kind })
			busy := count(length, func(at int) bool { return runs[i][at] })
			want := Overlap{len(which), busy, count(length, func(at int) bool { return runs[i][at] && runs[0][at] }),
				count(length, func(at int) bool { return runs[i][at] && any(at, 0, 2) })}
			got := rank.Measure(which)
			if got != want || got.Exposed() != want.Busy-want.Overlapped {
				t.Errorf("%v: %+v, want %+v", kind, got, want)
			}
			exposed := count(length, func(at int) bool { return runs[i][at] && !any(at, 0, i) })
			if sets := rank.ExposedOf(which, kind); sets[0].Len() != exposed {
				t.Errorf("%v: exposed %d, want %d", kind, sets[0].Len(), exposed)
			}
			all += exposed
			part := which[:len(which)/2] // of some alone: from the instants of those
			var mine [length]bool
			for _, c := range part {
				for at := rank.Collectives[c].Start / 1000; at < rank.Collectives[c].End/1000; at++ {
					mine[at] = true
				}
			}
			bucket := timeline.BucketOf(kind)
			before := min(i, 4) // the lanes of earlier buckets
			some := count(length, func(at int) bool { return mine[at] && !any(at, 0, before) })
			if got := rank.Exposed(part, bucket)[0].Len(); got != some {
				t.Errorf("%d of %d %v: exposed %d, want %d", len(part), len(which), kind, got, some)
			}
		}
		ledger := rank.Devices[0].Busy.Ledger(0, length*1000)
		if in := ledger[timeline.ReduceScatterBucket] + ledger[timeline.AllGatherBucket] +
			ledger[timeline.OtherCommBucket]; in != all {
			t.Errorf("kinds expose %d, the ledger has %d", all, in)
		}
		sum := int64(0)
		for i, ns := range rank.ExposedEach() {
			if ns < 0 || ns > rank.ExposedAlone(i) {
				t.Errorf("collective %d: %d of %d", i, ns, rank.ExposedAlone(i))
			}
			sum += ns
		}
		if o := rank.Measure(rank.Select(func(*Collective) bool { return true })); sum != o.Exposed() {
			t.Errorf("collectives expose %d one by one, %d together", sum, o.Exposed())
		}
	}
	if ratio, ok := (Overlap{}).Ratio(); ok || ratio != 0 {
		t.Error("a ratio of nothing")
	}
	if ratio, ok := (Overlap{Busy: 8, Overlapped: 2}).Ratio(); !ok || ratio != 0.25 {
		t.Errorf("%v %v", ratio, ok)
	}
}

// TestOptimizerRuns: what each optimizer's span makes the device do, from its first event to
// its last and how long the device idles in between.
func TestOptimizerRuns(t *testing.T) {
	r := one(t, `
1/1 10us +1us `+accumulateGrad+`
1/1 20us +10us user_annotation Optimizer.step#A.step
1/1 21us +1us cuda_runtime cudaLaunchKernel corr=1
1/1 22us +1us cuda_runtime cudaLaunchKernel corr=2
1/1 23us +1us cuda_runtime cudaMemcpyAsync corr=3
1/1 35us +2us user_annotation Optimizer.step#B.step
1/1 50us +1us `+accumulateGrad+`
1/1 60us +10us user_annotation Optimizer.step#A.step
1/1 61us +1us cuda_runtime cudaLaunchKernel corr=4
0/8 90us +5us gpu_memcpy "Memcpy DtoD" corr=3
0/7 100us +20us kernel k corr=1
0/7 130us +10us kernel k corr=2
0/7 150us +10us kernel k corr=4`)
	var got []string
	for _, o := range r.OptimizerRuns {
		got = append(got, fmt.Sprintf("%s in %d: %d from %d to %d, %d idle", o.Name, o.Step, o.Events, o.Start/1000,
			o.End/1000, o.Idle/1000))
	}
	want := []string{"A in 0: 3 from 90 to 140, 15 idle", "B in 0: 0 from 0 to 0, 0 idle",
		"A in 1: 1 from 150 to 160, 0 idle"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for step, want := range []int{2, 1, 0} {
		if n := len(r.runsOf(step)); n != want {
			t.Errorf("step %d has %d optimizer spans, want %d", step, n, want)
		}
	}
	if names := r.InBackward(0); len(names) != 0 {
		t.Errorf("%v step in backward", names)
	}
}

// TestLastBackwardOnDevice: when the device computes for the last backward pass of a step,
// which is what is launched between the start and the end of that pass.
func TestLastBackwardOnDevice(t *testing.T) {
	const reduction = "ncclDevKernel_AllReduce_Sum_f32_RING_LL"
	r := one(t, `
1/1 5us +1us cpu_op aten::embedding
1/1 9us +1us cuda_runtime cudaLaunchKernel corr=1
1/1 10us +10us cpu_op "autograd::engine::evaluate_function: MmBackward0"
1/1 10us +1us cuda_runtime cudaLaunchKernel corr=2
1/1 18us +1us cuda_runtime cudaLaunchKernel corr=3
1/1 21us +4us `+accumulateGrad+`
1/1 22us +1us cuda_runtime cudaLaunchKernel corr=4
1/1 23us +1us cuda_runtime cudaMemcpyAsync corr=5
1/1 25us +1us cuda_runtime cudaLaunchKernel corr=6
1/1 40us +10us user_annotation Optimizer.step#A.step
1/1 41us +1us cuda_runtime cudaLaunchKernel corr=7
0/7 100us +10us kernel forward corr=1
0/7 110us +10us kernel backward corr=2
0/7 125us +10us kernel backward corr=3
0/9 135us +30us kernel `+reduction+` corr=4
0/8 170us +10us gpu_memcpy "Memcpy DtoD" corr=5
0/7 180us +10us kernel scale corr=6
0/7 190us +10us kernel adam corr=7`)
	if len(r.Steps) != 1 || len(r.Steps[0].LastBackward) != 1 {
		t.Fatalf("%+v", r.Steps)
	}
	if b := r.Steps[0].LastBackward[0]; b.Start != 110_000 || b.End != 135_000 {
		t.Errorf("%+v, want 110 to 135 us", b)
	}
	if c := r.Collectives[0]; c.Phase != PhaseBackward || c.Step != 0 || !c.Linked || c.Replayed {
		t.Errorf("%+v", c)
	}
	if w := r.Steps[0].Windows[0]; w.Start != 100_000 || w.End != 200_000 {
		t.Errorf("%+v", w)
	}
}

// TestStreamsOfCollectives: communication on a stream that has half of the compute time hides
// nothing; a stream of collectives may compute a little.
func TestStreamsOfCollectives(t *testing.T) {
	const rs = "kernel ncclDevKernel_ReduceScatter_Sum_f32_RING_LL"
	for _, c := range []struct {
		name, source string
		shared       int
		overlap      bool
	}{
		{"apart", "0/7 0us +10us kernel a\n0/9 0us +5us " + rs, 0, false},
		{"on the only stream", "0/7 0us +10us kernel a\n0/7 10us +5us " + rs, 1, false},
		{"on one of two of compute, half of it", "0/7 0us +10us kernel a\n0/8 0us +10us kernel b\n0/8 10us +5us " + rs,
			1, false},
		{"a little less than half", "0/7 0us +11us kernel a\n0/8 0us +10us kernel b\n0/8 10us +5us " + rs, 0, false},
		{"at the same time as compute, which is impossible",
			"0/7 0us +90us kernel a\n0/9 0us +5us kernel b\n0/9 4us +5us " +
				rs, 1, true},
		{"right after it", "0/7 0us +90us kernel a\n0/9 0us +5us kernel b\n0/9 5us +5us " + rs, 0, false},
		{"two of them", "0/7 0us +10us kernel a\n0/7 10us +5us " + rs + "\n0/7 20us +5us " + rs, 2, false},
		{"a copy is no compute", "0/9 0us +10us gpu_memcpy a\n0/9 10us +5us " + rs, 0, false},
		{"no collectives", "0/7 0us +10us kernel a", 0, false},
	} {
		r := one(t, c.source)
		if r.OnCompute != c.shared || r.SelfOverlap != c.overlap {
			t.Errorf("%s: %d, %v, want %d, %v", c.name, r.OnCompute, r.SelfOverlap, c.shared, c.overlap)
		}
	}
}
