// Package gradients holds the gradients of a model's parameters on one rank and does
// what hooks do when one is ready: DistributedDataParallel's buckets, reduce-scatter to
// a shard as FullyShardedDataParallel does, an optimizer in backward.
//
//	policy.go   how gradients are reduced: an option of the run
//	param.go    a parameter, its gradient, its bucket or shard
//	set.go      all of them: memory, and what a backward pass begins and ends with
//	ready.go    from a backward node to AccumulateGrad and its hooks
//	bucket.go   all-reduce of neighbouring gradients
//	shard.go    reduce-scatter, and gathering what is sharded
//
// A Set is the autograd.Accumulator of its rank. It owns the memory of parameters and
// gradients and knows when the compute stream must wait for a reduction; a loop that
// wants gradients asks for them and does not know about buckets.
package gradients
