// Package gradients works out what a rank does with its gradients: which parameters it
// trains, its backward passes, how often gradients are accumulated before each optimizer
// steps, where they are reduced over ranks, and which gradient passes the training loop
// makes and at what cost.
//
// A backward pass is one run of autograd through the model. A gradient pass, [Pass], is
// something else: a loop over the gradients of all parameters that scales, clips, casts or
// clears them, once per optimizer step or more often. It reads and writes every gradient,
// and whether it is needed is one of the questions that gaprof answers.
//
//	x := timeline.New(t).Ranks[0]
//	s, b := steps.Find(x), gradients.FindBackwards(x) // may run at the same time
//	g, _ := gradients.Compute(x, s, b, 0)
//	for _, p := range g.Passes {
//		fmt.Println(p.Step, p.Kind, p.Place, p.Busy) // ns
//	}
//
// No writer records what a parameter is. Everything here is inferred from the shapes that
// operators were recorded with, so traces without shapes have no gradient passes, and:
//
//   - Parameters are counted by class, of one shape and dtype: equal ones are
//     interchangeable here, and nothing in a trace says which is which.
//   - A run of operators is a gradient pass only if it covers 90 % of an optimizer's
//     parameters. What covers less may be anything and is left out.
//   - What a trace cannot tell is [Unknown] or empty, never a guess.
//
// Gradients is a value: once its texts are cloned ([Gradients.Texts]) it holds no reference
// into the trace. Times are integer nanoseconds, those of gradient passes on the device's
// clock where the pass launched work there, all others on the host's.
//
// The time is linear in the host rows of the trace; operators that cannot be part of a
// gradient pass are rejected by the id of their name.
//
// The files, from the bottom up; each uses only those above it in this list:
//
//	params.go          classes of parameters, by shape and dtype
//	leaves.go          what accumulates a gradient and is no parameter
//	backward.go        backward passes, and the parameters they show
//	forwards.go        forward passes that a backward pass runs back through
//	optimizer.go       which optimizer steps which parameters
//	stepped.go         the parameters that optimizer spans touch
//	instances.go       optimizers that share a name
//	accumulation.go    accumulation steps and micro-batches of each step
//	hostcollective.go  collectives as the host asks for them, on any backend
//	asker.go           what asks for a collective: hooks of parameters, the model, the loop
//	cover.go           which messages together are the gradients
//	reducing.go        which collectives reduce gradients
//	replicas.go        reductions between replicas of shards
//	nosync.go          reductions in spite of no_sync()
//	sync.go            in which micro-batches gradients are reduced
//	tokens.go          where the token count is reduced
//	operation.go       gradient operations: the operators that gradient passes consist of
//	reader.go          reading them from the rows of the host
//	scatter.go         operations on what is reduce-scattered next
//	gap.go             what becomes of gradients between two backward passes of a step
//	pass.go            passes over the gradients: kinds and places
//	shapes.go          how many gradients there are of each shape
//	written.go         whether gradients may have been cleared since the last update
//	factor.go          whether a factor comes from a count
//	run.go             operations of one kind in one region of a step
//	match.go           whether the tensors of a run are the gradients of an optimizer
//	cost.go            what a pass costs
//	rounds.go          what is done for each norm by itself
//	find.go            the passes of every step
//	gradients.go       all of it together
package gradients
