// Package gradients says what a rank does with its gradients: which parameters it
// trains, its backward passes, how often gradients are accumulated before each
// optimizer steps, where they are reduced over ranks, and which passes over them the
// loop makes and at what cost.
//
// [FindBackwards] reads the backward passes from the index of a rank; [Compute] derives
// the rest from them and from the steps. What it returns is a value. Times are integer
// nanoseconds, those of passes on the device's clock where the pass launched work there,
// all others on the host's; what a trace cannot tell is [Unknown] or empty.
//
// The files, from the bottom up; none knows of those below it in this list:
//
//	params.go          classes of parameters, by shape and dtype
//	leaves.go          what accumulates a gradient and is no parameter
//	backward.go        backward passes, and the parameters they show
//	optimizer.go       which optimizer steps which parameters
//	accumulation.go    accumulation steps and micro-batches of each step
//	hostcollective.go  collectives as the host asks for them, on any backend
//	sync.go            in which micro-batches gradients are reduced
//	tokens.go          where the token count is reduced
//	operation.go       gradient operations: the operators that passes are made of
//	reader.go          reading them from the rows of the host
//	pass.go            passes over the gradients: kinds and places
//	run.go             operations of one kind in one region of a step
//	match.go           whether the tensors of a run are the gradients of an optimizer
//	cost.go            what a pass costs
//	find.go            the passes of every step
//	gradients.go       all of it together
package gradients
