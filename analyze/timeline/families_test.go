package timeline

import (
	"regexp"
	"strings"
	"testing"
)

// Names as profilers print them. Each kernel is of the kind given, and what only resembles
// communication is compute.
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

		{"void dpsk::ep::internode::dispatch<false, 8, true, 8>(int4*, float*)", AllToAll},
		{"void dpsk::ep::internode::combine<true, __nv_bfloat16, 8>(int4*)", AllToAll},
		{"void dpsk::ep::internode::dispatch_ll<true>(void*)", AllToAll},
		{"void dpsk::ep::internode::notify_dispatch<false, 4>(int const*, long*)", Barrier},
		{"void dpsk::ep::internode::cached_notify<false>(int)", Barrier},
		{"void dpsk::ep::cuda::get_dispatch_layout<32>(long const*)", NotCommunication},
		{"void cdpsk::ep::CUB_200400_900_NS::DeviceScanKernel<int>(int)", NotCommunication},
		{"void deep_ep::internode::dispatch<false, 2, false, 1>(int4*)", AllToAll},
		{"void deep_ep::intranode::combine<__nv_bfloat16, 8, 768, 4096>(__nv_bfloat16*)", AllToAll},
		{"void deep_ep::intranode::cached_notify_combine<8>(void**)", Barrier},
		{"void deep_ep::intranode::cached_notify_dispatch<8>(int)", Barrier},
		{"void deep_ep::intranode::barrier<8>(int**, int)", Barrier},
		{"void deep_ep::internode_ll::dispatch<(bool)1, (bool)1, (int)6144>(void *)", AllToAll},
		{"void deep_ep::internode_ll::clean_low_latency_buffer<8>(int*)", Barrier},
		{"void deep_ep::layout::get_dispatch_layout<256, 4, 8>(long const*)", NotCommunication},
		{"void deep_ep::elastic::dispatch_copy_epilogue_impl<1>(int)", NotCommunication},
		{"void deep_ep::elastic::hybrid_combine_impl<1>(int)", AllToAll},
		{"void primus_turbo::deep_ep::intranode::dispatch<8>(int)", AllToAll},
		{"void uccl::internode::combine<1>(int)", AllToAll},
		{"void hybrid_ep::dispatch_kernel<1>(hybrid_ep::dispatch_kernel_param_t<1>)", AllToAll},
		{"hybrid_ep::device_sync_kernel(unsigned int*)", Barrier},
		{"EpDispatchIntraNodeKernel_bf16", AllToAll},
		{"void mori::moe::EpCombineInterNodeV1Kernel<float>(int)", AllToAll},
		{"void tensorrt_llm::kernels::moe_a2a::moeA2ADispatchKernel<8>(int const*)", AllToAll},

		{"void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(vllm::RankData*, vllm::RankSignals)", AllReduce},
		{"void sglang::cross_device_reduce_2stage<__half, 4>(sglang::RankData*)", AllReduce},
		{"void aiter::cross_device_reduce_2stage_write_mode<float, 8>(int)", AllReduce},
		{"void aiter::reduce_scatter_cross_device_store<__hip_bfloat16, 8>(int)", ReduceScatter},
		{"void aiter::allgather_lastdim<8>(int)", AllGather},
		{"void quickreduce::allreduce_prototype_twoshot<AllReduceTwoshot<__half, CodecQ4<__half,4>, true>, __half>" +
			"(__half const*)", AllReduce},
		{"void tensorrt_llm::kernels::oneShotAllReduceKernel<float, 8, true>(AllReduceParams)", AllReduce},
		{"void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<" +
			"(flashinfer::trtllm_allreduce_fusion::AllReduceFusionPattern)1, __nv_bfloat16, 8, false>(int)", AllReduce},
		{"void flashinfer::trtllm_mnnvl_allreduce::oneshotAllreduceFusionKernel<8>(int)", AllReduce},
		{"void c10d::intra_node_comm::twoShotAllReduceKernel<2, false>(int)", AllReduce},

		{"void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>(c10::BFloat16*)", AllReduce},
		{"void (anonymous namespace)::multimem_one_shot_all_reduce_kernel<float, 16>(float*)", AllReduce},
		{"void <unnamed>::multimem_all_gather_kernel<16>(char*)", AllGather},
		{"void (anonymous namespace)::one_shot_all_reduce_kernel<c10::BFloat16, 16, 8>(int)", AllReduce},
		{"void (anonymous namespace)::two_shot_all_reduce_kernel_inplace<float, 16, 8>(int)", AllReduce},
		{"c10d::symmetric_memory::barrier_kernel(unsigned int**, int, int, int, unsigned long)", Barrier},
		{"c10d::symmetric_memory::wait_signal_kernel(unsigned int**, int)", Barrier},
		{"my::barrier_kernel(int)", NotCommunication},

		{"void barrier_on_stream_kernel_threadgroup<(threadgroup_t)1>(int, int)", Barrier},
		{"nvshmemi_proxy_rma_entrypoint_blocking(void*, void*)", SendRecv},
		{"void userbuffers_fp16_sum_inplace_gpu_rr<2>(int, int)", AllReduce},
		{"void userbuffers_fp16_sum_inplace_gpu_rw_ag<2>(int, int)", AllGather},
		{"void userbuffers_fp16_sum_inplace_gpu_rr_rs_oop_fp8<2, __nv_fp8_e4m3>(int)", ReduceScatter},
		{"kuserbuffers_pushsend(int*, int*, int4*, int4*, int)", SendRecv},
		{"oneccl_allreduce_pcie<half, 4>", AllReduce},
		{"oneccl_allgatherv_pcie<half>", AllGather},
		{"hcom_allReduce__428_0_1", AllReduce},
		{"hcom_receive__428_0_1", SendRecv},
		{"void mscclpp::collective::allreduceRsAgZeroCopy<1, float>(int)", AllReduce},
		{"void allreduceAllPairs<(Op)0, __half>(__half*)", AllReduce},
		{"allgather6(void*, unsigned long)", AllGather},

		{"my_dispatch_kernel(int)", NotCommunication},
		{"void moe::permute_dispatch<8>(int)", NotCommunication},
		{"void at::native::_scatter_gather_elementwise_kernel<128, 4>(int)", NotCommunication},
		{"void at::native::vectorized_gather_kernel<16, long>(char*, char*)", NotCommunication},
		{"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>(int)", NotCommunication},
		{"void flash::flash_fwd_splitkv_combine_kernel<Flash_fwd_kernel_traits<64>>(int)", NotCommunication},
		{"triton_poi_fused_all_reduce_wait_tensor_0", NotCommunication},
		{"std::enable_if<!false, void>::type internal::gemvx::kernel<int, deep_ep::internode::dispatch<1> >(int)",
			NotCommunication},
		{"std::enable_if<true, void>::type deep_ep::internode::dispatch<1>(int)", AllToAll},
		{"void broadcast_kernel<float>(float*)", NotCommunication},
		{"<", NotCommunication}, {">>>", NotCommunication}, {"(((", NotCommunication}, {"::", NotCommunication},
		{"a::", NotCommunication}, {"(anonymous namespace)", NotCommunication}, {"x y z ", NotCommunication},
	} {
		if got, _, _ := kernelKind(test.name); got != test.want {
			t.Errorf("%q: %v, want %v", test.name, got, test.want)
		}
	}
}

// Every pattern of the table can be reached: the first that fits a name it describes is
// itself, and says of which project it is.
func TestFamiliesAreReached(t *testing.T) {
	for _, f := range Families() {
		if f.Source == "" || f.Name == "" {
			t.Errorf("%+v: no name or no source", f)
		}
		for _, scope := range append(f.Scopes[:len(f.Scopes):len(f.Scopes)], "")[:max(1, len(f.Scopes))] {
			for _, k := range f.Kernels {
				name := strings.ReplaceAll(k.Function, "*", "x")
				if scope != "" {
					name = scope + "::" + name
				}
				name = "void " + name + "<int>(int)"
				qualification, from, to := kernelFunction(name)
				of := familyOf(name[qualification:from], name[from:to])
				if of.kernel == nil || of.kernel.Function != k.Function || of.family.Name != f.Name {
					t.Errorf("%s is taken for %+v", name, of.kernel)
				}
			}
		}
	}
}

// What names speak of that are in no family, and what is compute for certain.
func TestSuspects(t *testing.T) {
	for name, want := range map[string]CollectiveKind{
		"my_dispatch_kernel(int)":                                     AllToAll,
		"void acme::ep::TokenCombine<8>(int)":                         AllToAll,
		"void acme::moeA2AKernel<8>(int)":                             AllToAll,
		"acme_all_to_all_v2(int)":                                     AllToAll,
		"ACME_ALLREDUCE(int)":                                         AllReduce,
		"void acme::ringAllReduceStep<float>(float*)":                 AllReduce,
		"acme_notify_dispatch(int)":                                   Barrier,
		"waitSignalKernel":                                            Barrier,
		"void (anonymous namespace)::push_signal<1>(int)":             Barrier,
		"dispatcher_kernel(int)":                                      NotCommunication,
		"recombined(int)":                                             NotCommunication,
		"signaling_nan(int)":                                          NotCommunication,
		"void gemm<Dispatch>(int)":                                    NotCommunication,
		"void Policy<signal>::gemm(int)":                              NotCommunication,
		"void at::native::dispatch_thing<int>(int)":                   NotCommunication,
		"void cutlass::device_kernel<dispatch>(int)":                  NotCommunication,
		"triton_poi_fused_dispatch_0":                                 NotCommunication,
		"void flash::flash_fwd_splitkv_combine_kernel<int>(int)":      NotCommunication,
		"void flash_fwd_mla_combine_kernel<int>(int)":                 NotCommunication,
		"void layer_norm_warp_all_reduce<int>(int)":                   NotCommunication,
		"void deep_ep::layout::get_dispatch_layout<1>(int)":           NotCommunication,
		"void deep_ep::elastic::combine_reduce_epilogue_impl<1>(int)": NotCommunication,
		"ncclDevKernel_AllReduce(int)":                                NotCommunication,
		"":                                                            NotCommunication,
	} {
		if got := kernelNamed(name, nil).suspect; got != want {
			t.Errorf("%q: %v, want %v", name, got, want)
		}
	}
}

// The pattern that is advised fits the kernel, and only its function.
func TestPatternFor(t *testing.T) {
	for name, want := range map[string]string{
		"my_dispatch_kernel(int)":                             `\bmy_dispatch_kernel\b`,
		"void acme::ep::TokenCombine<(Mode)1, 8>(int const*)": `\bacme::ep::TokenCombine\b`,
		"void (anonymous namespace)::push_signal<1>(int)":     `\bpush_signal\b`,
		"void Outer<int>::all_reduce(int)":                    `\ball_reduce\b`,
		"$it's.signal.kd":                                     `.it.s.signal.kd\b`,
	} {
		got := PatternFor(name)
		d, err := NewDeclaration(got, "barrier")
		if got != want || err != nil || kernelNamed(name, []Declaration{d}).kind != Barrier {
			t.Errorf("%q: %s, want %s; %v", name, got, want, err)
		}
	}
}

// The last declaration that fits decides, against the table too, and none makes compute.
func TestDeclarations(t *testing.T) {
	declare := func(texts ...string) (list []Declaration) {
		for _, text := range texts {
			d, err := ParseDeclaration(text)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, d)
		}
		return list
	}
	const mine, nccl = "void mine<a=b>(int)", "ncclDevKernel_AllReduce_Sum(int)"
	for _, test := range []struct {
		name     string
		declared []Declaration
		want     CollectiveKind
	}{
		{mine, nil, NotCommunication},
		{mine, declare("mine=all_to_all"), AllToAll},
		{mine, declare("a=b=all-gather"), AllGather},
		{mine, declare("mine=all_to_all", "yours=reduce"), AllToAll},
		{mine, declare("mine=all_to_all", "^void mine=barrier"), Barrier},
		{mine, declare("^void mine=barrier", "mine=none"), NotCommunication},
		{nccl, declare("^nccl=other"), UnknownCollective},
		{nccl, declare("^nccl=none"), NotCommunication},
	} {
		if got := kernelNamed(test.name, test.declared); got.kind != test.want || got.suspect != 0 {
			t.Errorf("%q %v: %+v, want %v", test.name, test.declared, got, test.want)
		}
	}
	for _, bad := range []string{"", "=", "x", "x=", "=all_reduce", "x=allreduce", "x=all_reduce ", "(=all_reduce",
		".*=all_reduce", "x|=reduce"} {
		if d, err := ParseDeclaration(bad); err == nil {
			t.Errorf("%q is taken for %+v", bad, d)
		}
	}
	for _, kind := range append(CollectiveKinds(), NotCommunication) {
		name := kind.String()
		if kind == NotCommunication {
			name = "none"
		}
		if d, err := NewDeclaration("x", name); err != nil || d.Kind != kind {
			t.Errorf("%s: %+v, %v", name, d, err)
		}
	}
	if !regexp.MustCompile(`reduce_scatter, .*, none$`).MatchString(strings.Join(DeclarableKinds(), ", ")) {
		t.Error(DeclarableKinds())
	}
}
