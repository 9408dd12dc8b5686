package timeline

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestKindOfEvent: what a device event is, by its name, its category, what it says of itself and what
// is around its launch.
func TestKindOfEvent(t *testing.T) {
	const launch = "\n1/1 4 +1 cuda_runtime cudaLaunchKernel corr=1"
	for _, test := range []struct{ name, source, want string }{
		{"a kernel", "0/7 9 +1 kernel gemm corr=1", "compute"},
		{"a copy", "0/7 9 +1 gpu_memcpy \"Memcpy DtoD\" corr=1", "memory"},
		{"a set", "0/7 9 +1 gpu_memset \"Memset\" corr=1", "memory"},
		{"a copy within a collective", "1/1 0 +9 cpu_op nccl:all_reduce" + launch +
			"\n0/7 9 +1 gpu_memcpy \"Memcpy PtoP\" corr=1", "memory"},
		{"by its name", "0/7 9 +1 kernel ncclDevKernel_ReduceScatter corr=1", "reduce_scatter"},
		{"by its name, whatever is around", "1/1 0 +9 cpu_op nccl:all_reduce" + launch +
			"\n0/7 9 +1 kernel ncclDevKernel_AllGather corr=1", "all_gather"},
		{"by itself", "0/7 9 +1 kernel ncclDevKernel_Generic corr=1 coll=allreduce", "all_reduce"},
		{"by what is around", "1/1 0 +9 cpu_op nccl:all_gather" + launch +
			"\n0/7 9 +1 kernel ncclDevKernel_Generic corr=1", "all_gather"},
		{"by the inner one", "1/1 0 +9 cpu_op nccl:all_gather\n1/1 1 +8 cpu_op c10d::allreduce_" + launch +
			"\n0/7 9 +1 kernel ncclDevKernel_Generic corr=1", "all_reduce"},
		{"by the outer one where the inner says nothing",
			"1/1 0 +9 cpu_op nccl:all_gather\n1/1 1 +8 cpu_op nccl:odd" + launch +
				"\n0/7 9 +1 kernel ncclDevKernel_Generic corr=1", "all_gather"},
		{"all-to-all runs as send and receive", "0/7 9 +1 kernel ncclDevKernel_SendRecv corr=1 coll=all_to_all",
			"all_to_all"},
		{"send and receive", "0/7 9 +1 kernel ncclDevKernel_SendRecv corr=1", "send_recv"},
		{"a barrier", "0/7 9 +1 kernel ncclDevKernel_Generic corr=1 coll=barrier", "barrier"},
		{"a message", "1/1 0 +9 cpu_op \"nccl:send 0->1\"" + launch +
			"\n0/7 9 +1 kernel ncclDevKernel_SendRecv corr=1", "send_recv"},
	} {
		x := index(t, test.source)
		d := x.Ranks[0].Devices[0]
		got := d.Kind[0].String()
		if d.Kind[0] == NotCommunication {
			got = d.Bucket[0].String()
		}
		if got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

// TestClasses: what names mean, one of each kind that PyTorch and its libraries write.
func TestClasses(t *testing.T) {
	names := map[Class]string{
		OptimizerStep: "step", ZeroGrad: "zero", ProfilerStep: "profiler", AccumulateGrad: "accumulate",
		EvaluateFunction: "evaluate",
		BackwardNode:     "node", Framework: "framework", Reducer: "reducer", Compiled: "compiled",
		CollectiveSpan: "collective", TokenNote: "tokens",
		AddInPlace: "add", AtenOp: "aten", FSDP2: "fsdp2", FusedOptimizer: "fused", NoSync: "no_sync",
		GraphLaunch:      "graph",
		GraphInstantiate: "instantiate", KernelLaunch: "launch",
	}
	for name, want := range map[string]string{
		"": "", "odd": "", "Optimizer.step": "", "Optimizer.step#SGD.step": "step",
		"Optimizer.zero_grad#SGD.zero_grad": "zero",
		"ProfilerStep#7":                    "profiler", "ProfilerStep*": "profiler",
		"torch::autograd::AccumulateGrad":                                      "accumulate",
		"autograd::engine::evaluate_function: torch::autograd::AccumulateGrad": "accumulate+evaluate",
		"autograd::engine::evaluate_function: MulBackward0":                    "evaluate", "MulBackward0": "node",
		"MulBackward": "node", "MulBackward1": "",
		"FSDP::all_gather": "framework+fsdp2", "FSDP::post_backward_reduce": "framework+fsdp2+reducer",
		"FullyShardedDataParallel":        "",
		"DistributedDataParallel.forward": "framework", "torch.distributed.ddp.reducer::mul_out": "framework+reducer",
		"torch::distributed::reducer::mul_out": "framework+reducer", "Torch-Compiled Region: 0/0": "compiled",
		"## Call CompiledFxGraph abc ##": "compiled", "CompiledFunction": "compiled",
		"CompiledFunctionBackward": "compiled",
		"TorchDynamo Cache Lookup": "compiled", "nccl:all_reduce": "collective", "rccl:all_reduce": "collective",
		"gloo:all_reduce": "collective",
		"mpi:all_reduce":  "collective", "record_param_comms": "collective", "c10d::allreduce_": "collective",
		"aten::mm":   "aten",
		"aten::add_": "add+aten", "aten::add": "aten", "aten::_fused_adamw_": "aten+fused",
		"aten::_fused_sgd_": "aten+fused",
		"cudaGraphLaunch":   "graph", "cuGraphLaunch": "graph", "hipGraphLaunch": "graph",
		"cudaGraphInstantiate": "instantiate",
		"cuGraphInstantiate":   "instantiate", "hipGraphInstantiate": "instantiate", "cudaLaunchKernelExC": "launch",
		"cudaLaunchCooperativeKernel": "launch", "cuLaunchKernel": "launch", "cuLaunchCooperativeKernel": "launch",
		"hipLaunchKernel":            "launch",
		"hipLaunchCooperativeKernel": "launch", "hipModuleLaunchKernel": "launch", "hipExtLaunchKernel": "launch",
		"hipExtModuleLaunchKernel": "launch",
		"cudaMemcpyAsync":          "", "gaprof.tokens=7": "tokens",
		"torch/nn/parallel/distributed.py(1): no_sync": "no_sync",
		"no_sync()": "no_sync",
	} {
		var got []string
		for class, text := range names {
			if classOf(name)&class != 0 {
				got = append(got, text)
			}
		}
		slices.Sort(got)
		if text := strings.Join(got, "+"); text != want {
			t.Errorf("%q is %s, want %s", name, text, want)
		}
	}
}

// TestNamespaces: a namespace is in a qualification where it stands whole.
func TestNamespaces(t *testing.T) {
	for _, test := range []struct {
		qualification, namespace string
		want                     bool
	}{
		{"dpsk::ep::", "dpsk::ep", true}, {"x::dpsk::ep::internode::", "dpsk::ep", true}, {"cdpsk::ep::", "dpsk::ep",
			false},
		{"dpsk::epx::", "dpsk::ep", false}, {"dpsk::ep", "dpsk::ep", false}, {"", "a", false}, {"a::", "a", true},
		{"aa::a::", "a", true}, {"aa::", "a", false},
		{"a::b::a::c::", "a::c", true},
	} {
		if got := within(test.qualification, test.namespace); got != test.want {
			t.Errorf("%s in %s: %v", test.namespace, test.qualification, got)
		}
	}
	if fmt.Sprint(orElse(0, 5), orElse(-1, 5), orElse(3, 5)) != "0 5 3" {
		t.Error("or else")
	}
}
