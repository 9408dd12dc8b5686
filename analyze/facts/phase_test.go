package facts

import (
	"fmt"
	"strings"
	"testing"
)

// Each kernel is named by what its phase is expected to be; the second word, if any, by
// its operator.
func TestPhases(t *testing.T) {
	const node = `cpu_op "autograd::engine::evaluate_function: MulBackward0"`
	for _, test := range []struct{ name, source, want string }{
		{"no launch", "0/7 1 +1 kernel k", "unknown"},
		{"no optimizer: backward alone is known", `1/1 1 +1 cuda_runtime l corr=1
1/2 10 +5 ` + node + `
1/2 11 +1 cuda_runtime l corr=2
1/1 20 +1 cuda_runtime l corr=3
0/7 30 +1 kernel a corr=1
0/7 31 +1 kernel b corr=2
0/7 32 +1 kernel c corr=3`, "unknown l, backward autograd::engine::evaluate_function: MulBackward0, unknown l"},
		{"no backward pass", `1/1 1 +1 cuda_runtime l corr=1
1/1 10 +5 user_annotation Optimizer.step#A.step
1/1 11 +1 cuda_runtime l corr=2
0/7 30 +1 kernel a corr=1
0/7 31 +1 kernel b corr=2`, "unknown l, optimizer l"},
		{"a step", step, "forward aten::mm, backward aten::mm, backward l, after_backward aten::mul_, " +
			"optimizer aten::add_, optimizer zero, unknown l"},
		{"an optimizer in backward", `1/2 10 +20 ` + node + `
1/2 11 +15 cpu_op torch::autograd::AccumulateGrad
1/2 12 +5 user_annotation Optimizer.step#A.step
1/2 13 +1 cuda_runtime l corr=1
1/2 20 +1 cuda_runtime l corr=2
0/7 40 +1 kernel a corr=1
0/7 41 +1 kernel b corr=2`, "optimizer torch::autograd::AccumulateGrad, backward torch::autograd::AccumulateGrad"},
		{"in a closure", `1/1 10 +90 user_annotation Optimizer.step#LBFGS.step
1/1 15 +9 cpu_op aten::mm
1/1 16 +1 cuda_runtime l corr=1
1/1 30 +9 ` + node + `
1/1 31 +1 cuda_runtime l corr=2
1/1 34 +3 cpu_op torch::autograd::AccumulateGrad
1/1 60 +5 cpu_op aten::add_
1/1 61 +1 cuda_runtime l corr=3
0/7 140 +1 kernel a corr=1
0/7 141 +1 kernel b corr=2
0/7 142 +1 kernel c corr=3`,
			"forward aten::mm, backward autograd::engine::evaluate_function: MulBackward0, optimizer aten::add_"},
		{"messages of which the host does not tell, of a size that is not known and of one number", `1/2 10 +9 ` +
			node + `
1/2 11 +7 cpu_op torch::autograd::AccumulateGrad
1/2 12 +1 cuda_runtime l corr=1
1/2 14 +1 cuda_runtime l corr=2
1/1 30 +9 user_annotation Optimizer.step#A.step
0/7 40 +1 kernel ncclDevKernel_AllReduce corr=1
0/7 41 +1 kernel ncclDevKernel_AllReduce corr=2 coll=allreduce in=1 out=1 dtype=Float`,
			"gradient_sync torch::autograd::AccumulateGrad, backward torch::autograd::AccumulateGrad"},
		{"collectives of gradients, of a norm, of activations", `distributed backend=nccl rank=0 world_size=2
1/1 1 +3 cpu_op record_param_comms coll=allreduce in=500 out=500 dtype=Float
1/1 2 +1 cuda_runtime l corr=1
1/2 10 +9 ` + node + `
1/2 11 +1 cpu_op torch::autograd::AccumulateGrad
1/2 12 +6 cpu_op c10d::allreduce_
1/2 13 +4 cpu_op record_param_comms coll=allreduce in=500 out=500 dtype=Float
1/2 14 +1 cuda_runtime l corr=2
1/1 20 +3 cpu_op record_param_comms coll=allreduce in=1 out=1 dtype=Float
1/1 21 +1 cuda_runtime l corr=3
1/1 30 +9 user_annotation Optimizer.step#A.step
1/1 31 +3 cpu_op record_param_comms coll=allgather in=500 out=500 dtype=Float
1/1 32 +1 cuda_runtime l corr=4
0/7 40 +1 kernel ncclDevKernel_AllReduce corr=1
0/7 41 +1 kernel ncclDevKernel_AllReduce corr=2
0/7 42 +1 kernel ncclDevKernel_AllReduce corr=3
0/7 43 +1 kernel ncclDevKernel_AllGather corr=4`,
			"forward record_param_comms, gradient_sync c10d::allreduce_, " +
				"after_backward record_param_comms, optimizer record_param_comms"},
	} {
		x := index(t, test.source)
		l := NewPhases(x.Ranks[0], Compute(x)[0])
		var got []string
		for _, d := range x.Ranks[0].Devices {
			for i, row := range d.Rows {
				text := string(l.Phase(row, d.Launch[i]))
				if d.Launch[i] >= 0 {
					text += " " + l.Operator(d.Launch[i])
				}
				got = append(got, text)
			}
		}
		if text := strings.Join(got, ", "); text != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.name, text, test.want)
		}
	}
}

// step launches from every place of a step, and once after it.
const step = `1/1 1 +3 cpu_op aten::mm
1/1 2 +1 cuda_runtime l corr=1
1/2 10 +9 cpu_op "autograd::engine::evaluate_function: MmBackward0"
1/2 11 +3 cpu_op aten::mm
1/2 12 +1 cuda_runtime l corr=2
1/2 15 +2 cpu_op torch::autograd::AccumulateGrad
1/2 30 +1 cuda_runtime l corr=3
1/1 40 +3 cpu_op aten::mul_
1/1 41 +1 cuda_runtime l corr=4
1/1 50 +9 user_annotation Optimizer.step#A.step
1/1 51 +3 cpu_op aten::add_
1/1 52 +1 cuda_runtime l corr=5
1/1 60 +9 user_annotation Optimizer.zero_grad#A.zero_grad
1/1 61 +3 cpu_op zero
1/1 62 +1 cuda_runtime l corr=6
1/1 80 +1 cuda_runtime l corr=7
0/7 101 +1 kernel a corr=1
0/7 102 +1 kernel b corr=2
0/7 103 +1 kernel c corr=3
0/7 104 +1 kernel d corr=4
0/7 105 +1 kernel e corr=5
0/7 106 +1 kernel f corr=6
0/7 107 +1 kernel g corr=7`

// What is shared out sums to what Measure says of all.
func TestExposedEach(t *testing.T) {
	for _, test := range []struct{ source, want string }{
		{"0/7 0 +10 kernel k", "[]"},
		{"0/7 0 +10 kernel nccl_AllReduce", "[10]"},
		{"0/7 0 +0 kernel nccl_AllReduce", "[0]"},
		{"0/7 0 +10 kernel nccl_AllReduce\n0/8 2 +4 kernel k", "[6]"},
		{"0/7 0 +10 kernel nccl_AllReduce\n0/8 2 +4 kernel nccl_AllGather\n" +
			"0/9 5 +10 kernel nccl_ReduceScatter", "[10 0 5]"},
		{"0/7 0 +10 kernel nccl_AllReduce\n0/8 5 +10 kernel nccl_AllGather\n0/9 8 +4 kernel k", "[8 3]"},
		{"0/7 0 +10 kernel nccl_AllReduce\n1/7 5 +10 kernel nccl_AllGather", "[10 10]"},
		{"0/7 0 +10 kernel nccl_AllReduce\n0/8 0 +10 gpu_memcpy copy", "[10]"},
	} {
		r := one(t, test.source)
		each := r.ExposedEach()
		var sum int64
		for _, ns := range each {
			sum += ns
		}
		whole := r.Measure(r.Select(func(*Collective) bool { return true }))
		if got := fmt.Sprint(each); got != test.want || sum != whole.Exposed() {
			t.Errorf("%s: %s, want %s; all %d", test.source, got, test.want, whole.Exposed())
		}
	}
}

// TestFirstLaunch: a launch call may be the first thing that was recorded.
func TestFirstLaunch(t *testing.T) {
	r := one(t, `
1/1 1us +1us cuda_runtime cudaLaunchKernel corr=1
1/1 10us +1us cpu_op torch::autograd::AccumulateGrad
1/1 20us +5us user_annotation Optimizer.step#A.step
2/7 30us +5us kernel ncclDevKernel_AllReduce_Sum_f32_RING_LL corr=1`)
	if got := r.Collectives[0].Phase; got != PhaseForward {
		t.Errorf("%s", got)
	}
}

// TestLaunchOfBackward: what the last backward pass computes may be launched by the very first row.
func TestLaunchOfBackward(t *testing.T) {
	r := one(t, `
1/1 5 +1 cuda_runtime cudaLaunchKernel corr=1
1/2 2 +40 cpu_op "autograd::engine::evaluate_function: MulBackward0"
1/2 30 +1 cpu_op torch::autograd::AccumulateGrad
1/1 60 +5 user_annotation Optimizer.step#A.step
2/7 70 +9 kernel gemm corr=1
2/8 75 +9 kernel ncclDevKernel_AllReduce`)
	if got := fmt.Sprint(r.Steps[0].LastBackward); got != "[{70 79}]" {
		t.Error(got)
	}
}

// TestAskedAround: a message is that of the call around its launch, whatever is in between.
func TestAskedAround(t *testing.T) {
	r := one(t, `
1/1 10 +9 cpu_op record_param_comms coll=allreduce in=500 out=500 dtype=Float
1/1 11 +5 cpu_op part
1/1 12 +1 cuda_runtime l corr=1
1/1 30 +9 cpu_op other
1/1 31 +1 cuda_runtime l corr=2
0/7 40 +1 kernel ncclDevKernel_AllReduce corr=1
0/7 50 +1 kernel ncclDevKernel_AllReduce corr=2`)
	if r.Collectives[0].Asked != 0 || r.Collectives[1].Asked != -1 {
		t.Errorf("asked by %d and %d", r.Collectives[0].Asked, r.Collectives[1].Asked)
	}
}
