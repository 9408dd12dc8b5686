package gradients

import (
	"strconv"

	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/reference/optim"
)

// Policy says how gradients are reduced over ranks.
type Policy struct {
	GradReduction string // mean or sum
	ReduceScatter string // sharded optimizer: reduce in the optimizer's step or in a hook; "" if not sharded
	AllReduce     string // not sharded: reduce in the optimizer's step or in a hook; "" means hook
	BucketBytes   int    // capacity of a bucket for hooks; 0 gives each parameter a bucket of its own
	MatrixReduce  string // step: with hooks, matrices of another optimizer are reduced in its step; "" as all others
	Compiled      bool   // gradients are accumulated when backward has run, as torch.compile has them
	BucketView    bool   // gradients are views of their bucket; else they are copied in and out
	BucketOrder   string // forward: buckets are filled and reduced from the first parameter on; "" from the last

	Sharding            string // full: parameters are sharded, too, and gathered where they are used; "" for not
	Replicas            int    // groups of ranks that hold all shards, with full sharding; 0 means 1
	ReplicaSync         string // last: over replicas in the last micro-batch only; "" whenever gradients are reduced
	ReshardAfterForward bool   // with full sharding, gathered blocks are freed before backward
	Prefetch            bool   // with full sharding, blocks are gathered ahead; else when they are needed
}

// Sharded reports whether each rank updates only its shard of every parameter.
func (p Policy) Sharded() bool { return p.ReduceScatter != "" || p.Full() }

// Full reports whether ranks hold no more than their shards of parameters.
func (p Policy) Full() bool { return p.Sharding == "full" }

// What the groups of a device mesh are for, as PyTorch describes them.
const (
	meshReplicate = "mesh_dp_replicate"
	meshShard     = "mesh_dp_shard"
)

// Groups returns the process groups of the device mesh: ranks that have the same shard, and
// ranks that together have all. There are none for a single replica: its shards are those of
// all ranks.
func (p Policy) Groups(world int) []device.Group {
	if !p.Full() || p.Replicas < 2 {
		return nil
	}
	shards := world / p.Replicas
	var list []device.Group
	add := func(comment string, from, ranks, stride int) {
		g := device.Group{Name: strconv.Itoa(1 + len(list)), Comment: comment}
		for i := range ranks {
			g.Ranks = append(g.Ranks, from+i*stride)
		}
		list = append(list, g)
	}
	for shard := range shards {
		add(meshReplicate, shard, p.Replicas, shards)
	}
	for replica := range p.Replicas {
		add(meshShard, replica*shards, shards, 1)
	}
	return list
}

// InStep reports whether gradients are reduced inside the optimizer's step rather than in
// hooks of backward.
func (p Policy) InStep() bool { return p.ReduceScatter == "step" || p.AllReduce == "step" }

// StepReduces reports whether gradients of a group are reduced inside its optimizer's step.
func (p Policy) StepReduces(g *optim.Group) bool {
	return p.InStep() || p.MatrixReduce == "step" && g.Matrices
}

// Reduction returns the reduction operator for gradients.
func (p Policy) Reduction() device.Reduce {
	if p.GradReduction == "sum" {
		return device.Sum
	}
	return device.Avg
}
