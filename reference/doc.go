// Package reference is the reference trainer: models, data, an accumulation loop and
// optimizers in which every choice is an option, so that the ground truth about the
// traces it produces is known. It talks to a device.Backend only; the same program runs
// on a cpu, a simulated or a CUDA device.
//
// Run takes Options, Data and Callbacks. Combinations of options that make no sense are
// rejected with an *OptionError, which says why and what to do instead; Validate checks
// them without running.
//
// Input to a run:
//
//	options.go   Options and their defaults
//	field.go     the options as a list of names, usage texts and values; OptionError
//	plan.go      the resolved options: everything the loop consults while it runs
//	batches.go   accumulation steps, from batch sizes or given token counts
//	refusals.go  combinations of options that are rejected, and why
//	plant.go     deliberate faults
//	elsewhere.go those that send activations to other ranks
//	recording.go those of what records a rank
//	data.go      micro-batches
//	text.go      micro-batches of Newton's Opticks
//
// The program of one rank, each part with its own memory and methods:
//
//	rank.go       the loop: load, accumulate, finish, read back
//	inputs.go     micro-batches on the device
//	scalars.go    the numbers of a step in device memory
//	normalize.go  token counts, and what losses or gradients are multiplied by
//	clip.go       clip_grad_norm_ and scale passes
//	update.go     when and in which order the optimizers step
//	follow.go     what is done to the gradient, and which loss that follows
//	readback.go   copying a step's numbers, gradients and weights to the host
//
// What connects the ranks:
//
//	run.go      starts them and waits for them
//	gate.go     makes all of them stop after the same step
//	collect.go  merges their results, step by step
//	result.go   Callbacks and the results they receive
//
// oracle.go and variants.go run the loops of other trainers, literally, on the inputs of
// an oracle. The parts that do not depend on the loop are packages of their own:
// autograd (the tape), model (networks), gradients (buckets, shards and hooks) and optim
// (parameter updates).
//
// A step is one step of the optimizers, across all micro-batches and ranks. A backward
// pass is one call of backward(). A scale pass multiplies stored gradients, in one
// kernel or in one per parameter.
package reference
