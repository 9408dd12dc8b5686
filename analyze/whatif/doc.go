// Package whatif predicts what a change of a program would gain: it makes the execution graph of
// a run from its traces, edits it, and replays it.
//
//	w := whatif.Together(graphs, matched) // graphs: one whatif.Of per rank
//	uses, err := whatif.Parse([]string{"hide-data-loading,faster=gemm:1.2"})
//	p, err := w.Predict(uses)
//	fmt.Println(p.Gain.Low, p.Gain.Mean, p.Gain.High) // ns per step
//
// The model, its assumptions and how far predictions were right are in docs/whatif.md. A
// [Rank] is a value without references into its trace; a [World] is made of those of all
// ranks. Building, replaying and editing take time linear in calls and device operations.
//
// The files, from the bottom up:
//
//	model.go         the types that all others use: Rank, World and what they consist of
//	builder.go       what is needed to build the graph of a rank; what calls of the runtime do
//	host.go          calls of the host
//	device.go        operations of devices; what ends just before others start
//	queue.go         calls that wait for room in the queue of launches
//	launches.go      the order of CUDA graphs on a stream
//	pending.go       collectives that nothing waited for yet
//	events.go        streams that wait for each other
//	image.go         operations launched before the recording, and the same one period later
//	waits.go         calls that wait for the device
//	calibrate.go     the lag of each edge
//	hoists.go        reduce-scatters whose gradients are ready before they are launched
//	scales.go        passes that scale gradients
//	transfer.go      what collectives of a single rank take without waiting
//	p2p.go           sends and receives, and who the other rank is
//	rank.go          Of: the graph of one rank, by all of these
//	steps.go         how long steps take
//	world.go         Together: the graphs of all ranks in one
//	p2p_join.go      sends and receives of several ranks as one
//	change.go        a graph that is being edited, and its replay
//	measure.go       how well the graph fits
//	edit.go          Edit
//	fit.go           alpha and beta: what operations cost by their bytes
//	shares.go        collectives on the stream that computes, and what uses their results
//	merge.go         several operations as one
//	buckets.go       which collectives can be one
//	bucket_edit.go, foreach_edit.go, hoist.go, loading_edit.go, micro_edit.go, scale_edit.go, simple_edits.go,
//	split_edit.go, straggler.go, sync_edit.go
//	                 the edits
//	parse.go         the table of all edits, and edits as users write them
//	critical.go      the critical path of steps
//	predicted.go     the predicted timeline as a trace
//	gain.go          predictions: steps before and after, and their ranges
//	report.go        predictions as rows of the JSON
//	answers.go       what a World is asked: Fit, Critical, Predict, Predicted, Report
package whatif
