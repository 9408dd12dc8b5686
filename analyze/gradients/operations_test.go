package gradients

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace/text"
)

// familyNames are what the families are called here.
var familyNames = map[family]string{
	multiply: "multiply", unscale: "unscale", zeroFill: "zero", copyInto: "copy", norm: "norm", clampFactor: "clamp",
	countMade: "count", inverse: "inverse", fill: "fill", countSummed: "counts", reduceAll: "reduce", adjust: "adjust",
	decayMade: "decay", meanLoss: "mean", sumLoss: "sum", join: "join", limitEach: "limit", product: "product",
}

// readAs is what some rows between a backward pass and the update are as operations.
func readAs(t *testing.T, rows string) string {
	t.Helper()
	tr, err := text.Read(strings.NewReader(`
1/1 10 +5 cpu_op aten::linear dims=[[8,4],[4,4]] type=["float","float"]
1/1 20 +9 cpu_op "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad"
1/1 21 +5 cpu_op torch::autograd::AccumulateGrad dims=[[4,4]] type=["float"]
1/1 80 +9 user_annotation Optimizer.step#A.step
`+rows), "test")
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, o := range operations(timeline.New(tr).Ranks[0]) {
		words := []string{familyNames[o.family]}
		if o.factor != "" {
			words = append(words, "by", o.factor)
		}
		for i, is := range []bool{o.tensor, o.whole, o.divides, o.framework} {
			if is {
				words = append(words, []string{"tensor", "whole", "divides", "framework"}[i])
			}
		}
		if len(o.shapes()) > 0 {
			words = append(words, strings.ReplaceAll(fmt.Sprint(o.shapes()), " ", ","))
		}
		said = append(said, strings.Join(words, " "))
	}
	return strings.Join(said, "; ")
}

// TestOperations: which operators may be part of a pass over gradients, and what is read of them.
func TestOperations(t *testing.T) {
	const at = "1/1 40 +9 cpu_op "
	for _, test := range []struct{ row, want string }{
		{at + `aten::relu dims=[[4,4]] type=["float"]`, ""},
		{`1/1 40 i cpu_op aten::norm dims=[[4,4]] type=["float"]`, ""},
		{at + `aten::norm dims=[[4,4]] type=["float"]`, "norm [[4,4]]"},
		{at + "aten::norm", "norm"},
		{at + "aten::mul_", ""},
		{at + `aten::mul_ dims=[[4,4],[]] type=["float","Scalar"] concrete=["","0.5"]`, "multiply by 0.5 [[4,4]]"},
		{at + `aten::div_ dims=[[4,4],[]] type=["float","Scalar"] concrete=["","4"]`, "multiply by 4 divides [[4,4]]"},
		{at + `aten::mul_ dims=[[4,4],[]] type=["float","float"]`, "multiply tensor [[4,4]]"},
		{at + `aten::div_ dims=[[4,4],[]] type=["float","long int"]`, "multiply tensor whole divides [[4,4]]"},
		{at + `aten::div_ dims=[[4,4],[]] type=["float","int"]`, "multiply tensor whole divides [[4,4]]"},
		{at + `aten::mul_ dims=[[4,4],[4,4]] type=["float","float"]`, ""},
		{at + `aten::mul_ dims=[[4,4],[4,1]] type=["float","float"]`, "multiply tensor [[4,4]]"},
		{at + `aten::mul dims=[[4,4],[]] type=["float","float"]`, "product tensor [[4,4]]"},
		{strings.Replace(at, "40", "12", 1) + `aten::mul dims=[[4,4],[]] type=["float","float"]`, ""},
		{strings.Replace(at, "40", "90", 1) + `aten::mul dims=[[4,4],[]] type=["float","float"]`, ""},
		{at + `aten::mul dims=[[4,4],[4,4]] type=["float","float"]`, ""},
		{at + `aten::zero_ dims=[[4,4]] type=["float"]`, "zero [[4,4]]"},
		{at + `aten::zeros dims=[[4,4]] type=["float"]` + "\n1/1 41 +2 cpu_op " +
			`aten::zero_ dims=[[4,4]] type=["float"]`, ""},
		{at + `aten::copy_ dims=[[4,4],[4,4]] type=["float","half"]`, "copy [[4,4]]"},
		{at + `aten::_foreach_norm dims=[[[4,4],[4]],[]] type=["TensorList","Scalar"]`, "norm [[4,4],[4]]"},
		{at + `aten::_foreach_norm dims=[[[4,4],[4]],[]] type=["TensorList","Scalar"]` + "\n1/1 41 +2 cpu_op " +
			`aten::norm dims=[[4,4]] type=["float"]`, "norm [[4,4],[4]]"},
		{at + `aten::_foreach_norm dims=[[[4,4],[4]],[]] type=["TensorList","Scalar"]` + "\n1/1 41 +2 cpu_op " +
			`aten::zero_ dims=[[4,4]] type=["float"]`, "norm [[4,4],[4]]"},
		{"1/1 39 +20 cpu_op record_param_comms coll=allreduce in=8 out=8\n" + at +
			`aten::div_ dims=[[4,4],[]] type=["float","Scalar"]`, ""},
		{"1/1 39 +20 cpu_op torch::distributed::reducer::mul_out\n" + at +
			`aten::mul dims=[[4,4],[]] type=["float","float"]`,
			"multiply tensor framework [[4,4]]"},
		{at + `aten::sum dims=[[4,4]] type=["float"]`, "reduce [[4,4]]"},
		{at + `aten::sum dims=[[4,4],[]] type=["float",""]`, "reduce [[4,4]]"},
		{at + `aten::sum dims=[[4,4],[],[],[]] type=["float","ScalarList","",""] concrete=["","[]","False",""]`,
			"reduce [[4,4]]"},
		{at + `aten::sum dims=[[4,4],[],[],[]] type=["float","ScalarList","",""] concrete=["","[1]","False",""]`, ""},
		{at + `aten::sum dims=[[4,4],[],[],[]] type=["float","ScalarList","",""]`, ""},
		{at + `aten::sum dims=[[9]] type=["long int"]`, "counts [[9]]"},
		{at + `aten::sum dims=[[9]] type=["int"]`, "counts [[9]]"},
		{at + `aten::sum dims=[[9]] type=["bool"]`, "counts [[9]]"},
		{at + `aten::sum dims=[[[9],[9]]] type=["TensorList"]`, ""},
		{at + `aten::sum`, ""},
		{"1/1 22 +2 cpu_op " + `aten::sum dims=[[4,4]] type=["float"]`, ""},
		{at + `aten::dot dims=[[16],[16]] type=["float","float"]`, "reduce [[16]]"},
		{at + `aten::max dims=[[4,4]] type=["float"]`, "reduce [[4,4]]"},
		{at + `aten::max dims=[[4,4],[]] type=["float","Scalar"]`, ""},
		{at + `aten::amax dims=[[4,4],[],[]] type=["float","ScalarList",""] concrete=["","[]","False"]`,
			"reduce [[4,4]]"},
		{at + `aten::amax dims=[[4,4],[],[]] type=["float","ScalarList",""] concrete=["","[0]","False"]`, ""},
		{at + `aten::amax dims=[[4,4]] type=["float"]`, ""},
		{at + `aten::clamp dims=[[],[],[]] type=["float","","Scalar"] concrete=["","","1."]`, "clamp by 1."},
		{at + `aten::clamp dims=[[],[],[]] type=["long int","Scalar",""] concrete=["","1",""]`, "clamp"},
		{at + `aten::clamp dims=[[4,4],[],[]] type=["float","Scalar","Scalar"] concrete=["","-1","1."]`,
			"clamp [[4,4]]"},
		{at + `aten::clamp_ dims=[[4,4],[],[]] type=["float","Scalar","Scalar"] concrete=["","-1","1."]`,
			"limit [[4,4]]"},
		{at + `aten::clamp_ dims=[[4,4],[],[]] type=["float","Scalar",""] concrete=["","-1",""]`, "clamp [[4,4]]"},
		{at + `aten::clamp_ dims=[[4,4],[],[]] type=["float","Scalar",""]`, "limit [[4,4]]"},
		{at + `aten::reciprocal dims=[[]] type=["long int"]`, "count [[]]"},
		{at + `aten::reciprocal dims=[[]] type=["int"]`, "count [[]]"},
		{at + `aten::reciprocal dims=[[]] type=["float"]`, "inverse [[]]"},
		{at + `aten::item dims=[[]] type=["long int"]`, "count [[]]"},
		{at + `aten::item dims=[[]] type=["float"]`, ""},
		{at + `aten::item dims=[[4]] type=["long int"]`, ""},
		{at + `aten::rsub dims=[[],[]] type=["float","Scalar"]`, "decay [[]]"},
		{at + `aten::rsub dims=[[4],[]] type=["float","Scalar"]`, ""},
		{at + `aten::cat dims=[[[8],[9]],[]] type=["TensorList","Scalar"]`, "join [[8],[9]]"},
		{at + `aten::cat dims=[[[8]],[]] type=["TensorList","Scalar"]`, ""},
		{at + `aten::cat dims=[[[8,2],[9,2]],[]] type=["TensorList","Scalar"]`, ""},
		{at + `aten::fill_ dims=[[4,4],[]] type=["float","Scalar"]`, "fill [[4,4]]"},
		{at + `aten::add_ dims=[[4,4],[4,4],[]] type=["float","float","Scalar"]`, "adjust [[4,4]]"},
		{at +
			`aten::_amp_foreach_non_finite_check_and_unscale_ dims=[[[4,4]],[],[]] ` +
			`type=["TensorList","float","float"]`, "unscale [[4,4]]"},
		{at + `aten::_amp_foreach_non_finite_check_and_unscale_`, "unscale"},
	} {
		if got := readAs(t, test.row); got != test.want {
			t.Errorf("%s:\n%q, want %q", test.row, got, test.want)
		}
	}
}
