package facts

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/timeline"
)

const (
	allReduce     = "ncclDevKernel_AllReduce_Sum_f32_RING_LL"
	allGather     = "ncclDevKernel_AllGather_RING_LL"
	scatterKernel = "ncclDevKernel_ReduceScatter_Sum_f32_RING_LL"
)

// communicating is a rank that recorded two collectives without their launches and then two
// steps: buckets of the gradients in backward, a norm after it, a barrier, a gather on another device.
const communicating = `
0/20 1us +2us kernel ` + allGather + `
0/20 4us +2us kernel ` + allReduce + `
1/1 10us +5us cpu_op aten::linear
1/2 20us +9us cpu_op "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad"
1/2 21us +1us cpu_op torch::autograd::AccumulateGrad dims=[[4,4]] type=["float"]
1/2 23us +4us cpu_op record_param_comms coll=allreduce in=16 out=16 dtype=Float group=0 gsize=4 seq=7 rank=1
1/2 24us +1us cuda_runtime cudaLaunchKernelExC corr=1
1/1 40us +4us cpu_op record_param_comms coll=allreduce in=1 out=1 dtype=Float group=0 gsize=4 seq=8 rank=1
1/1 41us +1us cuda_runtime cudaLaunchKernelExC corr=2
1/1 50us +9us user_annotation Optimizer.step#A.step
1/1 52us +4us cpu_op record_param_comms coll=barrier in=4 out=4 dtype=Float group=0 gsize=4 rank=1
1/1 53us +1us cuda_runtime cudaLaunchKernelExC corr=3
1/1 62us +5us cpu_op aten::linear
1/2 70us +9us cpu_op "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad"
1/2 71us +1us cpu_op torch::autograd::AccumulateGrad dims=[[4,4]] type=["float"]
1/2 73us +4us cpu_op record_param_comms coll=allreduce in=16 out=16 dtype=Float group=0 gsize=4 seq=9 rank=1
1/2 74us +1us cuda_runtime cudaLaunchKernelExC corr=4
1/1 90us +1us cuda_runtime cudaLaunchKernelExC corr=5
1/1 95us +9us user_annotation Optimizer.step#A.step
1/1 110us +1us cuda_runtime cudaLaunchKernelExC corr=6
0/20 30us +4us kernel ` + allReduce + ` corr=1
0/20 45us +1us kernel ` + allReduce + ` corr=2
0/20 54us +8us kernel ` + allReduce + ` corr=3
0/20 80us +6us kernel ` + allReduce + ` corr=4
1/20 92us +3us kernel ` + allGather + ` corr=5 coll=_allgather_base in=4 out=16 dtype=Float gsize=4
0/21 115us +5us kernel ` + scatterKernel + ` corr=6
0/7 31us +2us kernel gemm
0/7 82us +20us kernel gemm
0/8 56us +3us gpu_memcpy "Memcpy DtoD"
`

// TestCommunication: what is known of each collective, and of those that belong together.
func TestCommunication(t *testing.T) {
	r := one(t, communicating)
	var b strings.Builder
	for i := range r.Collectives {
		c := &r.Collectives[i]
		e := r.Communication.Event(i)
		fmt.Fprintf(&b, "%s %s/%s %d +%d: %d bytes, step %d, asked %d, %s, %s, linked %t\n", c.Kind, e.Process,
			e.Thread,
			e.Start, e.Duration, c.Bytes, c.Step, c.Asked, c.Site.Site, c.Phase, c.Linked)
		if want := []string{allReduce, allGather, scatterKernel}; !strings.Contains(strings.Join(want, " "), e.Name) {
			t.Errorf("collective %d is %s", i, e.Name)
		}
	}
	for _, g := range r.Groups {
		fmt.Fprintf(&b, "%v of step %d at %s: %d bytes, members %v, %v, first %v\n", g.Kind, g.Step, g.Site.Site,
			g.Bytes,
			g.Members, g.Overlap, g.First)
	}
	fmt.Fprintln(&b, r.SelfOverlap, r.OnCompute, r.Streams)
	wantText(t, b.String(), `
all_gather 0/20 1000 +2000: -1 bytes, step -1, asked -1, unknown, unknown, linked false
all_reduce 0/20 4000 +2000: -1 bytes, step -1, asked -1, unknown, unknown, linked false
all_reduce 0/20 30000 +4000: 64 bytes, step 0, asked 0, backward_hook, backward, linked true
all_reduce 0/20 45000 +1000: 4 bytes, step 0, asked 1, unknown, after_backward, linked true
all_reduce 0/20 54000 +8000: 16 bytes, step 0, asked -1, optimizer_step, optimizer, linked true
all_reduce 0/20 80000 +6000: 64 bytes, step 1, asked 2, backward_hook, backward, linked true
reduce_scatter 0/21 115000 +5000: -1 bytes, step -1, asked -1, unknown, unknown, linked true
all_gather 1/20 92000 +3000: 64 bytes, step 1, asked -1, unknown, after_backward, linked true
all_reduce of step 0 at backward_hook: 64 bytes, members [2], {1 4000 2000 2000}, first {1 4000 2000 2000}
all_reduce of step 0 at unknown: 4 bytes, members [3], {1 1000 0 0}, first {1 1000 0 0}
all_reduce of step 0 at optimizer_step: 16 bytes, members [4], {1 8000 0 3000}, first {1 8000 0 3000}
all_reduce of step 1 at backward_hook: 64 bytes, members [5], {1 6000 4000 4000}, first {1 6000 4000 4000}
reduce_scatter of step -1 at unknown: -1 bytes, members [6], {1 5000 0 0}, first {1 5000 0 0}
all_gather of step 1 at unknown: 64 bytes, members [7], {1 3000 0 0}, first {1 3000 0 0}
false 0 [{0 20} {0 21} {1 20}]
`)
}

// TestUnlinkedAreInferred: collectives whose launches precede the recording are those that come a
// period before ones that are known, by the names of their kernels.
func TestUnlinkedAreInferred(t *testing.T) {
	// Of a step: an all-reduce of each of three names in backward.
	for _, test := range []struct {
		name, before string
		steps        int
		want         string
	}{
		{"a whole step", "abc", 2, "abc"},
		{"the end of one", "bc", 2, "bc"},
		{"a step and a half", "bcabc", 2, "bcabc"},
		{"another name stops it", "axc", 2, "c"},
		{"the order differs", "acb", 2, ""},
		{"one step is no period", "abc", 1, ""},
	} {
		var b strings.Builder
		at := 0
		kernel := func(letter rune, corr string) {
			fmt.Fprintf(&b, "0/20 %dus +1us kernel ncclDevKernel_AllReduce_%c %s\n", at+5, letter, corr)
			at += 10
		}
		for _, letter := range test.before {
			kernel(letter, "")
		}
		for step := range test.steps {
			for i, letter := range "abc" {
				corr := 10*step + i + 1
				fmt.Fprintf(&b,
					"1/2 %dus +5us cpu_op \"autograd::engine::evaluate_function: torch::autograd::AccumulateGrad\"\n",
					at)
				fmt.Fprintf(&b, "1/2 %dus +1us cpu_op torch::autograd::AccumulateGrad\n", at+1)
				fmt.Fprintf(&b, "1/2 %dus +1us cuda_runtime cudaLaunchKernelExC corr=%d\n", at+3, corr)
				kernel(letter, fmt.Sprintf("corr=%d", corr))
			}
			fmt.Fprintf(&b, "1/1 %dus +5us user_annotation Optimizer.step#A.step\n", at)
			at += 10
		}
		r, got := one(t, b.String()), map[int]string{}
		for _, g := range r.Groups {
			if g.Inferred {
				if g.Step != -1 || g.Site.Site != timeline.SiteBackwardHook {
					t.Errorf("%s: %+v", test.name, g)
				}
				for _, m := range g.Members {
					name := r.Kernels[r.Collectives[m].Kernel]
					got[m] = name[len(name)-1:]
				}
			}
		}
		letters := ""
		for i := range test.before {
			letters += got[i]
		}
		if letters != test.want {
			t.Errorf("%s: %q, want %q", test.name, letters, test.want)
		}
	}
}

// TestStreams: communication on streams of compute is told from compute on those of communication.
func TestStreams(t *testing.T) {
	const custom = "void vllm::cross_device_reduce_1stage<float, 4>(int)"
	for _, test := range []struct {
		name, source string
		overlap      bool
		shared       int
	}{
		{"apart", "0/7 0 +9 kernel gemm\n0/20 0 +9 kernel " + allReduce, false, 0},
		{"half of the compute", "0/7 0 +9 kernel gemm\n0/20 0 +9 kernel gemm\n0/20 20 +9 kernel " + allReduce, false,
			1},
		{"less than half", "0/7 0 +10 kernel gemm\n0/20 0 +9 kernel gemm\n0/20 20 +9 kernel " + allReduce, false, 0},
		{"one after the other", "0/20 0 +20 kernel gemm\n0/20 20 +9 kernel " + allReduce, false, 1},
		{"one over the other", "0/20 0 +21 kernel gemm\n0/20 20 +9 kernel " + allReduce, true, 1},
		{"a little over the other", "0/7 0 +90 kernel gemm\n0/20 0 +21 kernel gemm\n0/20 20 +9 kernel " + allReduce,
			true, 1},
		{"copies are no compute", "0/20 0 +20 gpu_memcpy \"Memcpy DtoD\"\n0/20 20 +9 kernel " + allReduce, false, 0},
		{"of no process group", "0/20 0 +20 kernel gemm\n0/20 20 +9 kernel \"" + custom + "\"", false, 0},
		{"two", "0/20 0 +20 kernel gemm\n0/20 20 +9 kernel " + allReduce + "\n0/20 40 +9 kernel " + allGather, false,
			2},
		{"two streams", "0/20 0 +20 kernel gemm\n0/21 20 +20 kernel gemm\n0/20 20 +9 kernel " + allReduce +
			"\n0/21 50 +9 kernel " + allGather, false, 2},
	} {
		if r := one(t, test.source); r.SelfOverlap != test.overlap || r.OnCompute != test.shared {
			t.Errorf("%s: %v, %d", test.name, r.SelfOverlap, r.OnCompute)
		}
	}
}
