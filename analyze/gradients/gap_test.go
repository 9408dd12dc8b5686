package gradients

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/timeline"
)

// TestUsedIn: between two backward passes gradients are used by a norm over half of them, a sum
// into or a copy of them, unscaling, or by joining as many tensors.
func TestUsedIn(t *testing.T) {
	const node = "1/1 30 +10 cpu_op \"autograd::engine::evaluate_function: MmBackward0\"\n"
	x := rankOf(t, node+"1/1 33 +1 cpu_op aten::norm\n1/1 50 +1 cpu_op aten::norm\n")
	outside, inside := startingAt(t, x, "aten::norm", 50), startingAt(t, x, "aten::norm", 33)
	p := classesOf([2]int64{2, 10}, [2]int64{2, 20})
	op := func(f family, start int64, row int32, shapes ...int64) operation {
		o := operation{family: f, start: start, row: row, of: &timeline.Operand{}}
		for _, n := range shapes {
			o.of.Shapes = append(o.of.Shapes, []int64{n})
		}
		return o
	}
	unknown := func(f family) operation { return operation{family: f, start: 50, row: outside} }
	for _, test := range []struct {
		what    string
		ops     []operation
		reached int
		want    bool
	}{
		{"nothing", nil, 4, false},
		{"norms of all", []operation{op(norm, 50, outside, 10, 10, 20, 20)}, 4, true},
		{"of half", []operation{op(norm, 50, outside, 10, 20)}, 4, true},
		{"one by one", []operation{op(norm, 50, outside, 10), op(norm, 51, outside, 20)}, 4, true},
		{"of fewer", []operation{op(norm, 50, outside, 10)}, 4, false},
		{"of one, three times", []operation{op(norm, 50, outside, 10, 10, 10)}, 5, false},
		{"of others", []operation{op(norm, 50, outside, 7, 8, 9)}, 4, false},
		{"of a third", []operation{op(norm, 50, outside, 10)}, 3, false},
		{"of one and one of another", []operation{op(norm, 50, outside, 10), op(norm, 51, outside, 7)}, 4, false},
		{"sums into", []operation{op(adjust, 50, outside, 10, 20)}, 4, true},
		{"copies", []operation{op(copyInto, 50, outside, 10, 20)}, 4, true},
		{"a norm and a copy", []operation{op(norm, 50, outside, 10), op(copyInto, 51, outside, 20)}, 4, false},
		{"products", []operation{op(multiply, 50, outside, 10, 10, 20, 20)}, 4, false},
		{"norms in backward", []operation{op(norm, 50, inside, 10, 10, 20, 20)}, 4, false},
		{"norms before", []operation{op(norm, 39, outside, 10, 10, 20, 20)}, 4, false},
		{"norms right at its start", []operation{op(norm, 40, outside, 10, 10, 20, 20)}, 4, true},
		{"norms right at its end", []operation{op(norm, 60, outside, 10, 10, 20, 20)}, 4, false},
		{"unscaling", []operation{unknown(unscale)}, 4, true},
		{"joined", []operation{op(join, 50, outside, 10, 20)}, 4, true},
		{"joined of fewer", []operation{op(join, 50, outside, 10)}, 4, false},
		{"joined of fewer than half", []operation{op(join, 50, outside, 10, 20)}, 5, false},
		{"joined of what is not recorded", []operation{unknown(join)}, 4, true},
	} {
		got := usedIn(x, test.ops, p, p.shapes(), &Gap{Start: 40, End: 60}, test.reached)
		if got != test.want {
			t.Errorf("%s: %v", test.what, got)
		}
	}
	shape := func(list ...int64) (out [][]int64) {
		for _, n := range list {
			out = append(out, []int64{n})
		}
		return out
	}
	for _, test := range []struct {
		shapes [][]int64
		want   int
	}{{nil, 0}, {shape(10), 1}, {shape(10, 10, 10), 2}, {shape(20, 7), 1}, {[][]int64{{2, 5}}, 1}, {shape(7), 0}} {
		if got := p.named(test.shapes); got != test.want {
			t.Errorf("%v are %d parameters, want %d", test.shapes, got, test.want)
		}
	}
	p.Classes = append(p.Classes, ParamClass{Count: 3}, ParamClass{Dims: []int64{5}, Numel: 5})
	if got := fmt.Sprint(p.shapes()); got != "map[10 :2 20 :2]" {
		t.Errorf("by shape %s", got)
	}
}

// TestGaps: what becomes of gradients between two backward passes of one step.
func TestGaps(t *testing.T) {
	shapes := []string{"100,20", "64", "300,20"}
	pass := func(s *script, shapes ...string) { s.move('f'); s.accumulate("NllLossBackward0", shapes) }
	adds := func(s *script, shapes ...string) {
		s.move('f')
		s.event(3, "autograd::engine::evaluate_function: NllLossBackward0", "")
		for _, shape := range shapes {
			s.adds(shape)
		}
	}
	plain := func(s *script) {
		s.move('f')
		s.event(3, "autograd::engine::evaluate_function: NllLossBackward0", "")
		for _, shape := range shapes {
			fmt.Fprintf(&s.text, "1/1 %dus +3us cpu_op %s dims=[[%s]] type=[\"float\"]\n", s.now, accumulateGrad, shape)
			fmt.Fprintf(&s.text, "1/1 %dus +1us cpu_op aten::detach\n", s.now+1)
			s.now += 4
		}
	}
	norms := func(s *script) {
		for _, shape := range shapes {
			s.norm(shape)
		}
	}
	ddp := func(s *script) { s.line("cpu_op DistributedDataParallel.forward") }
	reducer := func(s *script) { s.line("cpu_op torch.distributed.ddp.reducer::copy_bucket_to_grad") }
	update := func(s *script, shapes ...string) {
		s.within("user_annotation", "Optimizer.step#A.step", func() {
			for _, shape := range shapes {
				s.event(1, "aten::addcdiv_", fmt.Sprintf(`dims=[[%s]] type=["float"]`, shape))
			}
		})
	}
	for _, test := range []struct {
		what string
		step func(s *script, step int)
		want string // of the gaps of the last step
	}{
		{"accumulated", func(s *script, _ int) {
			pass(s, shapes...)
			adds(s, shapes...)
			update(s, shapes...)
		}, "accumulating"},
		{"one pass", func(s *script, _ int) { pass(s, shapes...); update(s, shapes...) }, ""},
		{"norms between", func(s *script, _ int) {
			pass(s, shapes...)
			norms(s)
			adds(s, shapes...)
			update(s, shapes...)
		}, "accumulating used"},
		{"cleared", func(s *script, _ int) {
			pass(s, shapes...)
			s.line("user_annotation Optimizer.zero_grad#A.zero_grad")
			adds(s, shapes...)
			update(s, shapes...)
		}, "accumulating cleared apart"},
		{"set anew", func(s *script, _ int) {
			pass(s, shapes...)
			plain(s)
			update(s, shapes...)
		}, "accumulating renewed"},
		{"other parameters", func(s *script, _ int) {
			pass(s, shapes[:2]...)
			pass(s, shapes[2])
			update(s, shapes...)
		}, "-"},
		{"two networks alike", func(s *script, _ int) {
			pass(s, shapes...)
			adds(s, shapes...)
			update(s, shapes...)
			update(s, shapes...)
		}, "-"},
		{"more passes than other steps", func(s *script, step int) {
			pass(s, shapes...)
			adds(s, shapes...)
			if step == 3 {
				adds(s, shapes...)
			}
			update(s, shapes...)
		}, "-, -"},
		{"set in DDP's buckets", func(s *script, _ int) {
			pass(s, shapes...)
			reducer(s)
			pass(s, shapes...)
			reducer(s)
			update(s, shapes...)
		}, "accumulating apart"},
		{"added to in DDP's buckets", func(s *script, _ int) {
			pass(s, shapes...)
			reducer(s)
			adds(s, shapes...)
			reducer(s)
			update(s, shapes...)
		}, "accumulating"},
		{"DDP that shows no reducer", func(s *script, _ int) {
			pass(s, shapes...)
			ddp(s)
			pass(s, shapes...)
			update(s, shapes...)
		}, "accumulating"},
		{"in one closure", func(s *script, _ int) {
			s.within("user_annotation", "Optimizer.step#LBFGS.step", func() {
				pass(s, shapes...)
				pass(s, shapes...)
				for _, shape := range shapes {
					s.event(1, "aten::add_", fmt.Sprintf(`dims=[[%[1]s],[%[1]s],[]] type=["float","float"]`, shape))
				}
			})
		}, "apart"},
	} {
		s := &script{params: shapes}
		for step := range 4 {
			test.step(s, step)
		}
		g := one(t, s.text.String())
		var parts []string
		for _, gap := range g.Steps[len(g.Steps)-1].Gaps {
			var words []string
			for i, is := range []bool{gap.Accumulating, gap.Used, gap.Cleared, gap.Renewed, gap.Apart} {
				if is {
					words = append(words, []string{"accumulating", "used", "cleared", "renewed", "apart"}[i])
				}
			}
			if len(words) == 0 {
				words = []string{"-"}
			}
			parts = append(parts, strings.Join(words, " "))
		}
		if got := strings.Join(parts, ", "); got != test.want {
			t.Errorf("%s: %q, want %q", test.what, got, test.want)
		}
	}
}

// TestKeptApart: a reduction that the next backward pass repeats is one too many only if that adds
// to the same gradients.
func TestKeptApart(t *testing.T) {
	at := func(start int64) HostCollective {
		return HostCollective{Event: timeline.Event{Start: start}, Again: true}
	}
	own := []Step{{Gaps: Gaps{{End: 20}, {End: 40, Apart: true}, {End: 60}}}}
	list := []HostCollective{at(10), at(39), at(40), at(50), {Event: timeline.Event{Start: 10}}}
	keepApart(list, own)
	for i, want := range []bool{false, false, true, true, false} {
		if list[i].Again != want {
			t.Errorf("at %d: again %v", list[i].Event.Start, list[i].Again)
		}
	}
}
