// Package trace is the model that every reader fills and every analysis reads:
// one recording of one process or one rank, as equal-length columns.
//
// A Trace is immutable and only a Builder makes one. Rows are grouped by track
// and, on a track, ordered by start, then longer first, so that a parent stands
// before its children. All times are integer nanoseconds on the clock of the
// recording; intervals are half-open, [Start, Start+Dur).
//
// Loops over few events use Trace.Events and the view that an Event is; loops over all of
// them use Trace.Columns. Names are interned: an analysis looks at each distinct name once,
// by its StringID, and not at each event.
//
// Building never loses an event in silence: each kind of damage is a row of the
// table in problem.go and is counted in Trace.Problems with its first place.
//
// # Files
//
//	trace.go     Trace, its columns, and Event, the view of one row
//	events.go    ranging over events, arguments by name
//	args.go      arguments of events: keys, kinds, the table that holds them
//	category.go  categories of events
//	meta.go      what a recording says of itself
//	problem.go   the kinds of damage, what they mean and what to do
//	tracks.go    tracks: host threads and device streams
//	naming.go    names and order of processes and threads
//	builder.go   Builder: rows, names and problems from a reader
//	part.go      Part: rows that several goroutines read for one Builder
//	build.go     Build: order, begin and end, parents
//	select.go    a trace of some rows of another
//	strings.go   the string table
//	id.go        correlation and other ids as columns hold them
//	numbers.go   a table of distinct numbers
//	size.go      what tables take in memory
//	parallel.go  work on many rows at once
package trace
