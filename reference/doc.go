// Package reference is the reference trainer: one program of models, data, an
// accumulation loop and optimizers whose every choice is an option, so that the truth
// about the traces it leaves is known. It speaks to a device.Backend only; the same
// program runs on a cpu, a simulated and a CUDA device.
//
// A run is Options, Data and Callbacks given to Run. Options that do not go together
// are refused with an *OptionError that says why and what to do instead; Validate asks
// without running.
//
// What a run is told:
//
//	options.go   Options and their defaults
//	field.go     the options as a list of names, usages and values; OptionError
//	plan.go      options resolved: all that a loop asks while it runs
//	batches.go   how many micro-batches a step has, given token counts
//	refusals.go  combinations that cannot be
//	plant.go     faults on purpose
//	data.go      micro-batches; text.go: those of Newton's Opticks
//
// What one rank does, each part with its own memory and its own methods:
//
//	rank.go       a step: load, accumulate, finish, read back
//	inputs.go     micro-batches on the device
//	scalars.go    the numbers of a step in device memory
//	normalize.go  what losses and gradients are multiplied by
//	clip.go       clip_grad_norm_ and scale passes
//	update.go     the optimizers, whole or sharded
//	readback.go   a step on its way to the host; exports of gradients and weights
//
// What joins the ranks: run.go starts them, gate.go lets them into the same steps,
// collect.go puts their results together, result.go is what comes out. oracle.go and
// variants.go run the loops of other trainers literally on given inputs.
//
// The parts that do not depend on the loop are packages: autograd (the tape), model
// (networks), gradients (buckets, shards and hooks), optim (updates).
//
// Words: a step is one step of the optimizers, over all micro-batches and ranks; a
// backward pass is one call of backward(); a scale pass is a kernel, or several, that
// multiply the gradients that are stored.
package reference
