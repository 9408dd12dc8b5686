package gradients

import (
	"slices"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/reference/device/devicetest"
	"github.com/gaprof/gaprof/reference/optim"
)

// layers are parameters a, b and c of 4, 6 and 8 elements in float64.
func layers(world int, policy Policy, hooks Hooks) (*Set, *devicetest.Script) {
	script, rank := devicetest.NewRank(world, device.F64)
	s := New(rank, policy, hooks)
	g := &optim.Group{Name: "SGD", Every: 1}
	for i, name := range []string{"a", "b", "c"} {
		s.Insert(name, []int{2 + i, 2}, g, make([]float64, 4+2*i))
	}
	s.Complete()
	script.Take()
	return s, script
}

// backward is what a tape does with the nodes of c, b and a, one parameter each.
func backward(s *Set, sync bool) {
	s.Begin(0, sync, true)
	for i := len(s.params) - 1; i >= 0; i-- {
		s.Gradient(&s.params[i].Param)
		s.Accumulate()
	}
	s.End()
}

func check(t *testing.T, what string, script *devicetest.Script, want string) {
	t.Helper()
	if got := script.Take(); got != want {
		t.Errorf("%s:\n got %s\nwant %s", what, got, want)
	}
}

// A bucket is reduced when its last parameter is ready, and waited for once, at the end.
func TestBuckets(t *testing.T) {
	s, script := layers(2, Policy{GradReduction: "mean", BucketBytes: 100, BucketView: true}, Hooks{})
	backward(s, true)
	check(t, "views", script, "compute records 1; comms waits 1; comms all-reduce mean 14; comms records 2; "+
		"compute records 3; comms waits 3; comms all-reduce mean 4; comms records 4; compute waits 4; compute waits 2")
	s, script = layers(2, Policy{GradReduction: "mean", BucketBytes: 1000}, Hooks{})
	backward(s, true)
	check(t, "copies", script,
		"compute mul_into; compute mul_into; compute mul_into; compute records 1; comms waits 1; "+
			"comms all-reduce sum 18; comms records 2; compute waits 2; compute copy 4; compute copy 6; compute copy 8")
}

// Without sync, in a world of one, or when somebody else reduces, hooks reduce nothing.
func TestNoReduction(t *testing.T) {
	policy := Policy{GradReduction: "mean", BucketBytes: 1000, BucketView: true}
	s, script := layers(2, policy, Hooks{})
	backward(s, false)
	check(t, "no sync", script, "")
	s, script = layers(1, policy, Hooks{})
	backward(s, true)
	check(t, "one rank", script, "")
	policy.AllReduce = "step"
	s, script = layers(2, policy, Hooks{})
	backward(s, true)
	check(t, "in the step", script, "")
	s.AllReduce(s.Params()[:2])
	check(t, "the step", script, "compute records 1; comms waits 1; comms all-reduce mean 4; comms all-reduce mean 6; "+
		"comms records 2; compute waits 2")
}

// The gradient of a second micro-batch is added, that after Clear overwrites; what it
// was written to in between is freed.
func TestAccumulate(t *testing.T) {
	s, script := layers(1, Policy{BucketBytes: 1000, BucketView: true}, Hooks{})
	live := script.Live
	backward(s, true)
	backward(s, true)
	check(t, "second", script, "compute accumulate; compute accumulate; compute accumulate")
	for _, p := range s.Params() {
		p.Clear()
	}
	backward(s, true)
	check(t, "after Clear", script, "")
	if script.Live != live {
		t.Errorf("%d blocks are left", script.Live-live)
	}
}

// With several tapes in a backward pass, gradients are ready with the last of them.
func TestSeveralTapes(t *testing.T) {
	ready := 0
	s, script := layers(1, Policy{BucketBytes: 1000, BucketView: true}, Hooks{Ready: func(*Param) { ready++ }})
	p := s.Params()[0]
	s.Begin(0, true, true)
	s.Gradient(&p.Param)
	s.Add()
	s.Gradient(&p.Param)
	s.Add()
	if ready != 0 {
		t.Error("ready before the last tape")
	}
	s.Gradient(&p.Param)
	s.Accumulate()
	if ready != 1 {
		t.Errorf("ready %d times", ready)
	}
	check(t, "three tapes", script, "compute accumulate; compute accumulate")
}

// An optimizer in backward gets every gradient by itself, with its reduction enqueued.
func TestReady(t *testing.T) {
	var s *Set
	var names string
	hook := func(p *Param) {
		names += p.Name
		s.TakeBack(p)
	}
	s, script := layers(2, Policy{GradReduction: "sum", BucketBytes: 1000, BucketView: true}, Hooks{Ready: hook})
	s.Begin(0, true, true)
	s.Gradient(&s.params[2].Param)
	s.Accumulate()
	check(t, "c", script, "compute records 1; comms waits 1; comms all-reduce sum 8; comms records 2; compute waits 2")
	if names != "c" {
		t.Errorf("ready: %s", names)
	}
}

// Of a parameter with three rows, two ranks have two each. Shards of later micro-batches
// are added, and waited for when they are used or the gradient is written again.
func TestShards(t *testing.T) {
	s, script := layers(2, Policy{GradReduction: "mean", ReduceScatter: "hook"}, Hooks{})
	b := s.Params()[1]
	one := func() {
		s.Begin(0, true, true)
		s.Gradient(&b.Param)
		s.Accumulate()
		s.End()
	}
	one()
	check(t, "first", script, "compute records 1; comms waits 1; comms reduce-scatter mean 8 to 4; comms records 2")
	one()
	check(t, "second", script, "compute waits 2; compute records 3; comms waits 3; comms reduce-scatter mean 8 to 4; "+
		"comms accumulate; comms records 4")
	if stored := s.Stored(); stored[1].N != 4 || stored[1] != b.Mine().Grad {
		t.Errorf("stored is %+v", stored[1])
	}
	check(t, "used", script, "compute waits 4")
	s.Gather(b)
	s.GatherValue(b)
	check(t, "gathered", script, "compute records 5; comms waits 5; comms all-gather 4 to 8; comms records 6; "+
		"compute waits 6; compute records 7; comms waits 7; comms all-gather 4 to 8")
}

// Groups that are not due keep what they have: nothing is reduced.
func TestNotDue(t *testing.T) {
	s, script := layers(2, Policy{GradReduction: "mean", BucketBytes: 1000, BucketView: true}, Hooks{})
	for _, p := range s.Params() {
		p.Group.Every = 2
	}
	backward(s, true)
	check(t, "not due", script, "")
	if len(s.Of(s.Params()[0].Group)) != 3 || len(s.Of(&optim.Group{})) != 0 {
		t.Error("parameters of a group")
	}
}

// inOrder is a backward pass whose gradients become ready in an order.
func inOrder(s *Set, order ...int) {
	s.Begin(0, true, true)
	for _, i := range order {
		s.Gradient(&s.params[i].Param)
		s.Accumulate()
	}
	s.End()
}

// After the first pass buckets are those of neighbours in the order in which gradients were ready, once none
// is kept.
func TestRebuiltBuckets(t *testing.T) {
	for _, view := range []bool{true, false} {
		s, script := layers(2, Policy{GradReduction: "mean", BucketBytes: 90, BucketView: view}, Hooks{})
		live := script.Live
		inOrder(s, 0, 2, 1) // buckets of c and b, and of a
		inOrder(s, 0, 2, 1)
		for _, p := range s.Params() {
			p.Clear()
		}
		script.Take()
		inOrder(s, 0, 2, 1)
		got := script.Take()
		if want := "all-reduce mean 12; "; view && !strings.Contains(got, want) || len(s.buckets) != 2 ||
			s.buckets[0].params[1] != s.params[2] || script.Live != live {
			t.Errorf("view %v: %s, %d blocks", view, got, script.Live-live)
		}
	}
}

// A pass that reduces some gradients only, as those of an optimizer that steps more often, says nothing of the order
// of all: buckets of each group in turn would wait for one another.
func TestRebuiltAfterAllWereReady(t *testing.T) {
	s, _ := layers(2, Policy{GradReduction: "mean", BucketBytes: 90, BucketView: true}, Hooks{})
	for _, order := range [][]int{{0}, {1, 0, 2}, {2, 1, 0}} {
		inOrder(s, order...)
		for _, p := range s.Params() {
			p.Clear()
		}
	}
	s.Begin(0, true, true)
	var got []int
	for _, b := range s.buckets {
		for _, p := range b.params {
			got = append(got, p.Index)
		}
	}
	if !slices.Equal(got, []int{1, 0, 2}) {
		t.Errorf("buckets hold parameters %v, want them as they were ready in the second pass", got)
	}
}

// Buckets in the order of forward are reduced in that order, whichever is ready first.
func TestBucketOrder(t *testing.T) {
	s, script := layers(2, Policy{GradReduction: "mean", BucketView: true, BucketOrder: "forward"}, Hooks{})
	for range 2 {
		inOrder(s, 2, 0, 1)
		check(t, "forward", script, "compute records 1; comms waits 1; comms all-reduce mean 4; comms records 2; "+
			"compute records 3; comms waits 3; comms all-reduce mean 6; comms records 4; "+
			"compute records 5; comms waits 5; comms all-reduce mean 8; comms records 6; "+
			"compute waits 2; compute waits 4; compute waits 6")
		s, script = layers(2, Policy{GradReduction: "mean", BucketView: true, BucketOrder: "forward"}, Hooks{})
	}
}

// Without prefetch a block is gathered after what was computed before it.
func TestNoPrefetch(t *testing.T) {
	s, script := blocks(2, Policy{GradReduction: "mean", Sharding: "full", ReshardAfterForward: true}, Hooks{})
	s.Begin(0, true, true)
	var one, root string
	pass(s, func(what string) {
		if got := script.Take(); what == "pre-forward 1" {
			one = got
		}
	}, func(what string) {
		if got := script.Take(); what == "root" {
			root = got
		}
	})
	if root != "" || !strings.HasPrefix(one, "compute records 6; stream 3 waits 6; stream 3 multi_tensor_copy") {
		t.Errorf("forward %q, before the first block of backward %q", one, root)
	}
}
