package timeline

// Family is the kernels of one library, or of one way to communicate, by the names that
// profilers print for them.
type Family struct {
	Name    string   // as its users call it
	Source  string   // where the names stand: project and files
	Scopes  []string // namespaces that hold the kernels; none: the names are told apart by themselves
	Grouped bool     // PyTorch's process groups launch them, so that ranks and messages may be recorded
	Kernels []Kernel // in order: the first that fits decides
}

// Kernel is a pattern for the name of a kernel's function, without namespaces, template
// arguments and parameters; * stands for any characters. Kind is what such kernels do:
// UnknownCollective where the words of the name say it, or the message, NotCommunication
// for kernels of the library that move nothing between ranks.
type Kernel struct {
	Function string
	Kind     CollectiveKind
}

// Families lists what counts as communication. The caller must not change it.
//
// Kernels that only exchange counts or wait for each other have the kind Barrier: their
// time is communication, but nothing worth mentioning moves. What the libraries compute
// locally (layouts, casts, permutations, epilogues) is compute and is not listed, unless a
// pattern would take it for communication.
func Families() []Family { return families }

var families = []Family{
	{
		Name:    "NCCL, RCCL",
		Source:  "NVIDIA/nccl src/device, ROCm/rccl src/device: ncclDevKernel_*, ncclKernel_*, ncclSymkDevKernel_*",
		Grouped: true,
		Kernels: []Kernel{
			{"nccl*", UnknownCollective},
			{"*_ncclKernel*", UnknownCollective}, // trainers that follow the naming
			{"*_ncclDevKernel*", UnknownCollective},
		},
	},
	{
		Name:    "MSCCL",
		Source:  "ROCm/rccl src/device/msccl_kernel_impl.h",
		Grouped: true,
		Kernels: []Kernel{{"mscclKernel*", UnknownCollective}},
	},
	{
		Name:    "MSCCL",
		Source:  "microsoft/msccl src/collectives/device",
		Scopes:  []string{"msccl"},
		Grouped: true,
		Kernels: []Kernel{{"*", UnknownCollective}},
	},
	{
		Name:    "MSCCL++",
		Source:  "microsoft/mscclpp src/ext/collectives, apps/nccl/src, src/core/executor",
		Scopes:  []string{"mscclpp"},
		Grouped: true,
		Kernels: []Kernel{
			{"allreduce*", AllReduce}, {"allgather*", AllGather}, {"alltoall*", AllToAll},
			{"executionKernel*", UnknownCollective},
		},
	},
	{
		Name:    "MSCCL++ in RCCL and NCCL's interface",
		Source:  "microsoft/mscclpp apps/nccl/src/allreduce.hpp, allgather.hpp",
		Grouped: true,
		Kernels: []Kernel{
			{"allreduceAllPairs", AllReduce}, {"allreduceAllToAll", AllReduce}, {"allreduce6", AllReduce},
			{"allreduce7", AllReduce}, {"allreduce8", AllReduce}, {"allreduce10", AllReduce},
			{"allreduce11", AllReduce},
			{"allgather5", AllGather}, {"allgather6", AllGather}, {"allgather8", AllGather},
		},
	},
	{
		Name: "DeepEP",
		Source: "deepseek-ai/DeepEP csrc/kernels (intranode.cu, internode.cu, internode_ll.cu, elastic), " +
			"dpsk::ep in deepseek-ai/profile-data; uccl-project/uccl ep",
		Scopes: []string{"deep_ep", "dpsk::ep", "uccl"},
		Kernels: []Kernel{
			{"*_epilogue*", NotCommunication}, {"*_prologue*", NotCommunication},
			{"notify_dispatch*", Barrier}, {"cached_notify*", Barrier}, {"barrier*", Barrier},
			{"clean_low_latency_buffer*", Barrier},
			{"dispatch*", AllToAll}, {"combine*", AllToAll}, {"cached_dispatch*", AllToAll},
			{"hybrid_dispatch*", AllToAll}, {"hybrid_combine*", AllToAll},
			{"pp_send*", SendRecv}, {"pp_recv*", SendRecv},
		},
	},
	{
		Name:   "HybridEP",
		Source: "deepseek-ai/DeepEP csrc/hybrid_ep/backend/hybrid_ep_backend.cuh",
		Scopes: []string{"hybrid_ep"},
		Kernels: []Kernel{
			{"dispatch_kernel*", AllToAll}, {"combine_kernel*", AllToAll}, {"device_sync_kernel*", Barrier},
		},
	},
	{
		Name:    "MORI",
		Source:  "ROCm/mori src/ops/dispatch_combine",
		Kernels: []Kernel{{"EpDispatch*Kernel*", AllToAll}, {"EpCombine*Kernel*", AllToAll}},
	},
	{
		Name:    "TensorRT-LLM expert parallelism",
		Source:  "NVIDIA/TensorRT-LLM cpp/tensorrt_llm/kernels/communicationKernels/moeAlltoAllKernels.cu",
		Kernels: []Kernel{{"moeA2ADispatchKernel*", AllToAll}, {"moeA2ACombineKernel*", AllToAll}},
	},
	{
		Name: "custom all-reduce",
		Source: "vllm-project/vllm csrc/custom_all_reduce.cuh, sgl-project/sglang sgl-kernel/csrc/allreduce, " +
			"ROCm/aiter csrc/include/custom_all_reduce.cuh",
		Kernels: []Kernel{
			{"cross_device_reduce_*", AllReduce},
			{"reduce_scatter_cross_device_store*", ReduceScatter},
		},
	},
	{
		Name:    "AITER",
		Source:  "ROCm/aiter csrc/include/custom_all_reduce.cuh",
		Scopes:  []string{"aiter"},
		Kernels: []Kernel{{"allgather_*", AllGather}, {"reduce_scatter_*", ReduceScatter}},
	},
	{
		Name:    "QuickReduce",
		Source:  "mk1-project/quickreduce, ROCm/aiter csrc/include/quick_all_reduce.cuh",
		Kernels: []Kernel{{"allreduce_prototype_*", AllReduce}},
	},
	{
		Name: "TensorRT-LLM, FlashInfer",
		Source: "NVIDIA/TensorRT-LLM cpp/tensorrt_llm/kernels/customAllReduceKernels.cu and communicationKernels, " +
			"flashinfer-ai/flashinfer include/flashinfer/comm",
		Kernels: []Kernel{
			{"oneShotAllReduceKernel*", AllReduce}, {"twoShotAllReduceKernel*", AllReduce},
			{"hybridCubeMeshAllReduceKernel*", AllReduce}, // of PyTorch's IntraNodeComm, as the two before
			{"OneShotAllReduceKernel*", AllReduce},
			{"oneshotAllreduceFusionKernel*", AllReduce}, {"twoshotAllreduceKernel*", AllReduce},
			{"lowPrecisionTwoShot*AllReduceKernel*", AllReduce},
			{"allreduce_fusion_kernel_*", AllReduce}, {"moereduce_allreduce_fusion_kernel_*", AllReduce},
			{"moefinalize_allreduce_fusion_kernel_*", AllReduce},
		},
	},
	{
		Name: "PyTorch symmetric memory",
		Source: "pytorch/pytorch torch/csrc/distributed/c10d/symm_mem/CUDASymmetricMemoryOps.cu; " +
			"pytorch/FBGEMM fbgemm_gpu/experimental/gen_ai: one_shot_all_reduce",
		Kernels: []Kernel{
			{"multimem_one_shot_reduce_*", Reduce}, {"multimem_*", UnknownCollective},
			{"one_shot_all_reduce*", AllReduce}, {"two_shot_all_reduce*", AllReduce},
			{"reduce_scatter_kernel", ReduceScatter},
		},
	},
	{
		Name:   "PyTorch symmetric memory",
		Source: "pytorch/pytorch torch/csrc/distributed/c10d/symm_mem/CUDASymmetricMemory.cu, intra_node_comm.cu",
		Scopes: []string{"c10d::symmetric_memory", "c10d::intra_node_comm"},
		Kernels: []Kernel{
			{"barrier_kernel*", Barrier}, {"put_signal_kernel*", Barrier}, {"wait_signal_kernel*", Barrier},
		},
	},
	{
		Name:   "PyTorch symmetric memory on NVSHMEM",
		Source: "pytorch/pytorch torch/csrc/distributed/c10d/symm_mem/nvshmem_extension.cu, rocshmem_extension.cu",
		Kernels: []Kernel{
			{"exchangeSplitAndOffset*", Barrier}, {"allToAllV", AllToAll}, {"allToAllV_*", AllToAll},
		},
	},
	{
		Name: "NVSHMEM",
		Source: "NVIDIA/nvshmem src/include/internal/non_abi/nvshmemi_h_to_d_coll_defs.cuh, " +
			"nvshmemi_h_to_d_rma_defs.cuh, nvshmemi_h_to_d_sync_defs.cuh",
		Kernels: []Kernel{
			{"barrier_on_stream_kernel*", Barrier}, {"barrier_all_on_stream_kernel*", Barrier},
			{"sync_on_stream_kernel*", Barrier}, {"sync_all_on_stream_kernel*", Barrier},
			{"alltoall_on_stream_kernel*", AllToAll}, {"broadcast_on_stream_kernel*", Broadcast},
			{"fcollect_on_stream_kernel*", AllGather}, {"rdxn_on_stream_kernel*", AllReduce},
			{"reducescatter_on_stream_kernel*", ReduceScatter},
			{"nvshmemi_signal_wait_until*", Barrier}, {"nvshmemi_wait_until*", Barrier},
			{"nvshmemi_proxy_rma_*", SendRecv}, {"nvshmemi_*_on_stream*", UnknownCollective},
			{"nvshmemx_*_on_stream*", UnknownCollective}, {"nvshmem_*_on_stream*", UnknownCollective},
		},
	},
	{
		Name:   "Userbuffers",
		Source: "NVIDIA/TransformerEngine transformer_engine/common/comm_gemm_overlap/userbuffers/userbuffers.cu",
		Kernels: []Kernel{
			{"userbuffers_*_rs*", ReduceScatter}, {"userbuffers_*_ag*", AllGather},
			{"userbuffers_*_sum_inplace_gpu_*", AllReduce},
			{"kuserbuffers_push*", SendRecv}, {"kuserbuffers_*", Barrier},
		},
	},
	{
		Name:    "oneCCL (XCCL)",
		Source:  "uxlfoundation/oneCCL src/coll/algorithms: oneccl_allreduce_*, oneccl_allgatherv_*, ...",
		Grouped: true,
		Kernels: []Kernel{{"oneccl_barrier*", Barrier}, {"oneccl_*", UnknownCollective}},
	},
	{
		Name:    "HCCL",
		Source:  "Ascend HCCL, names of communication operators: hcom_allReduce_, hcom_allGather_, hcom_send_, ...",
		Grouped: true,
		Kernels: []Kernel{
			{"hcom_barrier_*", Barrier}, {"hcom_send_*", SendRecv}, {"hcom_receive_*", SendRecv},
			{"hcom_batchSendRecv_*", SendRecv}, {"hcom_*", UnknownCollective},
		},
	},
}
