package timeline

import "testing"

func TestKernelKind(t *testing.T) {
	for _, test := range []struct {
		name string
		want CollectiveKind
	}{
		{"", NotCommunication},
		{"gemm", NotCommunication},
		{"nccl:all_reduce", NotCommunication},
		{"void reduce_kernel<512, 1, at::native::ReduceOp<float>>(ncclThing)", NotCommunication},
		{"ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", ReduceScatter},
		{"ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)", AllGather},
		{"ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)", AllReduce},
		{"ncclAllReduceRingLLKernel_sum_f32(ncclColl)", AllReduce},
		{"ncclReduceScatterRingLLKernel_sum_f16(ncclColl)", ReduceScatter},
		{"ncclDevKernel_Reduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", Reduce},
		{"ncclDevKernel_Broadcast_RING_LL(ncclDevKernelArgsStorage<4096ul>)", Broadcast},
		{"ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", SendRecv},
		{"ncclSymkDevKernel_ReduceScatter_LDMC_sum_bf16(ncclSymkDevWorkArgs)", ReduceScatter},
		{"ncclDevKernel_Generic(ncclDevComm*, unsigned long, ncclWork*)", UnknownCollective},
		{"ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)", UnknownCollective},
		{"void mscclKernel_Sum_half_Simple_true(ncclDevComm*, mscclAlgo*, mscclWork*)", UnknownCollective},
		{"gaprof_ncclKernel_ReduceScatter_Sum_f32_pull", ReduceScatter},
		{"my_ncclKernel_AllToAll", AllToAll},
	} {
		got, is := kernelKind(test.name)
		if got != test.want || is != (test.want != NotCommunication) {
			t.Errorf("%q: %v, want %v", test.name, got, test.want)
		}
	}
}

func TestKindOfMessage(t *testing.T) {
	for name, want := range map[string]CollectiveKind{
		"_reduce_scatter_base": ReduceScatter, "reduce_scatter_tensor_coalesced": ReduceScatter,
		"_allgather_base": AllGather, "allgather_into_tensor_coalesced": AllGather,
		"allreduce": AllReduce, "allreduce_coalesced": AllReduce,
		"broadcast": Broadcast, "reduce": Reduce,
		"all_to_all": AllToAll, "all_to_allv": AllToAll, "send": SendRecv, "recv": SendRecv,
		"barrier": NotCommunication, "gather": NotCommunication, "": NotCommunication,
	} {
		if got := KindOf(name); got != want {
			t.Errorf("%q: %v, want %v", name, got, want)
		}
	}
}

func TestOptimizerName(t *testing.T) {
	for span, want := range map[string]string{
		"Optimizer.step#AdamW.step": "AdamW", "Optimizer.step#My.Opt.step": "My.Opt",
		"Optimizer.step#Adam": "Adam", "Optimizer.step#": "",
	} {
		if got := OptimizerName(span); got != want {
			t.Errorf("%q: %q, want %q", span, got, want)
		}
	}
}
