package facts

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestRecorded: a recording begins with the first event of the host or of a device, whichever
// is earlier, and ends with the start of the last one.
func TestRecorded(t *testing.T) {
	for _, c := range []struct {
		name, source string
		first, last  int64
	}{
		{"host alone", "1/1 20us +5us cpu_op a\n1/1 30us +5us cpu_op b", 20_000, 30_000},
		{"device alone", "0/7 20us +5us kernel a\n0/7 30us +5us kernel b", 20_000, 30_000},
		{"the device is later", "1/1 20us +5us cpu_op a\n0/7 90us +5us kernel b", 20_000, 90_000},
		{"the device is earlier", "1/1 50us +5us cpu_op a\n0/7 10us +5us kernel b", 10_000, 50_000},
		{"two threads", "1/1 50us +5us cpu_op a\n1/2 40us +5us cpu_op b\n1/2 70us +1us cpu_op c", 40_000, 70_000},
		{"before zero", "1/1 -50us +5us cpu_op a\n1/1 -20us +5us cpu_op b", -50_000, -20_000},
		{"a thread without events", "thread 1/9 name=\"idle\"\n1/1 20us +5us cpu_op a\n1/1 30us +5us cpu_op b",
			20_000, 30_000},
	} {
		x := index(t, c.source).Ranks[0]
		if first, last := recorded(x); first != c.first || last != c.last {
			t.Errorf("%s: %d to %d, want %d to %d", c.name, first, last, c.first, c.last)
		}
	}
}

// TestFirstUnlinked: only events without a launch are kept as evidence, and not too many.
func TestFirstUnlinked(t *testing.T) {
	var b strings.Builder
	b.WriteString("1/1 1us +1us cuda_runtime cudaLaunchKernel corr=1\n2/7 5us +1us kernel linked corr=1\n")
	for i := range 2 * mostShown {
		fmt.Fprintf(&b, "2/7 %dus +1us kernel lost corr=%d\n", 10+i, 100+i)
	}
	r := one(t, b.String())
	if len(r.FirstUnlinked) != mostShown || r.Unlinked != 2*mostShown || r.UnlinkedAtStart != 0 {
		t.Errorf("%d of %d shown, %d at the start", len(r.FirstUnlinked), r.Unlinked, r.UnlinkedAtStart)
	}
	for i, e := range r.FirstUnlinked {
		if e.Name != "lost" || e.Start != int64(10+i)*1000 {
			t.Errorf("%+v", e)
		}
	}
}

// TestFirstEventLaunches: the first event of a file is a launch call like any other.
func TestFirstEventLaunches(t *testing.T) {
	r := one(t, "1/1 1us +1us cuda_runtime cudaLaunchKernel corr=1\n2/7 5us +1us kernel linked corr=1\n"+
		"2/9 8us +1us kernel "+allReduce+" corr=1\n")
	if r.Unlinked != 0 || len(r.FirstUnlinked) != 0 || !r.Collectives[0].Linked || len(r.Groups) != 1 {
		t.Errorf("%d are unlinked: %v; %+v", r.Unlinked, r.FirstUnlinked, r.Collectives[0])
	}
}

// TestKindsOfSteps: steps of one optimizer that take other numbers of micro-batches are of other
// kinds: they are not compared with each other.
func TestKindsOfSteps(t *testing.T) {
	var b strings.Builder
	at := 10
	for _, micro := range []int{2, 2, 1, 2} {
		for range micro {
			fmt.Fprintf(&b, "1/1 %d +5 cpu_op aten::embedding\n1/1 %d +5 cpu_op aten::cross_entropy_loss\n", at, at+10)
			fmt.Fprintf(&b, "1/2 %d +9 cpu_op \"autograd::engine::evaluate_function: NllLossBackward0\"\n", at+20)
			fmt.Fprintf(&b, "1/2 %d +9 "+accumulateGrad+" dims=[[10]] type=[\"float\"]\n", at+30)
			at += 50
		}
		fmt.Fprintf(&b, "1/1 %d +5 user_annotation Optimizer.step#A.step\n", at)
		at += 10
	}
	var kinds []string
	for _, s := range one(t, b.String()).Steps {
		kinds = append(kinds, s.Kind)
	}
	if got := strings.Join(kinds, ""); got != "AABA" {
		t.Errorf("kinds %s", got)
	}
}

// TestGroupsOfKinds: collectives of two kinds that one site launches in one step are two groups, and
// so are those of one kind in two steps.
func TestGroupsOfKinds(t *testing.T) {
	var b strings.Builder
	for step := range 2 {
		at := 100 * step
		fmt.Fprintf(&b, "1/2 %d +50 cpu_op \"autograd::engine::evaluate_function: MulBackward0\"\n", at+10)
		fmt.Fprintf(&b, "1/2 %d +2 cuda_runtime cudaLaunchKernel corr=%d\n", at+12, 10*step+1)
		fmt.Fprintf(&b, "1/2 %d +2 cuda_runtime cudaLaunchKernel corr=%d\n", at+15, 10*step+2)
		fmt.Fprintf(&b, "1/2 %d +2 cpu_op torch::autograd::AccumulateGrad\n", at+20)
		fmt.Fprintf(&b, "1/1 %d +5 user_annotation Optimizer.step#A.step\n", at+80)
		fmt.Fprintf(&b, "0/9 %d +5 kernel %s corr=%d\n", at+30, allGather, 10*step+1)
		fmt.Fprintf(&b, "0/9 %d +7 kernel %s corr=%d\n", at+40, scatterKernel, 10*step+2)
	}
	var got []string
	for _, g := range one(t, b.String()).Groups {
		got = append(got, fmt.Sprintf("%s of %d %v %d", g.Kind, g.Step, g.Members, g.Overlap.Busy))
	}
	const want = "all_gather of 0 [0] 5, reduce_scatter of 0 [1] 7, all_gather of 1 [2] 5, reduce_scatter of 1 [3] 7"
	if strings.Join(got, ", ") != want {
		t.Errorf("%q", got)
	}
}

// TestCompilationAcrossSteps: what compiles from one step into the next is of the step in which
// it began.
func TestCompilationAcrossSteps(t *testing.T) {
	r := one(t, "1/1 10 +5 cpu_op aten::mm\n1/1 40 +5 user_annotation Optimizer.step#A.step\n"+
		"1/1 60 +5 cpu_op aten::mm\n1/1 80 +5 user_annotation Optimizer.step#A.step\n"+
		"1/2 30 +40 cpu_op compile_fx\n1/2 75 +7 cpu_op compile_fx")
	if got := r.Warmup.Compiling; len(got) != 2 || got[0] < 15 || got[1] != 7 {
		t.Errorf("%v", got)
	}
}

// TestWithoutUpdates: where steps are not those of an optimizer nothing is said of what
// clears gradients.
func TestWithoutUpdates(t *testing.T) {
	const backward = "1/1 %dus +3us " + accumulateGrad + " dims=[[10]] type=[\"float\"]\n"
	var b strings.Builder
	for step := range 3 {
		at := 100 * step
		fmt.Fprintf(&b, "1/1 %dus +90us user_annotation ProfilerStep#%d\n"+backward, at, step, at+10)
		fmt.Fprintf(&b, "1/1 %dus +2us cpu_op aten::add_ dims=[[10],[10]] type=[\"float\",\"float\"]\n", at+11)
	}
	r := one(t, b.String())
	if len(r.Kept)+len(r.Blank)+len(r.ZeroInside) != 0 || len(r.Steps) != 3 {
		t.Errorf("%+v of %d steps", r.Clears, len(r.Steps))
	}
}

// TestDevicesOfBackward: a step with two devices has a last backward pass on each of them.
func TestDevicesOfBackward(t *testing.T) {
	const node = "1/1 %dus +10us cpu_op \"autograd::engine::evaluate_function: MmBackward0\"\n"
	source := "1/1 5us +1us cpu_op aten::mm\n" + fmt.Sprintf(node, 10) +
		`1/1 11us +1us cuda_runtime cudaLaunchKernel corr=1
1/1 12us +1us cuda_runtime cudaLaunchKernel corr=2
1/1 13us +1us cuda_runtime cudaLaunchKernel corr=3
1/1 21us +4us ` + accumulateGrad + `
1/1 40us +10us user_annotation Optimizer.step#A.step
1/1 41us +1us cuda_runtime cudaLaunchKernel corr=4
1/1 42us +1us cuda_runtime cudaLaunchKernel corr=5
0/7 100us +10us kernel a corr=1
1/7 200us +20us kernel b corr=2
0/7 300us +30us kernel c corr=3
0/7 400us +10us kernel d corr=4
1/7 410us +10us kernel e corr=5
0/9 500us +1us kernel ncclDevKernel_AllReduce_Sum_f32_RING_LL
`
	r := one(t, source)
	var got []string
	for i, w := range r.Steps[0].Windows {
		b := r.Steps[0].LastBackward[i]
		got = append(got, fmt.Sprintf("%d: %d-%d", w.Device, b.Start/1000, b.End/1000))
	}
	if want := []string{"0: 100-330", "1: 200-220"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
