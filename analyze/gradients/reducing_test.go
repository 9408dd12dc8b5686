package gradients

import (
	"fmt"
	"testing"
)

// sums asks for all-reduces of so many elements each.
func (s *script) sums(elems ...int) {
	for _, n := range elems {
		s.asked("allreduce", n, n, "0")
	}
}

// TestReducing: which all-reduces around two micro-batches of a model of 2000 and 64
// elements are of its gradients.
func TestReducing(t *testing.T) {
	forwards := func(elems ...int) func(*script, int) {
		return func(s *script, _ int) { s.sums(elems...) }
	}
	last := func(elems ...int) func(*script, int) {
		return func(s *script, micro int) {
			if micro == 1 {
				s.sums(elems...)
			}
		}
	}
	hooked := func(elems ...int) func(*script, int) {
		return func(s *script, micro int) {
			if micro == 1 {
				s.node(accumulateGrad, func() { s.sums(elems...) })
			}
		}
	}
	in := func(node string, then func(*script, int)) func(*script, int) {
		return func(s *script, micro int) { s.node(node, func() { then(s, micro) }) }
	}
	both := func(a, b func(*script, int)) func(*script, int) {
		return func(s *script, micro int) { a(s, micro); b(s, micro) }
	}
	none := func(*script, int) {}
	for _, test := range []struct {
		name                     string
		forward, backward, after func(s *script, micro int)
		want                     string
	}{
		{"one by one", none, last(64, 2000), none, "last_micro_batch [0 2]"},
		{"one buffer", none, last(2064), none, "last_micro_batch [0 1]"},
		{"one buffer, padded", none, last(2304), none, "last_micro_batch [0 1]"},
		{"three buckets", none, last(1000, 564, 500), none, "last_micro_batch [0 3]"},
		{"in every micro-batch", none, forwards(2064), none, "every_micro_batch [1 1]"},
		{"and a vector of metrics", none, both(forwards(100), last(2000, 64)), none, "last_micro_batch [0 2]"},
		{"buckets and metrics", none, both(last(1064, 1000), forwards(100)), none, "last_micro_batch [0 2]"},
		{"metrics alone", none, forwards(1000), none, "none [0 0]"},
		{"metrics much larger than the model", none, forwards(5000), none, "none [0 0]"},
		{"metrics besides DDP", none, both(hooked(2064), forwards(1000)), none, "last_micro_batch [0 1]"},
		{"activations of as many elements in forward", forwards(2064), none, none, "none [0 0]"},
		{"and gradients", forwards(2100), last(2064), none, "last_micro_batch [0 1]"},
		{"parameters after the update", none, none, last(2000, 64), "none [0 0]"},
		{"a hook at an activation", none, in("MmBackward0", forwards(2900)), none, "none [0 0]"},
		{"an operator on DTensors", none, func(s *script, micro int) {
			s.within("cpu_op", "aten::linalg_vector_norm", func() { s.sums(2064) })
		}, none, "none [0 0]"},
		{"which parameters were used", none, both(hooked(2064), func(s *script, micro int) {
			s.node(accumulateGrad, func() {
				s.event(3, "record_param_comms", "coll=allreduce in=40 out=40 dtype=Int group=0 gsize=4")
			})
		}), none, "last_micro_batch [0 1]"},
		{"as many elements as one small parameter", none, last(64), none, "none [0 0]"},
	} {
		s := &script{params: []string{"100,20", "64"}}
		for range 3 {
			for micro := range 2 {
				s.move('f')
				test.forward(s, micro)
				s.move('f')
				s.move('b')
				test.backward(s, micro)
			}
			s.move('s')
			test.after(s, 1)
		}
		r := one(t, s.text.String())
		if got := fmt.Sprint(r.Sync.Pattern, " ", r.Sync.PerPass); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

// TestEndsBeforeUpdate: a recording may end after a loop has reduced its gradients and before the
// update, which then belongs to no step.
func TestEndsBeforeUpdate(t *testing.T) {
	s := &script{params: []string{"100,20", "64"}}
	for i := range 3 {
		s.move('f')
		s.move('b')
		s.sums(64, 2000)
		if i < 2 {
			s.move('s')
		}
	}
	r := one(t, s.text.String())
	if got := fmt.Sprint(len(r.Steps), " ", r.Sync.Pattern, " ", r.Sync.PerPass); got != "2 every_micro_batch [2]" {
		t.Error(got)
	}
	for _, c := range r.HostCollectives {
		if c.NoSync != -1 {
			t.Errorf("in stretch %d", c.NoSync)
		}
	}
	if n := len(r.HostCollectives); n != 6 || r.HostCollectives[n-1].Step != -1 {
		t.Errorf("%d collectives, the last of step %d", n, r.HostCollectives[n-1].Step)
	}
}

// TestAveragesParameters: an optimizer that reduces before it updates, and one that averages
// what it has updated.
func TestAveragesParameters(t *testing.T) {
	update := func(s *script) { s.event(2, "aten::addcdiv_", `dims=[[100,20],[100,20],[100,20]]`) }
	sum := func(s *script) { s.sums(2064) }
	for name, test := range map[string]struct {
		moves []func(*script)
		want  SyncPattern
	}{
		"reduces, then updates":      {[]func(*script){sum, update}, SyncEvery},
		"updates, then averages":     {[]func(*script){update, sum}, SyncNone},
		"updates between reductions": {[]func(*script){update, sum, update}, SyncEvery},
		"compiled":                   {[]func(*script){sum}, SyncEvery},
	} {
		s := &script{params: []string{"100,20", "64"}}
		for range 2 {
			s.move('f')
			s.move('b')
			s.within("user_annotation", "Optimizer.step#AdamW.step", func() {
				for _, move := range test.moves {
					move(s)
				}
			})
		}
		if r := one(t, s.text.String()); r.Sync.Pattern != test.want {
			t.Errorf("%s: %s, want %s", name, r.Sync.Pattern, test.want)
		}
	}
}

// older writes a collective of a version whose record_param_comms have no arguments: the
// operator and the span of the backend with some, "-" for no such span.
func (s *script) older(operator, backend string) {
	for i, span := range [][2]string{
		{"c10d::allreduce_", operator}, {"record_param_comms", ""}, {"nccl:all_reduce", backend},
	} {
		if span[1] != "-" {
			fmt.Fprintf(&s.text, "1/1 %dus +%dus cpu_op %s %s\n", s.now+i, 20-4*i, span[0], span[1])
		}
	}
	s.now += 30
}

// TestOlderRecords: what has the shapes, if anything does, says how large a collective is.
func TestOlderRecords(t *testing.T) {
	const (
		list     = `dims=[[[2064]],[],[]] type=["TensorList","",""]`
		unlisted = `dims=[[],[],[]] type=["TensorList","",""]`
		number   = `dims=[[[]],[],[]] type=["TensorList","",""]`
		tensor   = `dims=[[2064]] type=["float"]`
	)
	for _, test := range []struct {
		operator, backend string
		hook              bool
		want              string
	}{
		{list, "", false, "last_micro_batch [0 1], all_reduce of 2064"},
		{list, "-", false, "last_micro_batch [0 1], all_reduce of 2064"},
		{unlisted, tensor, false, "last_micro_batch [0 1], all_reduce of 2064"},
		{"-", tensor, false, "last_micro_batch [0 1], all_reduce of 2064"},
		{"-", "", true, "last_micro_batch [0 1], all_reduce of -1"},
		{unlisted, "", true, "last_micro_batch [0 1], all_reduce of -1"},
		{number, "", false, "none [0 0], all_reduce of 1"},
		{"-", "-", true, "none [0 0]"},
	} {
		r := one(t, twice(2, func(s *script, micro int) {
			switch ask := func() { s.older(test.operator, test.backend) }; {
			case micro == 0:
			case test.hook:
				s.node(accumulateGrad, ask)
			default:
				ask()
			}
		}))
		got := fmt.Sprint(r.Sync.Pattern, " ", r.Sync.PerPass)
		if len(r.HostCollectives) > 0 {
			got += fmt.Sprintf(", %s of %d", r.HostCollectives[0].Kind, r.HostCollectives[0].Elems)
		}
		if got != test.want {
			t.Errorf("%s, %s: %s, want %s", test.operator, test.backend, got, test.want)
		}
	}
}
