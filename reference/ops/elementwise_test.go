package ops

var (
	target, source = f32(2, 3), f32(2, 3)
	whole          = f64(3, 3)
)

// elementwise is more of all: what optimizers of many operations add.
var elementwise = []operation{
	{ScaleBy{X: f32(2, 3), Value: 0.5}, "gaprof_scale_by_f32 aten::mul_ 6 48 [2 3]:float double=0.5"},
	{Raise{X: f32(2, 3), Value: 1e-8}, "gaprof_raise_f32 aten::add_ 6 48 [2 3]:float double=1e-08 Scalar=1"},
	{AtLeast{X: f32(), Least: 1e-7}, "gaprof_at_least_f32 aten::clamp 1 8 []:float double=1e-07 -"},
	{AddScaled{Y: f32(2, 3), X: f32(2, 3), Alpha: -1},
		"gaprof_add_scaled_f32 aten::add_ 12 72 [2 3]:float [2 3]:float double=-1"},
	// A square is read once.
	{AddProduct{Y: f32(2, 3), A: f32(2, 3), B: f32(2, 3), Value: 0.1},
		"gaprof_add_product_f32 aten::addcmul_ 18 96 [2 3]:float [2 3]:float [2 3]:float double=0.1"},
	{AddProduct{Y: f32(2, 3), A: source, B: source, Value: 0.1},
		"gaprof_add_product_f32 aten::addcmul_ 18 72 [2 3]:float [2 3]:float [2 3]:float double=0.1"},
	{Roots{Y: f32(2, 3), X: f32(2, 3)}, "gaprof_roots_f32 aten::sqrt 6 48 [2 3]:float"},
	{Quotient{Y: f32(2, 3), A: f32(2, 3), B: f32(2, 3)}, "gaprof_quotient_f32 aten::div 6 72 [2 3]:float [2 3]:float"},
	{Quotient{Y: target, A: target, B: f32()}, "gaprof_quotient_f32 aten::div_ 6 52 [2 3]:float []:float"},
	{Lerp{Y: f32(2, 3), A: f32(2, 3), B: f32(2, 3), Weight: 0.25},
		"gaprof_lerp_f32 aten::lerp 18 72 [2 3]:float [2 3]:float double=0.25"},
	{Lerp{Y: target, A: target, B: f32(2, 3), Weight: 0.25},
		"gaprof_lerp_f32 aten::lerp_ 18 72 [2 3]:float [2 3]:float double=0.25"},
	// 5 x 3 times its transpose, and what is written as a product of transposes.
	{MatMul{Y: f64(3, 3), A: f64(5, 3), B: f64(5, 3), M: 3, N: 3, K: 5, TransA: true, Alpha: 1},
		"gaprof_gemm_tn_f64 aten::mm 90 312 [3 5]:double [5 3]:double"},
	{MatMul{Y: f64(5, 3), A: f64(5, 3), B: whole, C: f64(5, 3), M: 5, N: 3, K: 3, Alpha: 1, Beta: 3.5, Flipped: true},
		"gaprof_gemm_nn_f64 aten::addmm 90 432 [3 5]:double [3 3]:double [3 5]:double double=3.5 double=1"},
	{MatMul{Y: f64(3, 3), A: f64(3, 5), B: f64(3, 5), M: 3, N: 3, K: 5, TransB: true, Alpha: 1},
		"gaprof_gemm_nt_f64 aten::mm 90 312 [3 5]:double [5 3]:double"},
}
