package gradients

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/timeline"
)

// nested writes spans inside each other, the outermost first, and a collective inside them all.
func nested(spans ...string) string {
	var b strings.Builder
	for i, name := range spans {
		cat := "cpu_op"
		if rest, ok := strings.CutPrefix(name, "="); ok {
			cat, name = "user_annotation", rest
		}
		fmt.Fprintf(&b, "1/1 %d +%d %s %q\n", 10+i, 80-2*i, cat, name)
	}
	return b.String() + "1/1 40 +2 cpu_op record_param_comms coll=allreduce in=8 out=8\n"
}

// TestAskers: what asks for a collective, by the spans around it, the outermost first.
func TestAskers(t *testing.T) {
	const evaluate = "autograd::engine::evaluate_function: "
	for _, test := range []struct {
		spans []string
		want  asker
	}{
		{nil, loopAsks}, {[]string{"=my part"}, loopAsks},
		{[]string{evaluate + accumulateGrad}, hookAsks}, {[]string{accumulateGrad}, hookAsks},
		{[]string{"DistributedDataParallel.forward"}, modelAsks}, {[]string{"=FSDP::post_backward_reduce (0)"},
			hookAsks},
		{[]string{"=FSDP::pre_forward (0)"}, modelAsks}, {[]string{"=FSDP::root_pre_unshard"}, hookAsks},
		{[]string{evaluate + "MmBackward0"}, nodeAsks}, {[]string{evaluate + "MmBackward0", "MmBackward0"}, modelAsks},
		{[]string{evaluate + "MmBackward0", "=my hook"}, nodeAsks},
		{[]string{evaluate + "ReduceBackward"}, modelAsks},
		{[]string{evaluate + "CheckpointFunctionBackward", "CheckpointFunctionBackward", evaluate + "MmBackward0"},
			modelAsks},
		{[]string{evaluate + "MmBackward0", evaluate + accumulateGrad}, hookAsks},
		{[]string{"aten::linear"}, modelAsks}, {[]string{"aten::linear", "=my part"}, modelAsks},
		{[]string{evaluate + "RegisterPostBackwardFunctionBackward"}, hookAsks},
		{[]string{evaluate + "RegisterPostBackwardFunctionBackward", "RegisterPostBackwardFunctionBackward"}, hookAsks},
		{[]string{"CompiledFunctionBackward"}, loopAsks}, {[]string{"=Optimizer.step#A.step"}, loopAsks},
	} {
		x := rankOf(t, nested(test.spans...))
		if got := askerOf(x, startingAt(t, x, "record_param_comms", 40)); got != test.want {
			t.Errorf("%q: %d, want %d", test.spans, got, test.want)
		}
	}
}

// TestUpdates: with which operators optimizers change parameters and their state.
func TestUpdates(t *testing.T) {
	for name, want := range map[string]bool{
		"aten::addcdiv_": true, "aten::_foreach_addcmul_": true, "aten::lerp_": true, "aten::_fused_adamw_": true,
		"aten::_foreach_add_": true, "aten::add_": true, "aten::add": false, "aten::mul_": false, "aten::zero_": false,
		"addcdiv_": false, "add_": false, "aten::_foreach_mul_": false, "aten::sub_": false,
	} {
		if got := updates(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	const update = "1/1 %d +2 cpu_op aten::addcdiv_\n"
	for _, test := range []struct {
		what   string
		spans  []string
		others string
		want   bool
	}{
		{"outside", nil, fmt.Sprintf(update, 20), false},
		{"after the update", []string{"=Optimizer.step#A.step"}, fmt.Sprintf(update, 20), true},
		{"right at its start", []string{"=Optimizer.step#A.step"}, fmt.Sprintf(update, 11), true},
		{"before it", []string{"=Optimizer.step#A.step"}, fmt.Sprintf(update, 50), false},
		{"between", []string{"=Optimizer.step#A.step"}, fmt.Sprintf(update, 20) + fmt.Sprintf(update, 50), false},
		{"without any", []string{"=Optimizer.step#A.step"}, "", false},
		{"and one that follows the span", []string{"=Optimizer.step#A.step"}, fmt.Sprintf(update, 20) +
			fmt.Sprintf(update, 90), true},
		{"one before the span", []string{"=Optimizer.step#A.step"}, fmt.Sprintf(update, 5), false},
		{"in a part of the span", []string{"=Optimizer.step#A.step", "=part"}, fmt.Sprintf(update, 20), true},
	} {
		x := rankOf(t, nested(test.spans...)+test.others)
		if got := averagesParameters(x, startingAt(t, x, "record_param_comms", 40)); got != test.want {
			t.Errorf("%s: %v", test.what, got)
		}
	}
}

// TestAskedFor: collectives as each version of PyTorch records them: kind, elements and, where it is
// known, what is left on this rank.
func TestAskedFor(t *testing.T) {
	at := func(start int, span string) string { return fmt.Sprintf("1/1 %d +4 cpu_op %s\n", start, span) }
	const (
		described = `record_param_comms coll=allreduce in=8 out=8 dtype=Float group=0`
		scattered = `record_param_comms coll=_reduce_scatter_base in=8 out=2 dtype=Half group=0`
		operator  = `c10d::allreduce_ dims=[[],[]] type=["",""]`
	)
	for _, test := range []struct{ what, source, want string }{
		{"described", at(10, described) + at(20, scattered), "all_reduce 8 Float 8, reduce_scatter 8 Half 2"},
		{"without a size", at(10, "record_param_comms coll=allreduce dtype=Float"), "all_reduce -1 Float 0"},
		{"barriers", at(10, described) + at(20, "record_param_comms coll=barrier in=0 out=0") + at(30, described),
			"all_reduce 8 Float 8, all_reduce 8 Float 8"},
		{"what does not say what it is", at(10, "record_param_comms") + at(20, described) + at(30,
			"record_param_comms"),
			"all_reduce 8 Float 8"},
		{"described within operators", at(10, operator) + "1/1 11 +2 cpu_op " + described + "\n",
			"all_reduce 8 Float 8"},
		{"operators alone", at(10, `c10d::_reduce_scatter_base_ dims=[[2],[8]] type=["float","float"]`),
			"reduce_scatter 8 float 2"},
		{"a barrier's operator", at(10, `c10d::barrier`) + at(20, `c10d::allreduce_ dims=[[7]] type=["float"]`),
			"all_reduce 7 float 7"},
		{"as many spans of the backend, in order", at(10, operator) + at(20, "c10d::reduce_scatter_") +
			at(11, `gloo:all_reduce dims=[[5]] type=["float"]`) + at(21, `gloo:all_reduce dims=[[6]] type=["half"]`),
			"all_reduce 5 float 1, reduce_scatter 6 half 0"},
		{"fewer, kind by kind", at(10, "c10d::reduce_scatter_") + at(20, operator) + at(30, operator) + at(40,
			operator) +
			at(21, `nccl:all_reduce dims=[[5]] type=["float"]`) + at(31, `nccl:all_reduce dims=[[6]] type=["half"]`),
			"reduce_scatter -1  0, all_reduce 5 float 1, all_reduce 6 half 1, all_reduce -1  1"},
		{"the backend alone", at(10, `gloo:all_reduce dims=[[5]] type=["float"]`), "all_reduce 5 float 5"},
		{"an operator within which nothing is told", at(10, `c10d::allreduce_ dims=[[7]] type=["float"]`) +
			"1/1 11 +2 cpu_op record_param_comms\n", "all_reduce 7 float 7"},
		{"one operator, and its size in the backend", at(10, `c10d::allreduce_`) +
			"1/1 11 +2 cpu_op nccl:all_reduce dims=[[9]] type=[\"float\"]\n", "all_reduce 9 float 0"},
	} {
		found := askedFor(rankOf(t, test.source))
		var parts []string
		for i, c := range found.list {
			parts = append(parts, fmt.Sprintf("%s %d %s %d", c.Kind, c.Elems, c.Dtype, found.received[i]))
		}
		if got := strings.Join(parts, ", "); got != test.want {
			t.Errorf("%s: %s, want %s", test.what, got, test.want)
		}
	}
	for name, want := range map[string]string{"nccl:all_reduce": "all_reduce", "c10d::allreduce_": "allreduce_",
		"x": "x"} {
		if got := afterColon(name); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestOfNumbers: all-reduces of a single number, and the reductions that a loop asks for itself.
func TestOfNumbers(t *testing.T) {
	list := []HostCollective{*at(10, 0, 0, 1), *at(20, 0, 0, 2), *at(30, 0, 0, 1), *at(40, 0, 0, 1)}
	list[2].Kind = timeline.AllGather
	list[1].Gradient = true
	if got := fmt.Sprint(ofNumbers(list)); got != "[10 40]" {
		t.Errorf("of numbers: %s", got)
	}
	if got := fmt.Sprint(reductions(list)); got != "[20]" {
		t.Errorf("of gradients: %s", got)
	}
	plain := rankOf(t, "1/1 10 +1 cpu_op aten::mul_\n")
	ddp := rankOf(t, "1/1 10 +1 cpu_op torch.distributed.ddp.reducer::copy_bucket_to_grad\n")
	if got := byHand(plain, []int64{20}); len(got) != 1 || byHand(ddp, []int64{20}) != nil {
		t.Errorf("by hand: %v and %v", got, byHand(ddp, []int64{20}))
	}
	waits := collectiveTime(rankOf(t, "1/1 10 +5 cpu_op record_param_comms\n1/2 12 +10 cpu_op record_param_comms\n"))
	if waits.Len() != 12 {
		t.Errorf("collectives run for %d", waits.Len())
	}
}

// TestReplicaGroups: an all-reduce of what a reduce-scatter left, in another group, is between
// replicas.
func TestReplicaGroups(t *testing.T) {
	x := rankOf(t, "1/1 10 +1 cpu_op record_param_comms\n")
	rs := HostCollective{Kind: timeline.ReduceScatter, Elems: 4000, Group: "1", Gradient: true}
	ar := HostCollective{Kind: timeline.AllReduce, Elems: 1000, Group: "2", Gradient: true}
	change := func(c HostCollective, f func(*HostCollective)) HostCollective { f(&c); return c }
	for _, test := range []struct {
		what     string
		a, b     HostCollective
		received int64
		want     bool
	}{
		{"shards and replicas", rs, ar, 1000, true},
		{"in the same group", rs, change(ar, func(c *HostCollective) { c.Group = "1" }), 1000, false},
		{"of another pass", rs, change(ar, func(c *HostCollective) { c.Backward = 1 }), 1000, false},
		{"of no gradient", change(rs, func(c *HostCollective) { c.Gradient = false }), ar, 1000, false},
		{"no gradient", rs, change(ar, func(c *HostCollective) { c.Gradient = false }), 1000, false},
		{"of another size", rs, ar, 999, false},
		{"in a group of no name", rs, change(ar, func(c *HostCollective) { c.Group = "" }), 1000, false},
		{"of a group of no name", change(rs, func(c *HostCollective) { c.Group = "" }), ar, 1000, false},
		{"one element", rs, change(ar, func(c *HostCollective) { c.Elems = 1 }), 1, true},
		{"nothing", rs, change(ar, func(c *HostCollective) { c.Elems = 0 }), 0, false},
		{"another kind", rs, change(ar, func(c *HostCollective) { c.Kind = timeline.Reduce }), 1000, false},
	} {
		list := []HostCollective{test.a, test.b}
		markReplicas(x, list, []int32{0, 0}, []int64{test.received, 1000})
		if got := list[1].Replicas; got != test.want || list[0].Replicas {
			t.Errorf("%s: %v", test.what, got)
		}
	}
}

// TestCarried: the tensors and messages inside the spans of each optimizer, by which parameters are
// attributed to it.
func TestCarried(t *testing.T) {
	x := rankOf(t, `
1/1 100 +50 user_annotation Optimizer.step#A.step
1/1 101 +1 cpu_op aten::addcdiv_ dims=[[8],[4,2],[]] type=["c10::BFloat16","float","float"]
1/1 103 +1 cpu_op aten::_foreach_add_ dims=[[[5],[6]],[]] type=["TensorList","Scalar"]
1/1 105 +1 cpu_op record_param_comms coll=allreduce in=70 out=10 dtype=Float
1/1 107 +1 cpu_op record_param_comms coll=allreduce in=71 out=11
1/1 109 +1 cpu_op aten::mul_ dims=[[8]] type=["c10::BFloat16"]
1/1 160 +5 cpu_op aten::mul_ dims=[[99]] type=["float"]
1/1 200 +50 user_annotation Optimizer.step#B.step
1/1 201 +1 cpu_op aten::mul_ dims=[[8]] type=["c10::BFloat16"]
`)
	for optimizer, want := range map[string]string{"A": "10 float, 5, 6, 70 float, 8 bfloat16, 8 float",
		"B": "8 bfloat16"} {
		var got []string
		for key := range carried(x)[optimizer] {
			got = append(got, strings.TrimSpace(fmt.Sprint(key.numel, " ", key.dtype)))
		}
		slices.Sort(got)
		if text := strings.Join(got, ", "); text != want {
			t.Errorf("%s: %s, want %s", optimizer, text, want)
		}
	}
}

// TestOwnersByLists: lists of tensors do not say of what type these are, and attribute parameters all
// the same.
func TestOwnersByLists(t *testing.T) {
	s := &script{params: []string{"100,20", "64", "300,20"}}
	for range 2 {
		s.move('f')
		s.move('b')
		for _, o := range [][2]string{{"AdamW", "[100,20],[64]"}, {"Muon", "[300,20]"}} {
			s.within("user_annotation", "Optimizer.step#"+o[0]+".step", func() {
				s.event(1, "aten::_foreach_addcdiv_", `dims=[[`+o[1]+`],[]] type=["TensorList",""]`)
			})
		}
	}
	got := ""
	for _, o := range one(t, s.text.String()).Optimizers {
		got += fmt.Sprint(o.Name, o.Classes, " ")
	}
	if got != "AdamW[0 1] Muon[2] " {
		t.Errorf("owners %s", got)
	}
}
