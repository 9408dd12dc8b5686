// Package trace is the model that every reader fills and every analysis reads:
// one recording of one process or one rank, as columns of equal length.
//
// A [Trace] is immutable and only a [Builder] makes one. Rows are grouped by track
// and, on a track, ordered by start, then longer first, so that a parent stands
// before its children. All times are integer nanoseconds on the clock of the
// recording; intervals are half-open, [Start, Start+Dur). Texts are numbers
// ([StringID], [Cat], [Key]) that mean something within one Trace only; the
// constants of Cat and Key are the same in all.
//
// To look at a trace, range over its events:
//
//	for e := range t.Events(trace.CatKernel) {
//		fmt.Println(e.Name(), e.Dur(), e.TextByName("stream"))
//	}
//
// Loops over all events use [Trace.Columns]. Names are interned: an analysis looks at
// each distinct name once, by its StringID, and not at each event.
//
// To make one, as a reader of another format does:
//
//	b := trace.NewBuilder()
//	device, stream := b.Intern([]byte("0")), b.Intern([]byte("7"))
//	b.Add(&trace.Row{
//		Phase: trace.Complete, Name: b.Intern([]byte("gemm")), Cat: trace.CatKernel,
//		Track: b.Track(device, stream), Start: 1000, Dur: 250, Offset: -1,
//	})
//	t := b.Build()
//
// A reader that works on a file with several goroutines gives each a Builder for parts
// ([NewPartBuilder], [Builder.Cut]) and appends the parts to one Builder ([Builder.Append]),
// in the order of the file. The Trace is the same, whoever read which part.
//
// Building never drops an event without saying so: each kind of damage is a row of the
// table in problem.go and is counted in [Trace.Problems] with its first place.
//
// # Files
//
// What a Trace is:
//
//	trace.go     Trace, and how to get at what it holds
//	event.go     Event: one row, with its arguments
//	columns.go   Columns and Phase; how rows are moved, dropped and selected
//	category.go  Cat: the categories that have constants, and a table for others
//	keys.go      Key: the same for the names of arguments
//	args.go      Arg, and the table of all arguments
//	strings.go   StringID, and the table of all texts
//	numbers.go   ID, and the table of large numbers
//	tracks.go    Track, the table of tracks and their order
//	meta.go      what a recording says of itself as a whole
//	problem.go   the kinds of damage, what they mean and what to do
//	select.go    a small trace of some rows of another
//
// How it comes about:
//
//	builder.go   Builder and Row
//	labels.go    names and places of processes and threads, of which the latest counts
//	part.go      Part: rows that several goroutines read for one Builder
//	append.go    a Part becomes part of a Builder
//	build.go     the steps from rows in any order to a Trace; parents
//	order.go     the order of rows
//	pairs.go     begin and end events become complete ones
//	parallel.go  loops over rows and tracks on several cores
//	size.go      what all this takes in memory
package trace
