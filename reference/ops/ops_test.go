package ops

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/reference/device"
)

func buf(dt device.DType, shape ...int) *device.Buffer {
	return &device.Buffer{Block: &device.Block{}, N: device.Elements(shape), DType: dt, Shape: shape}
}

func f32(shape ...int) *device.Buffer { return buf(device.F32, shape...) }
func f64(shape ...int) *device.Buffer { return buf(device.F64, shape...) }
func i64(shape ...int) *device.Buffer { return buf(device.I64, shape...) }

func bf16(shape ...int) *device.Buffer {
	return buf(device.BF16, shape...)
}

func both(f func(shape ...int) *device.Buffer) []*device.Buffer {
	return []*device.Buffer{f(2, 3), f(4)}
}

// operands writes the inputs of an operator as traces have them, shape:type or a value.
func operands(list []device.Operand) string {
	var parts []string
	for _, o := range list {
		switch {
		case o.Type == "":
			parts = append(parts, "-")
		case o.Value != "":
			parts = append(parts, o.Type+"="+o.Value)
		case o.Type == "TensorList":
			parts = append(parts, fmt.Sprint(o.List))
		default:
			parts = append(parts, fmt.Sprint(o.Shape)+":"+o.Type)
		}
	}
	return strings.Join(parts, " ")
}

// operation is one with what a trace says of it.
type operation struct {
	op   device.Kernel
	want string
}

// all is every operation with sizes that differ, and what a trace says of it: the device
// function, the operator of PyTorch, floating-point operations and bytes, the inputs. Bytes
// are those of all buffers that are read and written, twice where a kernel does both.
var all = []operation{
	// Y 6x5, W 9x5, six indexes: what is looked up is read and written, and the indexes are read.
	{Embedding{Y: f32(6, 5), W: f32(9, 5), Index: i64(2, 3), D: 5},
		"gaprof_embedding_f32 aten::embedding 0 288 [9 5]:float [2 3]:long int"},
	{EmbeddingBackward{DW: f32(9, 5), DY: f32(6, 5), Index: i64(2, 3), D: 5},
		"gaprof_embedding_backward_f32 aten::embedding_dense_backward 30 348 [6 5]:float [2 3]:long int"},
	{AddPositions{Y: f64(6, 5), X: f64(6, 5), W: f64(3, 5)},
		"gaprof_add_positions_f64 aten::add 30 600 [6 5]:double [3 5]:double Scalar=1"},
	{PositionsBackward{DW: f64(3, 5), DY: f64(6, 5)},
		"gaprof_positions_backward_f64 aten::sum 30 360 [6 5]:double Scalar=[0]"},
	{LayerNorm{Y: f32(6, 5), X: f32(6, 5), W: f32(5), B: f32(5), Mean: f32(6), Rstd: f32(6), D: 5},
		"gaprof_layer_norm_f32 aten::native_layer_norm 240 328 [6 5]:float [5]:float [5]:float"},
	{LayerNormBackward{DX: f32(6, 5), DW: f32(5), DB: f32(5), DY: f32(6, 5), X: f32(6, 5), W: f32(5), Mean: f32(6),
		Rstd: f32(6), D: 5}, "gaprof_layer_norm_backward_f32 aten::native_layer_norm_backward 420 468 " +
		"[6 5]:float [6 5]:float [6]:float [6]:float [5]:float"},
	{Linear{Y: f32(6, 7), X: f32(6, 5), W: f32(7, 5), M: 6, N: 7, K: 5},
		"gaprof_gemm_nt_f32 aten::mm 420 428 [6 5]:float [5 7]:float"},
	{Linear{Y: f64(6, 7), X: f64(6, 5), W: f64(7, 5), B: f64(7), M: 6, N: 7, K: 5},
		"gaprof_gemm_nt_f64 aten::addmm 420 912 [7]:double [6 5]:double [5 7]:double Scalar=1 Scalar=1"},
	{LinearInput{DX: f32(6, 5), DY: f32(6, 7), W: f32(7, 5), M: 6, N: 7, K: 5},
		"gaprof_gemm_nn_f32 aten::mm 420 428 [6 7]:float [7 5]:float"},
	{LinearWeight{DW: f32(7, 5), DY: f32(6, 7), X: f32(6, 5), M: 6, N: 7, K: 5},
		"gaprof_gemm_tn_f32 aten::mm 420 428 [7 6]:float [6 5]:float"},
	{LinearBias{DB: f32(7), DY: f32(6, 7), M: 6, N: 7},
		"gaprof_column_sum_f32 aten::sum 42 196 [6 7]:float Scalar=[0]"},
	// Two products of T x T x D for each sequence, each of a multiplication and an addition; backward has four.
	{Attention{O: f32(6, 4), P: f32(2, 2, 3, 3), Q: f32(6, 4), K: f32(6, 4), V: f32(6, 4), B: 2, T: 3, D: 4, Heads: 2},
		"gaprof_attention_f32 aten::scaled_dot_product_attention 288 528 [6 4]:float [6 4]:float [6 4]:float"},
	{AttentionBackward{DQ: f32(6, 4), DK: f32(6, 4), DV: f32(6, 4), DO: f32(6, 4), P: f32(2, 2, 3, 3), Q: f32(6, 4),
		K: f32(6, 4), V: f32(6, 4), Work: f32(3, 3), B: 2, T: 3, D: 4, Heads: 2},
		"gaprof_attention_backward_f32 aten::_scaled_dot_product_attention_backward 576 816 " +
			"[6 4]:float [6 4]:float [6 4]:float [6 4]:float"},
	{Gelu{Y: f32(6, 5), X: f32(6, 5)}, "gaprof_gelu_f32 aten::gelu 300 240 [6 5]:float Scalar=tanh"},
	{GeluBackward{DX: f32(6, 5), DY: f32(6, 5), X: f32(6, 5)},
		"gaprof_gelu_backward_f32 aten::gelu_backward 480 360 [6 5]:float [6 5]:float Scalar=tanh"},
	{Add{Y: f32(6, 5), A: f32(6, 5), B: f32(6, 5)}, "gaprof_add_f32 aten::add 30 360 [6 5]:float [6 5]:float Scalar=1"},
	{CrossEntropy{Loss: f32(), Logits: f32(6, 9), Targets: i64(6), LSE: f32(6), Count: i64(), V: 9},
		"gaprof_cross_entropy_f32 aten::cross_entropy_loss 216 288 " +
			"[6 9]:float [6]:long int - Scalar=2 Scalar=-100 Scalar=0."},
	{CrossEntropy{Loss: f32(), Logits: f32(6, 9), Targets: i64(6), LSE: f32(6), Count: i64(), V: 9, Mean: true},
		"gaprof_cross_entropy_f32 aten::cross_entropy_loss 216 288 " +
			"[6 9]:float [6]:long int - Scalar=1 Scalar=-100 Scalar=0."},
	{CrossEntropyBackward{DLogits: f32(6, 9), Logits: f32(6, 9), Targets: i64(6), LSE: f32(6), Count: i64(),
		Up: f32(), V: 9},
		"gaprof_cross_entropy_backward_f32 aten::nll_loss_backward 216 504 []:float [6 9]:float [6]:long int"},
	{CountTokens{Count: i64(), Labels: i64(2, 3)}, "gaprof_count_tokens_i64 aten::sum 6 48 [2 3]:long int"},
	{Accumulate{Y: f32(6, 5), X: f32(6, 5)},
		"gaprof_accumulate_f32 aten::add_ 30 360 [6 5]:float [6 5]:float Scalar=1"},
	{Accumulate{Y: i64(), X: i64()}, "gaprof_accumulate_i64 aten::add_ 1 24 []:long int []:long int Scalar=1"},
	{Scale{X: f32(6, 5), Factor: f32()}, "gaprof_scale_f32 aten::mul_ 30 240 [6 5]:float []:float"},
	{ForeachScale{X: both(f64), Factor: f64()},
		"gaprof_multi_tensor_scale_f64 aten::_foreach_mul_ 10 160 [[2 3] [4]] []:double"},
	// 10 elements are read and written.
	{ForeachCopy{Y: both(f32), X: both(f32)},
		"gaprof_multi_tensor_copy_f32 aten::_foreach_copy_ 0 80 [[2 3] [4]] [[2 3] [4]]"},
	{SplitWithSizesCopy{Y: both(f64), X: f64(10), Ranks: 2}, "gaprof_split_with_sizes_copy_f64 " +
		"aten::split_with_sizes_copy 0 160 [2 5]:double []:ScalarList Scalar=1 [[2 3] [2 2]]"},
	// Padding makes 4 rows of 3 and 4 more elements of 3 rows of 3 and 4 elements: 16 are written, 13 read.
	{ChunkCat{Y: f32(16), X: []*device.Buffer{f32(3, 3), f32(4)}, Ranks: 2},
		"gaprof_chunk_cat_f32 aten::_chunk_cat 0 116 [[3 3] [4]] Scalar=0 []:Scalar [2 8]:float"},
	{ForeachScaleBy{X: both(f32), Value: 0.25},
		"gaprof_multi_tensor_scale_by_f32 aten::_foreach_mul_ 10 80 [[2 3] [4]] Scalar=0.25"},
	{ForeachNorm{Norms: f64(2), X: both(f64)},
		"gaprof_multi_tensor_norm_f64 aten::_foreach_norm 20 80 [[2 3] [4]] Scalar=2. -"},
	{VectorNorm{Norm: f32(), X: f32(6, 5)},
		"gaprof_vector_norm_f32 aten::linalg_vector_norm 60 120 [6 5]:float Scalar=2. - Scalar=False -"},
	{Sqrt{Y: f32(), X: f32()}, "gaprof_sqrt_f32 aten::sqrt 1 8 []:float"},
	{AddScalar{Y: f32(), X: f32(), Value: 1e-6}, "gaprof_add_scalar_f32 aten::add 1 8 []:float double=1e-06 Scalar=1"},
	{Reciprocal{Y: f32(), X: i64()}, "gaprof_reciprocal_f32 aten::reciprocal 1 12 []:long int"},
	{MulScalar{Y: f32(), X: i64(), Value: 3}, "gaprof_mul_scalar_f32 aten::mul 1 12 []:long int double=3"},
	{Mul{Y: f32(), A: f32(), B: i64()}, "gaprof_mul_f32 aten::mul 1 16 []:float []:long int"},
	{MulInto{Y: f32(6, 5), X: f32(6, 5), Value: 0.5},
		"gaprof_mul_into_f32 aten::mul 30 240 [6 5]:float double=0.5 [6 5]:float"},
	{Clamp{Y: f32(), X: f32(), Max: 1}, "gaprof_clamp_f32 aten::clamp 1 8 []:float - double=1"},
	{OnesLike{Y: f32(6, 5)}, "gaprof_ones_like_f32 aten::ones_like 0 120 [6 5]:float"},
	// Weights and both moments are read and written, gradients are read.
	{AdamW{P: both(f32), G: both(f32), M: both(f32), V: both(f32), Step: 1},
		"gaprof_multi_tensor_adamw_f32 aten::_fused_adamw_ 120 280 [[2 3] [4]] [[2 3] [4]] [[2 3] [4]] [[2 3] [4]]"},
	// The weights are written, their masters read and written.
	{AdamW{P: both(bf16), G: both(bf16), M: both(f32), V: both(f32), Master: both(f32), Step: 1},
		"gaprof_multi_tensor_adamw_bf16 aten::_fused_adamw_ 120 280 [[2 3] [4]] [[2 3] [4]] [[2 3] [4]] [[2 3] [4]]"},
	{Cast{Y: bf16(6, 5), X: f32(6, 5)}, "gaprof_cast_bf16 aten::_to_copy 0 180 [6 5]:float"},
	{SGD{P: both(f64), G: both(f64)}, "gaprof_multi_tensor_sgd_f64 aten::_fused_sgd_ 30 240 [[2 3] [4]] [[2 3] [4]]"},
}

func TestOperations(t *testing.T) {
	for _, c := range slices.Concat(all, llama, elementwise) {
		flops, bytes := c.op.Cost()
		got := fmt.Sprintf("%s %s %d %d %s", c.op.Name(), c.op.Op(), flops, bytes, operands(c.op.Operands()))
		if got != c.want {
			t.Errorf("%s\nwant %s", got, c.want)
		}
		if strings.HasPrefix(c.op.Name(), "gaprof_") && !strings.HasSuffix(c.op.Name(), "_"+c.op.Type().Short()) {
			t.Errorf("%s is of %s", c.op.Name(), c.op.Type())
		}
	}
}

// TestAllOperations: the list above holds every operation of the package.
func TestAllOperations(t *testing.T) {
	known := make(map[string]bool)
	for _, c := range slices.Concat(all, llama, elementwise) {
		known[reflect.TypeOf(c.op).Name()] = true
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var missing []string
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv == nil || f.Name.Name != "Cost" {
				continue
			}
			if id, ok := f.Recv.List[0].Type.(*ast.Ident); !ok || !known[id.Name] {
				missing = append(missing, fmt.Sprint(f.Recv.List[0].Type))
			}
		}
	}
	slices.Sort(missing)
	if len(missing) > 0 || len(known) < 30 {
		t.Errorf("%d operations are tested, not %q", len(known), missing)
	}
}
