package gradients

import (
	"fmt"
	"testing"
)

// TestOddOperands: operators with fewer operands or values than usual, lists that were not
// recorded, and at the bounds of where gradients are ready.
func TestOddOperands(t *testing.T) {
	const at = "1/1 40 +9 cpu_op "
	const list = at + `aten::_foreach_mul_ dims=[[],[]] type=["","Scalar"] concrete=["","0.5"]`
	const child, grandchild = "\n1/1 41 +3 cpu_op ", "\n1/1 42 +1 cpu_op "
	const sum4, amax = "aten::sum dims=[[9,9],[],[],[]] ", "aten::amax dims=[[4,4],[]] "
	for _, test := range []struct{ row, want string }{
		{at + `aten::mul_ dims=[[4,4]] type=["float"]`, "multiply [[4,4]]"},
		{at + `aten::mul_ dims=[[4,4],[]] type=["float","Scalar"] concrete=["0.5"]`, "multiply [[4,4]]"},
		{at + `aten::mul_ dims=[[4,4],[]] type=["float","Scalar"] concrete=["","2","3"]`, "multiply by 2 [[4,4]]"},
		{at + `aten::mul_ dims=[[4,4],[]] type=["float","double"]`, "multiply [[4,4]]"},
		{list, ""},
		{list + child + `aten::mul_ dims=[[4,4],[]] type=["float","Scalar"]`, "multiply by 0.5 [[4,4]]"},
		{list + child + `aten::mul_ dims=[[4,4],[]] type=["float","Scalar"]` +
			"\n1/1 45 +1 cpu_op " + `aten::mul_ dims=[[4],[]] type=["float","Scalar"]` +
			"\n1/1 47 +1 cpu_op " + `aten::mul_ dims=[[7],[]] type=["float","Scalar"]`,
			"multiply by 0.5 [[4,4],[4],[7]]"},
		{list + child + `aten::mul_ dims=[[4,4],[]] type=["float","Scalar"]` +
			grandchild + `aten::mul_ dims=[[4,4],[]] type=["float","Scalar"]`, "multiply by 0.5 [[4,4]]"},
		{list + child + `aten::empty dims=[[4,4],[]] type=["float","Scalar"]`, ""},
		{list + child + `aten::mul_`, ""},
		{list + child + `aten::mul_ dims=[[[4,4],[4]],[]] type=["TensorList","Scalar"]`, ""},
		{list + "\n1/1 50 +1 cpu_op " + `aten::mul_ dims=[[4,4],[]] type=["float","Scalar"]`, "multiply [[4,4]]"},
		{at + `aten::clamp_max dims=[[],[]] type=["float","Scalar"] concrete=["","1."]`, "clamp by 1."},
		{at + `aten::clamp_max dims=[[],[]] type=["float","Scalar"] concrete=["1."]`, "clamp"},
		{at + `aten::clamp_max dims=[[],[]] type=["float","Scalar"]`, "clamp"},
		{at + `aten::minimum dims=[[]] type=["float"] concrete=["","1."]`, "clamp by 1."},
		{at + `aten::clamp dims=[[],[],[]] type=["long int","",""] concrete=["","","5"]`, "clamp"},
		{at + `aten::clamp concrete=["","","5"]`, "clamp"},
		{at + `aten::sum dims=[[4,4],[],[]] type=["float","ScalarList",""]`, ""},
		{at + `aten::sum dims=[[4,4],[],[]] type=["float","ScalarList",""] concrete=["","[]"]`, "reduce [[4,4]]"},
		{at + `aten::sum dims=[[4,4],[],[]] type=["float","ScalarList",""] concrete=[""]`, ""},
		{at + `aten::sum dims=[[[9]]] type=["TensorList"]`, ""},
		{at + sum4 + `type=["bool","ScalarList","",""] concrete=["","[1]","False",""]`, "counts [[9,9]]"},
		{at + amax + `type=["float","ScalarList"] concrete=["","[]"]`, "reduce [[4,4]]"},
		{at + amax + `type=["float","ScalarList"] concrete=[""]`, ""},
		{at + `aten::cat dims=[[]] type=["TensorList"]`, "join"},
		{at + `aten::cat dims=[[],[]] type=["TensorList","Scalar"]`, "join"},
		{at + `aten::cat`, ""},
		{at + `aten::cross_entropy_loss dims=[[4,4],[4],[],[],[]] concrete=["","","","1","-100"]`, "mean"},
		{at + `aten::cross_entropy_loss dims=[[4,4],[4],[],[],[]] concrete=["","","","2","-100"]`, "sum"},
		{at + `aten::cross_entropy_loss dims=[[4,4],[4],[],[],[]] concrete=["","","","0","-100"]`, ""},
		{`1/1 29 +1 cpu_op aten::mul dims=[[4,4],[]] type=["float","float"]`, "product tensor [[4,4]]"},
		{`1/1 79 +1 cpu_op aten::mul dims=[[4,4],[]] type=["float","float"]`, "product tensor [[4,4]]"},
		{`1/1 80 +1 cpu_op aten::mul dims=[[4,4],[]] type=["float","float"]`, ""},
		{`1/1 40 +1 cpu_op aten::mul dims=[[],[]] type=["float","float"]`, ""},
	} {
		if got := readAs(t, test.row); got != test.want {
			t.Errorf("%s:\n%q, want %q", test.row, got, test.want)
		}
	}
}

// TestReadyGradients: gradients are ready between the last node of backward before an update and
// that.
func TestReadyGradients(t *testing.T) {
	const node = "1/1 %d +%d cpu_op \"autograd::engine::evaluate_function: MmBackward0\"\n"
	const update = "1/1 %d +5 user_annotation Optimizer.step#A.step\n"
	type span struct{ start, length int }
	for _, test := range []struct {
		what    string
		nodes   []span
		updates []int
		want    string
	}{
		{"two steps", []span{{20, 9}, {100, 9}}, []int{80, 150}, "[{29 80} {109 150}]"},
		{"an update without backward", []span{{20, 9}}, []int{10, 80}, "[{29 80}]"},
		{"right after it", []span{{20, 9}}, []int{29}, "[]"},
		{"a node that begins with the update", []span{{20, 9}, {80, 8}}, []int{80}, "[{29 80}]"},
		{"nothing", nil, []int{80}, "[]"},
	} {
		source := ""
		for _, n := range test.nodes {
			source += fmt.Sprintf(node, n.start, n.length)
		}
		for _, at := range test.updates {
			source += fmt.Sprintf(update, at)
		}
		if got := fmt.Sprint(readyGradients(rankOf(t, source))); got != test.want {
			t.Errorf("%s: %s, want %s", test.what, got, test.want)
		}
	}
}

// TestLocalElements: an operator on a tensor that is sharded over ranks is recorded whole and,
// within, as what this rank has of it.
func TestLocalElements(t *testing.T) {
	const outer = `1/1 40 +20 cpu_op aten::mul_ dims=[[8,4],[]] type=["float","float"]`
	const within = "\n1/1 41 +18 cpu_op PythonSubclass"
	const inner = "\n1/1 50 +5 cpu_op aten::mul_ "
	for _, test := range []struct {
		what, rows string
		want       int64
	}{
		{"a shard", outer + within + inner + `dims=[[2,4],[]] type=["float","float"]`, 8},
		{"after something else", outer + within + "\n1/1 42 +2 cpu_op aten::detach dims=[[2,4]]" + inner +
			`dims=[[2,4],[]] type=["float","float"]`, 8},
		{"none", outer, 0},
		{"not within", outer + inner + `dims=[[2,4],[]] type=["float","float"]` +
			"\n1/1 70 +5 cpu_op PythonSubclass", 0},
		{"another operator within", outer + within + "\n1/1 50 +5 cpu_op aten::add_ dims=[[2,4]]", 0},
		{"another's", outer + "\n1/1 65 +20 cpu_op PythonSubclass\n1/1 70 +5 cpu_op aten::mul_ dims=[[2,4],[]]", 0},
		{"deeper within", outer + within + "\n1/1 49 +7 cpu_op aten::x" + inner + `dims=[[2,4],[]]`, 0},
		{"shapes not recorded", outer + within + inner, 0},
		{"an empty shape", outer + within + inner + `dims=[[],[]] type=["",""]`, 0},
	} {
		x := rankOf(t, test.rows)
		r := reader{x: x, in: x.Inputs(), families: familiesOf(x.Trace)}
		if got := r.localElements(startingAt(t, x, "aten::mul_", 40)); got != test.want {
			t.Errorf("%s: %d elements, want %d", test.what, got, test.want)
		}
	}
}
