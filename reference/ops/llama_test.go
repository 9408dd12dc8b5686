package ops

import "github.com/gaprof/gaprof/reference/device"

// llama is more of all: what networks of Llama's kind add.
var llama = []operation{
	// Read X and W, written Y; one number a row for backward.
	{RMSNorm{Y: f32(6, 5), X: f32(6, 5), W: f32(5), Rstd: f32(6), D: 5, Eps: 1e-5},
		"gaprof_rms_norm_f32 aten::_fused_rms_norm 120 284 [6 5]:float Scalar=[5] [5]:float double=1e-05"},
	{RMSNormBackward{DX: bf16(6, 5), DW: bf16(5), DY: bf16(6, 5), X: bf16(6, 5), W: bf16(5), Rstd: f32(6), D: 5},
		"gaprof_rms_norm_backward_bf16 aten::_fused_rms_norm_backward 300 224 [6 5]:c10::BFloat16 [6 " +
			"5]:c10::BFloat16 " +
			"Scalar=[5] [6]:float [5]:c10::BFloat16 Scalar=[True, True]"},
	// Two sequences of three positions, two heads of two pairs; only three rows of the table are read.
	{RoPE{Y: bf16(6, 8), X: bf16(6, 8), Table: f32(9, 4), T: 3, Heads: 2, Size: 4},
		"gaprof_rope_bf16 aten::mul 144 240 [2 3 2 2]:c10::complex<float> [1 3 1 2]:c10::complex<float>"},
	{Silu{Y: f32(6, 5), X: f32(6, 5)}, "gaprof_silu_f32 aten::silu 120 240 [6 5]:float"},
	{SiluBackward{DX: f32(6, 5), DY: f32(6, 5), X: f32(6, 5)},
		"gaprof_silu_backward_f32 aten::silu_backward 240 360 [6 5]:float [6 5]:float"},
	{Product{Y: f64(6, 5), A: f64(6, 5), B: f64(6, 5)},
		"gaprof_product_f64 aten::mul 30 720 [6 5]:double [6 5]:double"},
	{SwiGLU{Y: f32(6, 5), Gate: f32(6, 5), Up: f32(6, 5)},
		"gaprof_swiglu_forward_kernel_f32 LigerSiLUMulFunction 150 360 [6 5]:float [6 5]:float"},
	{SwiGLUBackward{DGate: f32(6, 5), DUp: f32(6, 5), DY: f32(6, 5), Gate: f32(6, 5), Up: f32(6, 5)},
		"gaprof_swiglu_backward_kernel_f32 LigerSiLUMulFunctionBackward 300 600 [6 5]:float"},
	{Concat{Y: f32(6, 10), X: []*device.Buffer{f32(6, 5), f32(6, 5)}, D: 5},
		"gaprof_concat_f32 aten::cat 0 480 [[6 5] [6 5]] Scalar=1"},
	// Two products of half of T x T x Size for each of B x Q heads: 2*2*4*3*3*2 operations. Q and O have 6 rows of 8,
	// K and V of 4, LSE is 24 long.
	{FlashAttention{O: f32(6, 8), LSE: f32(2, 4, 3), Q: f32(6, 8), K: f32(6, 4), V: f32(6, 4),
		Heads: Heads{B: 2, T: 3, Q: 4, KV: 2, Size: 2}},
		"gaprof_flash_fwd_kernel_f32 aten::_scaled_dot_product_flash_attention 288 672 [2 4 3 2]:float [2 2 3 " +
			"2]:float " +
			"[2 2 3 2]:float Scalar=0. Scalar=True Scalar=False -"},
	{FlashAttentionBackward{DQ: f32(6, 8), DK: f32(6, 4), DV: f32(6, 4), DO: f32(6, 8), O: f32(6, 8),
		LSE: f32(2, 4, 3), Q: f32(6, 8), K: f32(6, 4), V: f32(6, 4), Heads: Heads{B: 2, T: 3, Q: 4, KV: 2, Size: 2}},
		"gaprof_flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel_f32 " +
			"aten::_scaled_dot_product_flash_attention_backward 720 1248 [2 4 3 2]:float [2 4 3 2]:float [2 2 3 " +
			"2]:float " +
			"[2 2 3 2]:float [2 4 3 2]:float [2 4 3]:float - - Scalar=3 Scalar=3 Scalar=0. Scalar=True - - -"},
	// In bfloat16, heads of 64 and 128 have PyTorch's kernels: sequences that fill their blocks and some that do not.
	{FlashAttention{O: bf16(100, 64), LSE: f32(1, 1, 100), Q: bf16(100, 64), K: bf16(100, 64), V: bf16(100, 64),
		Heads: Heads{B: 1, T: 100, Q: 1, KV: 1, Size: 64}},
		"void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4, false, false, " +
			"cutlass::bfloat16_t, " +
			"Flash_kernel_traits<64, 128, 128, 4, cutlass::bfloat16_t> >, false, true, false, false, false, " +
			"true, false, " +
			"false>(pytorch_flash::Flash_fwd_params) aten::_scaled_dot_product_flash_attention 1280000 51600 " +
			"[1 1 100 64]:c10::BFloat16 [1 1 100 64]:c10::BFloat16 [1 1 100 64]:c10::BFloat16 Scalar=0. " +
			"Scalar=True " +
			"Scalar=False -"},
	{FlashAttention{O: bf16(128, 128), LSE: f32(1, 1, 128), Q: bf16(128, 128), K: bf16(128, 128), V: bf16(128, 128),
		Heads: Heads{B: 1, T: 128, Q: 1, KV: 1, Size: 128}},
		"void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4, false, false, " +
			"cutlass::bfloat16_t, " +
			"Flash_kernel_traits<128, 128, 64, 4, cutlass::bfloat16_t> >, false, true, false, false, true, " +
			"true, false, " +
			"false>(pytorch_flash::Flash_fwd_params) aten::_scaled_dot_product_flash_attention 4194304 131584 " +
			"[1 1 128 128]:c10::BFloat16 [1 1 128 128]:c10::BFloat16 [1 1 128 128]:c10::BFloat16 Scalar=0. " +
			"Scalar=True " +
			"Scalar=False -"},
	// 192 positions fill blocks of 64, but not those of 128.
	{FlashAttention{O: bf16(192, 64), LSE: f32(1, 1, 192), Q: bf16(192, 64), K: bf16(192, 64), V: bf16(192, 64),
		Heads: Heads{B: 1, T: 192, Q: 1, KV: 1, Size: 64}},
		"void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4, false, false, " +
			"cutlass::bfloat16_t, Flash_kernel_traits<64, 128, 128, 4, cutlass::bfloat16_t> >, false, true, false, " +
			"false, false, true, false, false>(pytorch_flash::Flash_fwd_params) " +
			"aten::_scaled_dot_product_flash_attention 4718592 99072 [1 1 192 64]:c10::BFloat16 " +
			"[1 1 192 64]:c10::BFloat16 [1 1 192 64]:c10::BFloat16 Scalar=0. Scalar=True Scalar=False -"},
	{FlashAttentionBackward{DQ: bf16(128, 128), DK: bf16(128, 128), DV: bf16(128, 128), DO: bf16(128, 128),
		O: bf16(128, 128), LSE: f32(1, 1, 128), Q: bf16(128, 128), K: bf16(128, 128), V: bf16(128, 128),
		Heads: Heads{B: 1, T: 128, Q: 1, KV: 1, Size: 128}},
		"void pytorch_flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<Flash_bwd_kernel_traits<128, 64, 128, " +
			"8, 2, 4, " +
			"2, false, false, cutlass::bfloat16_t, Flash_kernel_traits<128, 64, 128, 8, cutlass::bfloat16_t> >, " +
			"false, " +
			"true, false, false, true, true, false>(pytorch_flash::Flash_bwd_params) " +
			"aten::_scaled_dot_product_flash_attention_backward 10485760 262656 [1 1 128 128]:c10::BFloat16 " +
			"[1 1 128 128]:c10::BFloat16 [1 1 128 128]:c10::BFloat16 [1 1 128 128]:c10::BFloat16 " +
			"[1 1 128 128]:c10::BFloat16 [1 1 128]:float - - Scalar=128 Scalar=128 Scalar=0. Scalar=True - - -"},
}
