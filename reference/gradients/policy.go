package gradients

import "github.com/gaprof/gaprof/reference/device"

// Policy says how gradients are reduced over ranks.
type Policy struct {
	GradReduction string // mean or sum
	ReduceScatter string // sharded optimizer: reduce in the optimizer's step or in a hook; "" if not sharded
	AllReduce     string // not sharded: reduce in the optimizer's step or in a hook; "" means hook
	BucketBytes   int    // capacity of a bucket for hooks; 0 gives each parameter a bucket of its own
	BucketView    bool   // gradients are views of their bucket; else they are copied in and out
}

// Sharded reports whether each rank updates only its shard of every parameter.
func (p Policy) Sharded() bool { return p.ReduceScatter != "" }

// InStep reports whether gradients are reduced inside the optimizer's step rather than in
// hooks of backward.
func (p Policy) InStep() bool { return p.ReduceScatter == "step" || p.AllReduce == "step" }

// Reduction returns the reduction operator for gradients.
func (p Policy) Reduction() device.Reduce {
	if p.GradReduction == "sum" {
		return device.Sum
	}
	return device.Avg
}
