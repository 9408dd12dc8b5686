package gradients

import (
	"fmt"
	"testing"

	"github.com/gaprof/gaprof/reference/autograd"
	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/reference/device/devicetest"
	"github.com/gaprof/gaprof/reference/optim"
)

// ahead is full sharding as it is by default.
var ahead = Policy{GradReduction: "mean", Sharding: "full", ReshardAfterForward: true, Prefetch: true}

// blocks are two blocks of a parameter each, of 8 and 12 elements, and a head of 5. Rank 0 of two
// holds 4, 6 and 3 of them.
func blocks(world int, policy Policy, hooks Hooks) (*Set, *devicetest.Script) {
	script, rank := devicetest.NewRank(world, device.F64)
	s := New(rank, policy, hooks)
	g := &optim.Group{Name: "SGD", Every: 1}
	for _, p := range []struct {
		name string
		rows int
	}{{"blocks.0.w", 4}, {"blocks.1.w", 6}} {
		s.Insert(p.name, []int{p.rows, 2}, g, make([]float64, 2*p.rows))
	}
	s.Insert("head", []int{5}, g, make([]float64, 5))
	s.Complete()
	script.Take()
	return s, script
}

// pass is what a tape does: forward, and back if it shall. Only gradients launch nothing here.
func pass(s *Set, forward, back func(what string)) {
	root, one, two := s.Hooks(""), s.Hooks("blocks.0"), s.Hooks("blocks.1")
	for i, h := range []autograd.Hooks{root, one, two} {
		h.PreForward()
		forward(fmt.Sprintf("pre-forward %d", i))
	}
	two.PostForward()
	one.PostForward() // after the fact: blocks do not nest, but no call depends on that
	root.PostForward()
	forward("post-forward")
	ready := func(i int) {
		s.Gradient(&s.params[i].Param)
		s.Accumulate()
	}
	root.PreBackward()
	ready(2)
	back("root")
	one.PreBackward()
	ready(0)
	back("pre-backward")
	one.PostBackward(true)
	back("post-backward")
	two.PreBackward()
	ready(1)
	two.PostBackward(true)
	back("the other block")
	root.PostBackward(true)
	back("end")
}

// With full sharding a block is gathered ahead of its backward, and the input of a reduction
// is freed before the next one. Streams 3 to 5 copy, gather and scatter.
func TestFullSharding(t *testing.T) {
	s, script := blocks(2, ahead, Hooks{})
	live := script.Live
	want := map[string]string{
		"pre-forward 0": "compute records 1; stream 3 waits 1; stream 4 waits 1; stream 3 multi_tensor_copy; " +
			"stream 3 records 2; stream 4 waits 2; stream 4 all-gather 3 to 6; stream 4 records 3; " +
			"compute waits 3; compute split_with_sizes_copy; compute records 4",
		// The buffer of the root is freed when the first block has been gathered.
		"pre-forward 1": "stream 3 multi_tensor_copy; stream 3 records 5; stream 4 waits 5; " +
			"stream 4 all-gather 4 to 8; stream 4 records 6; stream 3 waits 4; stream 4 waits 4; " +
			"compute waits 6; compute split_with_sizes_copy; compute records 7",
		"pre-forward 2": "stream 3 multi_tensor_copy; stream 3 records 8; stream 4 waits 8; " +
			"stream 4 all-gather 6 to 12; stream 4 records 9; stream 3 waits 7; stream 4 waits 7; " +
			"compute waits 9; compute split_with_sizes_copy; compute records 10",
		"post-forward": "stream 3 waits 10; stream 4 waits 10",
		// The root is still whole, and the block whose forward was last comes next.
		"root": "stream 3 multi_tensor_copy; stream 3 records 11; stream 4 waits 11; " +
			"stream 4 all-gather 4 to 8; stream 4 records 12",
		"pre-backward": "compute waits 12; compute split_with_sizes_copy; compute records 13; stream 3 waits 13; " +
			"stream 4 waits 13; stream 3 multi_tensor_copy; stream 3 records 14; stream 4 waits 14; " +
			"stream 4 all-gather 6 to 12; stream 4 records 15",
		"post-backward": "compute chunk_cat; compute records 16; stream 5 waits 16; " +
			"stream 5 reduce-scatter mean 8 to 4; stream 5 records 17; stream 5 records 18",
		"the other block": "compute waits 15; compute split_with_sizes_copy; compute records 19; " +
			"stream 3 waits 19; stream 4 waits 19; compute waits 17; compute chunk_cat; compute records 20; " +
			"stream 5 waits 20; stream 5 reduce-scatter mean 12 to 6; stream 5 records 21; stream 5 records 22",
		"end": "compute waits 21; compute chunk_cat; compute records 23; stream 5 waits 23; " +
			"stream 5 reduce-scatter mean 6 to 3; stream 5 records 24; stream 5 records 25; compute waits 25",
	}
	s.Begin(0, true, true)
	each := func(what string) { check(t, what, script, want[what]) }
	pass(s, each, each)
	if script.Live != live+3 {
		t.Errorf("%d blocks are there besides gradients", script.Live-live-3)
	}
	if stored := s.Stored(); stored[0].N != 4 || stored[1].N != 6 || stored[2].N != 3 {
		t.Errorf("stored %+v", stored)
	}
	for _, p := range s.Params() {
		if p.Value != nil || p.Grad != nil {
			t.Errorf("%s is whole", p.Name)
		}
	}
}

// A second backward adds to the shards; without sync it adds to whole gradients. Clear frees
// what is there.
func TestFullAccumulation(t *testing.T) {
	for _, sync := range []bool{true, false} {
		s, script := blocks(2, ahead, Hooks{})
		live := script.Live
		nothing := func(string) {}
		s.Begin(0, sync, true)
		pass(s, nothing, nothing)
		script.Take()
		s.Begin(0, true, true)
		last := ""
		pass(s, nothing, func(string) { last = script.Take() })
		want := "compute waits 46; compute chunk_cat; compute records 48; stream 5 waits 48; " +
			"stream 5 reduce-scatter mean 6 to 3; stream 5 records 49; stream 5 accumulate; stream 5 records 50; " +
			"compute waits 50"
		if !sync {
			want = "compute waits 37; compute chunk_cat; compute records 39; stream 5 waits 39; " +
				"stream 5 reduce-scatter mean 6 to 3; stream 5 records 40; stream 5 records 41; compute waits 41"
		}
		if last != want {
			t.Errorf("sync %v:\n got %s\nwant %s", sync, last, want)
		}
		for _, p := range s.Params() {
			p.Clear()
		}
		if script.Live != live {
			t.Errorf("sync %v: %d blocks are left", sync, script.Live-live)
		}
	}
}

// One rank alone has nothing to gather: it copies.
func TestFullAlone(t *testing.T) {
	s, script := blocks(1, Policy{GradReduction: "mean", Sharding: "full"}, Hooks{})
	h := s.Hooks("blocks.0")
	h.PreForward()
	check(t, "forward", script, "compute copy 8")
	if s.Shards() != nil || s.Hooks("blocks.7") != nil {
		t.Error("shards of one rank, or hooks of no block")
	}
}

// Replicas of shards are every so many ranks; shards are neighbours.
func TestMesh(t *testing.T) {
	p := Policy{Sharding: "full", Replicas: 2}
	const want = "[{1 mesh_dp_replicate [0 3]} {2 mesh_dp_replicate [1 4]} {3 mesh_dp_replicate [2 5]} " +
		"{4 mesh_dp_shard [0 1 2]} {5 mesh_dp_shard [3 4 5]}]"
	if got := fmt.Sprint(p.Groups(6)); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if p.Replicas = 1; p.Groups(6) != nil {
		t.Error("groups besides that of all ranks")
	}
}
