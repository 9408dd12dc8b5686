// Package graph is an execution graph and its replay: pieces of work (nodes) with a
// duration, the resources that run them one after the other (streams, threads), and edges
// that say what waits for what. A replay computes when everything starts and ends.
//
//	var g graph.Graph
//	host, stream := g.AddResource(), g.AddResource()
//	call := g.Add(host, 6000)                     // a launch takes the host 6 us
//	kernel := g.Add(stream, 250000)               // the kernel runs for 250 us,
//	g.Connect(call, kernel, graph.Launch, 9000)   // 9 us after its launch began, or later
//	p, err := g.Plan()                            // a cycle is an error that names it
//	times := p.Replay()
//	fmt.Println(times.Start[kernel], times.End[kernel])
//
// A change of the program is a change of the graph: other durations or lags, edges cut or
// added, another order on a resource. What it gains is the difference of two replays.
//
// The rules of a replay, all in integer nanoseconds:
//
//   - A node starts at the latest of its Release and, over its edges, the end of the source
//     (for a Launch and a Queue: its start) plus the edge's lag. A lag may be negative: a kernel that is
//     launched programmatically begins before the one that it depends on has ended.
//   - It ends its Work after its start. The members of a group (a collective on several ranks,
//     a send and its receive) start one by one but end their own Work after the start of the last
//     of them, so that waiting for a peer is time inside the node, as it is in traces.
//   - A resource runs its nodes in the order in which they were added. That order is an edge
//     like any other, of the kind Order, whose lag is the gap between the two.
//   - Where several edges allow the same start, the one of the lowest number binds.
//
// A Run is a replay on a Machine, on whose domains (devices) nodes get in each other's way:
//
//   - A Transfer (a collective) does not start while a node of at least its priority fills its
//     domain, but may start when that ends: what computes next does not come before it.
//   - What computes is slower while a Transfer moves data on its domain, which one that waits
//     for the other members of its group does not do yet.
//
// The package knows neither traces nor trainers. Graphs are columns, planning and replaying
// are linear in nodes and edges, and a plan can be replayed any number of times with other
// durations and lags.
//
// The files:
//
//	graph.go   Graph: nodes, resources, edges, groups
//	plan.go    Plan: the order of a replay, found once
//	cycle.go   what a graph that has no order looks like
//	replay.go  Times: when everything starts and ends
//	machine.go Machine: domains, and what nodes do to others there
//	run.go     a replay in the order of time
//	queue.go   what is going to happen, in that order
//	path.go    the path that decides when a node ends
package graph
