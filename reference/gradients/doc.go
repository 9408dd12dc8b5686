// Package gradients holds the gradients of one rank and does what hooks do when a
// gradient is ready: all-reduce in buckets like DistributedDataParallel, reduce-scatter
// into shards like FullyShardedDataParallel, or an optimizer step in backward.
//
//	policy.go  Policy: how gradients are reduced
//	param.go   Param: a parameter with its gradient, bucket or shard
//	set.go     Set: all parameters of a rank; allocation, begin and end of backward
//	ready.go   from backward nodes to AccumulateGrad and its hooks
//	event.go   what is done to a gradient, for those who follow it
//	bucket.go  all-reduce of neighbouring gradients
//	shard.go   reduce-scatter, and gathering of shards
//	full.go    full sharding like fully_shard (FSDP2): its streams, and memory that they share
//	unit.go    a block whose parameters are gathered and reduced together
//
// A Set is the autograd.Accumulator of its rank. It owns the memory of parameters and
// gradients, and makes the compute stream wait for reductions where results are used;
// the loop asks for gradients and knows nothing about buckets.
package gradients
