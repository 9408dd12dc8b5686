package gradients

import "github.com/gaprof/gaprof/reference/device"

// Policy says how gradients are combined over ranks.
type Policy struct {
	GradReduction string // mean or sum
	ReduceScatter string // where a sharded optimizer reduces: step, hook, or "" where nothing is sharded
	AllReduce     string // where gradients are all-reduced if nothing is sharded: hook (or ""), step
	BucketBytes   int    // an all-reduce in hooks begins when so many bytes are ready; 0 is one parameter each
	BucketView    bool   // gradients live in the buckets; else DDP divides them into those, and copies them back
}

// Sharded reports whether every rank has a part of each parameter's optimizer state.
func (p Policy) Sharded() bool { return p.ReduceScatter != "" }

// InStep reports whether gradients are reduced inside the optimizer's step, by its
// caller, and not in backward.
func (p Policy) InStep() bool { return p.ReduceScatter == "step" || p.AllReduce == "step" }

// Reduction returns what a collective does with gradients.
func (p Policy) Reduction() device.Reduce {
	if p.GradReduction == "sum" {
		return device.Sum
	}
	return device.Avg
}
