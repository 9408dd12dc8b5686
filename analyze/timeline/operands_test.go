package timeline

import (
	"fmt"
	"math"
	"testing"
)

// TestParseOperands: odd texts first; what cannot be read ends the list.
func TestParseOperands(t *testing.T) {
	for _, test := range []struct{ dims, types, want string }{
		{"", "", ""},
		{"[]", "[]", ""},
		{"null", "null", ""},
		{"7", `["float"]`, ""},
		{"[", `["float"]`, ""},
		{"[[", `["float"]`, ""},
		{"[[4", `["float"]`, ""},
		{"[[4, x]]", `["float"]`, ""},
		{"[[-1]]", `["float"]`, ""},
		// 18 digits and the rest: no overflow.
		{"[[99999999999999999999]]", `["float"]`, "[[999999999999999999 99]] float"},
		{"[[4], 7]", `["float", "int"]`, "[[4]] float"},
		{"[[4]]", "", "[[4]] "},
		{"[[4]]", `["float`, "[[4]] "},
		{"[[]]", `["float"]`, "[[]] float"},
		{"[[[]]]", `["TensorList"]`, "list [[]] TensorList"},
		{"[[[4], []], []]", `["TensorList", "float"]`, "list [[4] []] TensorList, [[]] float"},
		{"[[ 4 ,\n8 ] , [ ] ]", `["float", "Scalar"]`, "[[4 8]] float, [[]] Scalar"},
		{"[[4096, 64], [], [], []]", `["c10::BFloat16", "float", "Scalar", ""]`,
			"[[4096 64]] c10::BFloat16, [[]] float, [[]] Scalar, [[]] "},
		{"[[[4, 8], [8]], [[4, 8], [8]]]", `["TensorList", "TensorList"]`,
			"list [[4 8] [8]] TensorList, list [[4 8] [8]] TensorList"},
		{"[[4], [8]]", `["float", "float", "more", "types"]`, "[[4]] float, [[8]] float"},
	} {
		got := ""
		for i, o := range parseOperands(test.dims, test.types) {
			if i > 0 {
				got += ", "
			}
			if o.List {
				got += "list "
			}
			got += fmt.Sprintf("%v %s", o.Shapes, o.Dtype)
		}
		if got != test.want {
			t.Errorf("%s %s: %q, want %q", test.dims, test.types, got, test.want)
		}
	}
}

func TestOperandScalar(t *testing.T) {
	for text, want := range map[string]bool{"[[]]": true, "[[4]]": false, "[[[]]]": false, "[[1]]": false} {
		if ops := parseOperands(text, `["float"]`); ops[0].Scalar() != want {
			t.Errorf("%s: scalar is %v", text, !want)
		}
	}
}

func TestNumel(t *testing.T) {
	for _, test := range []struct {
		shape []int64
		want  int64
	}{{nil, 1}, {[]int64{}, 1}, {[]int64{0, 5}, 0}, {[]int64{4096, 64}, 262144}} {
		if got := Numel(test.shape); got != test.want {
			t.Errorf("%v: %d, want %d", test.shape, got, test.want)
		}
	}
}

// TestNumelOfAll: sums stay at the greatest number.
func TestNumelOfAll(t *testing.T) {
	far := []int64{1 << 31, 1 << 31}
	for _, test := range []struct {
		shapes [][]int64
		want   int64
	}{
		{nil, 0}, {[][]int64{{2, 3}, {}, {0, 9}}, 7}, {[][]int64{far, far}, math.MaxInt64},
		{[][]int64{far, {1 << 62}, far, far}, math.MaxInt64}, {[][]int64{far, {1<<62 - 1}}, math.MaxInt64},
		{[][]int64{far, {1<<62 - 2}}, math.MaxInt64 - 1},
	} {
		if got := NumelOfAll(test.shapes); got != test.want {
			t.Errorf("%v: %d, want %d", test.shapes, got, test.want)
		}
	}
}

// FuzzParseOperands: any text is read without a panic.
func FuzzParseOperands(f *testing.F) {
	f.Add("[[768, 64], [], [[3], [4]]]", `["float", "Scalar", "TensorList"]`)
	f.Fuzz(func(t *testing.T, dims, types string) {
		for _, o := range parseOperands(dims, types) {
			for _, s := range o.Shapes {
				Numel(s)
			}
		}
	})
}

// A shape, or a message, of more elements than any tensor has is unknown: its size would be
// nonsense, and 2^64 elements would be none.
func TestImpossibleShapes(t *testing.T) {
	x := index(t, `
1/1 0 +1 cpu_op aten::mul_ dims=[[4294967296,4294967296],[]]
1/1 2 +1 cpu_op aten::mul_ dims=[[1099511627776],[]]
1/1 4 +1 cpu_op aten::mul_ dims=[[1099511627777]]
1/1 6 +1 cpu_op aten::mul_ dims=[[4294967296,4294967296],[]]
1/1 8 +1 cpu_op record_param_comms coll=allreduce in=4611686018427387904 out=1 dtype=Float
1/1 9 +1 cpu_op record_param_comms coll=allreduce in=-1 out=1 dtype=Float
1/1 10 +1 cpu_op record_param_comms coll=allreduce in=1099511627776 out=1 dtype=Float
`).Ranks[0]
	in := x.Inputs()
	for row, known := range []bool{false, true, false, false} {
		if ops := in.Of(int32(row)); (ops != nil) != known {
			t.Errorf("row %d: %v", row, ops)
		}
	}
	if n, one := x.ImpossibleShapes(); n != 2 || one != "[[1099511627777]]" {
		t.Errorf("%d, such as %q", n, one)
	}
	for row, want := range map[int32]int64{4: -1, 5: -1, 6: 4 << 40} {
		if m := x.MessageAt(row); m.Bytes != want || min(m.InElems, m.OutElems) < 0 || want < 0 && m.InElems != 0 {
			t.Errorf("row %d: %+v", row, m)
		}
	}
	for shape, want := range map[[2]int64]int64{
		{1 << 62, 2}: math.MaxInt64, {1 << 32, 1 << 32}: math.MaxInt64, {1 << 31, 1 << 31}: 1 << 62, {1 << 62, 0}: 0,
	} {
		if got := Numel(shape[:]); got != want {
			t.Errorf("%v: %d", shape, got)
		}
	}
}
