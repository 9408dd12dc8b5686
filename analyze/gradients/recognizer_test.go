package gradients

import (
	"fmt"
	"testing"

	"github.com/gaprof/gaprof/analyze/steps"
	"github.com/gaprof/gaprof/analyze/timeline"
)

// twoSteps is the steps of a trace with updates at [100,110) and [200,210), and backward passes
// at 50 and 60, 150 and 160, and 250, each of one parameter more than the one before.
func twoSteps(t *testing.T) *recognizer {
	t.Helper()
	x := rankOf(t, "1/1 0 +1 cpu_op begin\n1/1 100 +10 user_annotation Optimizer.step#A.step\n"+
		"1/1 200 +10 user_annotation Optimizer.step#A.step\n1/1 300 +1 cpu_op end\n")
	r := &recognizer{x: x, steps: steps.Find(x), params: classesOf([2]int64{4, 100}, [2]int64{1, 50})}
	for i, start := range []int64{50, 60, 150, 160, 250} {
		b := Backward{Start: start, End: start + 5, Accumulated: []int{i + 1}}
		r.passes = append(r.passes, b)
	}
	r.passes[1].Accumulated = []int{1, 1}
	return r
}

// at is a collective of a step that follows a backward pass.
func at(start int64, step, backward int, elems int64) *HostCollective {
	return &HostCollective{Event: timeline.Event{Start: start}, Step: step, Backward: backward, Elems: elems,
		Kind: timeline.AllReduce, Dtype: "Float"}
}

// TestInForward: what stands between an update and the next backward pass belongs to a forward
// pass. Of the first step that is not known, unless it is the only one.
func TestInForward(t *testing.T) {
	for _, test := range []struct {
		what string
		c    *HostCollective
		want bool
	}{
		{"before the first pass of the second step", at(120, 1, 1, 9), true},
		{"between two passes", at(157, 1, 2, 9), false},
		{"after the last pass", at(170, 1, 3, 9), false},
		{"in the first step", at(20, 0, -1, 9), false},
		{"after the last update", at(220, -1, 3, 9), false},
		{"before a pass of another step", at(120, 1, 3, 9), false},
	} {
		if got := twoSteps(t).inForward(test.c); got != test.want {
			t.Errorf("%s: %v", test.what, got)
		}
	}
	r := twoSteps(t)
	if r.passes = r.passes[:2]; r.inForward(at(120, 1, 1, 9)) {
		t.Error("without a pass to come")
	}
	r = twoSteps(t)
	if r.passes = append(r.passes[:3:3], r.passes[4]); !r.inForward(at(120, 1, 1, 9)) {
		t.Error("with one pass to come")
	}
	x := rankOf(t, "1/1 0 +1 cpu_op begin\n1/1 100 +10 user_annotation Optimizer.step#A.step\n")
	alone := &recognizer{x: x, steps: steps.Find(x), passes: r.passes}
	if !alone.inForward(at(20, 0, -1, 9)) {
		t.Error("of the only step")
	}
	own := twoSteps(t)
	for _, test := range []struct {
		c    *HostCollective
		want bool
	}{{at(70, 0, 1, 9), true}, {at(120, 1, 1, 9), false}, {at(20, 0, -1, 9), false}, {at(155, 1, 2, 9), true}} {
		if got := own.inOwnStep(test.c); got != test.want {
			t.Errorf("at %d: in its own step %v", test.c.Event.Start, got)
		}
	}
}

// TestMayReduce: gradients are reduced in or after a backward pass of the step, and not by what the
// forward pass asks for as well.
func TestMayReduce(t *testing.T) {
	r := twoSteps(t)
	r.forward = map[reduction]bool{{timeline.AllReduce, 77, "Float"}: true}
	for _, test := range []struct {
		what string
		c    *HostCollective
		want bool
	}{
		{"after backward", at(70, 0, 1, 9), true}, {"before it", at(20, 0, -1, 9), false},
		{"what forward asks for", at(70, 0, 1, 77), false}, {"the same in backward", at(64, 0, 1, 77), true},
		{"the same right at its end", at(65, 0, 1, 77), false}, {"of another step", at(120, 1, 1, 9), false},
	} {
		if got := r.mayReduce(test.c, 0); got != test.want {
			t.Errorf("%s: %v", test.what, got)
		}
	}
}

// TestWholes: what collectives after a backward pass may reduce.
func TestWholes(t *testing.T) {
	text := func(list []whole) (s string) {
		for _, w := range list {
			s += fmt.Sprintf("%d of %d", w.count, w.numel)
			if w.exact {
				s += " exactly"
			}
			s += ", "
		}
		return s
	}
	r := twoSteps(t)
	for _, test := range []struct {
		what       string
		c          *HostCollective
		optimizers []Optimizer
		want       string
	}{
		{"the first pass of a step", at(57, 0, 0, 9), nil, "1 of 100, "},
		{"the second: what both have", at(70, 0, 1, 9), nil, "2 of 150, 2 of 150, "},
		{"which reach more and more", at(170, 1, 3, 9), nil, "4 of 400, 4 of 400, "},
		{"after the last update", at(260, -1, 4, 9), nil, "4 of 400, "},
		{"of an optimizer", at(57, 0, 0, 9), []Optimizer{{Classes: []int{1}}}, "1 of 100, 1 of 50 exactly, "},
		{"of one with nothing", at(57, 0, 0, 9), []Optimizer{{}, {Classes: []int{0, 1}}},
			"1 of 100, 5 of 450 exactly, "},
	} {
		r.optimizers = test.optimizers
		if got := text(r.wholes(test.c)); got != test.want {
			t.Errorf("%s: %s, want %s", test.what, got, test.want)
		}
	}
	r.optimizers = nil
	r.passes[0].Accumulated, r.passes[1].Accumulated = []int{4}, []int{0, 1}
	if got := text(r.wholes(at(70, 0, 1, 9))); got != "1 of 50, 5 of 450, " {
		t.Errorf("of passes that reach different ones: %s", got)
	}
	r.passes[1].Accumulated = []int{0, 0}
	if got := text(r.wholes(at(57, 0, 0, 9))); got != "4 of 400, " {
		t.Errorf("of the first pass alone: %s", got)
	}
	for _, test := range []struct {
		c    *HostCollective
		want int
	}{{at(57, 0, 0, 9), 1}, {at(70, 0, 1, 9), 2}, {at(157, 1, 2, 9), 1}, {at(170, 1, 3, 9), 2}, {at(260, -1, 4, 9), 1},
		{at(220, -1, 3, 9), 1}} {
		if got := len(r.sofar(test.c)); got != test.want {
			t.Errorf("at %d: %d passes so far, want %d", test.c.Event.Start, got, test.want)
		}
	}
	r.steps = &steps.Steps{}
	if got := len(r.sofar(at(70, -1, 1, 9))); got != 2 {
		t.Errorf("without steps %d passes so far", got)
	}
}

// TestReducedShards: all-reduces of what reduce-scatters of gradients left on this rank.
func TestReducedShards(t *testing.T) {
	const scatter, sum = timeline.ReduceScatter, timeline.AllReduce
	for _, test := range []struct {
		what     string
		list     []HostCollective
		received []int64
		want     bool // of the last
	}{
		{"as much as was left", []HostCollective{{Kind: scatter, Elems: 80, Gradient: true}, {Kind: sum, Elems: 20}},
			[]int64{20, 20}, true},
		{"less", []HostCollective{{Kind: scatter, Elems: 80, Gradient: true}, {Kind: sum, Elems: 19}},
			[]int64{20, 19}, false},
		{"of what is no gradient", []HostCollective{{Kind: scatter, Elems: 80}, {Kind: sum, Elems: 20}},
			[]int64{20, 20}, false},
		{"before it", []HostCollective{{Kind: sum, Elems: 20}}, []int64{20}, false},
		{"of an all-reduce", []HostCollective{{Kind: sum, Elems: 20, Gradient: true}, {Kind: sum, Elems: 20}},
			[]int64{20, 20}, false},
		{"a gathering", []HostCollective{{Kind: scatter, Elems: 80, Gradient: true}, {Kind: timeline.AllGather,
			Elems: 20}}, []int64{20, 80}, false},
		{"a few numbers", []HostCollective{{Kind: scatter, Elems: 64, Gradient: true}, {Kind: sum, Elems: 16}},
			[]int64{16, 16}, false},
		{"a few more", []HostCollective{{Kind: scatter, Elems: 68, Gradient: true}, {Kind: sum, Elems: 17}},
			[]int64{17, 17}, true},
		{"what is left is not known", []HostCollective{{Kind: scatter, Elems: 80, Gradient: true}, {Kind: sum,
			Elems: 0}}, []int64{0, 0}, false},
	} {
		reduceShards(test.list, test.received)
		if got := test.list[len(test.list)-1].Gradient; got != test.want {
			t.Errorf("%s: %v", test.what, got)
		}
	}
}

// TestGathered: hooks of DDP that quantize gradients, or choose the greatest, gather what they
// cannot add up. FSDP gathers parameters.
func TestGathered(t *testing.T) {
	gather := func(s *script, kind string, elems int) { s.asked(kind, elems, elems*4, "0") }
	for _, test := range []struct {
		what string
		end  func(s *script)
		want SyncPattern
	}{
		{"by a hook", func(s *script) { s.node(accumulateGrad, func() { gather(s, "allgather", 500) }) }, SyncEvery},
		{"sent to each", func(s *script) { s.node(accumulateGrad, func() { gather(s, "all_to_all", 500) }) },
			SyncEvery},
		{"by the loop", func(s *script) { gather(s, "allgather", 500) }, SyncNone},
		{"a few numbers", func(s *script) { s.node(accumulateGrad, func() { gather(s, "allgather", 4) }) }, SyncNone},
		{"a few more", func(s *script) { s.node(accumulateGrad, func() { s.asked("allgather", 5, 17, "0") }) },
			SyncEvery},
		{"sent to one", func(s *script) { s.node(accumulateGrad, func() { gather(s, "broadcast", 500) }) }, SyncNone},
		{"beside reduce-scatters", func(s *script) {
			s.node(accumulateGrad, func() { gather(s, "allgather", 500); s.asked("_reduce_scatter_base", 16, 4, "0") })
		}, SyncNone},
		{"beside fully_shard", func(s *script) {
			s.within("user_annotation", "FSDP::post_backward (0)", func() { s.now++ })
			s.node(accumulateGrad, func() { gather(s, "allgather", 500) })
		}, SyncNone},
	} {
		if r := one(t, twice(2, func(s *script, _ int) { test.end(s) })); r.Sync.Pattern != test.want {
			t.Errorf("%s: %s, want %s", test.what, r.Sync.Pattern, test.want)
		}
	}
	r := one(t, twice(1, func(s *script, _ int) {
		s.move('s')
		s.node("MmBackward0", func() { s.now++ })
	}))
	if r.Sync.Pattern != SyncNone {
		t.Errorf("nothing gathered: %s", r.Sync.Pattern)
	}
}

// TestPartlyCovered: what hooks reduce of the gradients, the loop need not; and a loop's messages
// count together with what hooks reduce.
func TestPartlyCovered(t *testing.T) {
	hook := func(s *script, elems ...int) { s.node(accumulateGrad, func() { s.sums(elems...) }) }
	for _, test := range []struct {
		what string
		end  func(s *script)
		want string
	}{
		{"all by hooks", func(s *script) { hook(s, 2064); s.sums(1000) }, "[1]"},
		{"nine tenths by hooks", func(s *script) { hook(s, 1858); s.sums(1900) }, "[1]"},
		{"less by hooks, and the rest", func(s *script) { hook(s, 1800); s.sums(264) }, "[2]"},
		{"less by hooks, and too much", func(s *script) { hook(s, 1800); s.sums(2400) }, "[1]"},
		{"half by hooks, half by the loop", func(s *script) { hook(s, 1000); s.sums(1064) }, "[2]"},
		{"less by both", func(s *script) { hook(s, 500); s.sums(500) }, "[1]"},
		{"a part scattered, and the rest", func(s *script) {
			s.asked("_reduce_scatter_base", 1000, 250, "0")
			s.sums(1064)
		}, "[2]"},
		{"scattered, and summed over replicas", func(s *script) {
			s.asked("_reduce_scatter_base", 2064, 516, "0")
			s.asked("allreduce", 516, 516, "1")
		}, "[2]"},
		{"a part scattered, and something else", func(s *script) {
			s.asked("_reduce_scatter_base", 1000, 250, "0")
			s.sums(500)
		}, "[1]"},
		{"of a size that is not known", func(s *script) {
			s.node(accumulateGrad, func() {
				s.event(3, "record_param_comms",
					"coll=allreduce dtype=Float group=0 gsize=4")
			})
			s.sums(2064)
		}, "[2]"},
	} {
		r := one(t, twice(1, func(s *script, _ int) { test.end(s) }))
		if got := fmt.Sprint(r.Sync.PerPass); got != test.want {
			t.Errorf("%s: %s, want %s", test.what, got, test.want)
		}
	}
}
