package gradients

import (
	"fmt"
	"testing"
)

// TestWritten: what may clear gradients before backward adds to them: all of them in one buffer, or so
// many tensors of their shapes that it may be a loop over them; not a single small tensor.
func TestWritten(t *testing.T) {
	params := []string{"100,20", "20,5", "8", "64", "32,8"}
	for _, test := range []struct {
		name   string
		writes []string // shapes
		want   bool
	}{
		{"nothing", nil, false},
		{"a small tensor that has the shape of a parameter", []string{"8"}, false},
		{"twice", []string{"8", "64"}, true},
		{"of no parameter", []string{"9", "7,7", "3", "5"}, false},
		{"each of them", params, true},
		{"a buffer of all of them", []string{fmt.Sprint(2000 + 100 + 8 + 64 + 256)}, true},
	} {
		s := &script{params: params}
		for step := range 2 {
			if step == 1 {
				for _, shape := range test.writes {
					s.event(2, "aten::copy_", fmt.Sprintf(`dims=[[%[1]s],[%[1]s],[]] type=["float","float","Scalar"]`,
						shape))
				}
			}
			s.move('f')
			s.move('b')
			s.move('s')
		}
		if r := one(t, s.text.String()); r.Written[1] != test.want || r.Written[0] {
			t.Errorf("%s: %v", test.name, r.Written)
		}
	}
}

// TestCleared: of which operators between an update and the next accumulation gradients may have been
// cleared; what an optimizer fills with zeros before it updates is state that it begins with.
func TestCleared(t *testing.T) {
	const update = "1/1 %d +50 user_annotation Optimizer.step#A.step\n"
	loop := func(rows string) string {
		source := ""
		for _, at := range []int{0, 200} {
			source += fmt.Sprintf("1/1 %d +1 cpu_op aten::linear\n", at+10)
			for i, dims := range []string{"[8,8]", "[8]", "[4,8]", "[4]"} {
				const grad = "1/1 %d +2 cpu_op " + accumulateGrad + " dims=[%s] type=[\"float\"]\n"
				source += fmt.Sprintf(grad, at+80+3*i, dims)
			}
			source += fmt.Sprintf(update, at+100)
			for i, dims := range []string{"[8,8]", "[8]", "[4,8]", "[4]"} {
				source += fmt.Sprintf("1/1 %d +1 cpu_op aten::addcdiv_ dims=[%s]\n", at+130+2*i, dims)
			}
		}
		return source + rows
	}
	op := func(at int, name, dims string) string {
		return fmt.Sprintf("1/1 %d +1 cpu_op %s dims=[%s] type=[\"float\"]\n", at, name, dims)
	}
	for _, test := range []struct {
		what, rows string
		want       bool
	}{
		{"nothing", "", false},
		{"zeros after the update", op(160, "aten::zero_", "[8,8]"), true},
		{"a number", op(160, "aten::fill_", "[8,8]"), true},
		{"a product", op(160, "aten::mul_", "[8,8]"), true},
		{"a sum", op(160, "aten::add_", "[8,8]"), false},
		{"what is read", op(160, "aten::norm", "[8,8]"), false},
		{"a view of one", op(160, "aten::zero_", "[64]"), true},
		{"a view of none", op(160, "aten::zero_", "[63]"), false},
		{"in the first step", op(60, "aten::zero_", "[8,8]"), false},
		{"right before the first accumulation", op(279, "aten::zero_", "[8,8]"), true},
		{"with the first accumulation", op(280, "aten::zero_", "[8,8]"), false},
		{"after it", op(290, "aten::zero_", "[8,8]"), false},
		{"of a new tensor", "1/1 160 +5 cpu_op aten::zeros_like dims=[[8,8]]\n" + op(161, "aten::zero_", "[8,8]"),
			false},
		{"in the update, before it changes anything", op(110, "aten::zero_", "[8,8]"), false},
		{"in the update, after it", op(145, "aten::zero_", "[8,8]"), true},
		{"right after the first change", op(101, "aten::addcdiv_", "[8,8]") + op(102, "aten::zero_", "[8,8]"), true},
		{"a product in the update", op(110, "aten::mul_", "[8,8]"), false},
		{"a product in the update, after it", op(145, "aten::mul_", "[8,8]"), false},
		{"first in the update, in a part of it", "1/1 101 +9 user_annotation part\n" + op(102, "aten::zero_", "[8,8]"),
			false},
		{"by DDP", "1/1 160 +5 cpu_op torch.distributed.ddp.reducer::x\n" + op(161, "aten::zero_", "[8,8]"), false},
	} {
		g := one(t, loop(test.rows))
		if len(g.Written) != 2 || g.Written[1] != test.want || g.Written[0] {
			t.Errorf("%s: %v", test.what, g.Written)
		}
	}
	alone := "1/1 300 +50 user_annotation Optimizer.step#B.step\n1/1 301 +1 cpu_op aten::zero_ dims=[[8]]\n"
	x := rankOf(t, alone)
	b := begun{x: x, span: -1}
	if b.own(&operation{family: multiply, row: startingAt(t, x, "aten::zero_", 301)}) != true {
		t.Error("in a span that updates nothing")
	}
	if !b.own(&operation{family: zeroFill, row: startingAt(t, x, "aten::zero_", 301)}) {
		t.Error("zeros in a span that updates nothing")
	}
	s := &script{params: []string{"2", "3", "4", "5"}} // of four parameters one is a quarter
	for step := range 2 {
		if step == 1 {
			s.event(2, "aten::zero_", `dims=[[3]] type=["float"]`)
		}
		s.move('f')
		s.move('b')
		s.move('s')
	}
	if r := one(t, s.text.String()); !r.Written[1] {
		t.Error("a quarter of the parameters")
	}
	s = &script{} // three of thirteen are less
	for i := range 13 {
		s.params = append(s.params, fmt.Sprint(i+2))
	}
	for step := range 2 {
		for i := range 3 * step {
			s.event(2, "aten::zero_", fmt.Sprintf(`dims=[[%d]] type=["float"]`, i+2))
		}
		s.move('f')
		s.move('b')
		s.within("user_annotation", "Optimizer.step#A.step", func() {
			for _, shape := range s.params {
				s.event(1, "aten::addcdiv_", fmt.Sprintf(`dims=[[%s]] type=["float"]`, shape))
			}
		})
	}
	if r := one(t, s.text.String()); r.Written[1] {
		t.Error("less than a quarter of the parameters")
	}
}
