// Package chrome reads and writes the Chrome trace-event format as PyTorch's
// Kineto writes it, and as written by other tools, including truncated or corrupt files.
//
// Reading is one pass over a reused window of the input:
//
//  1. Read splits the input into documents, and a document into header and events.
//  2. An event is read strictly by RFC 8259; or, if it repeats the byte layout of an
//     earlier one, by what was learned from that (package event).
//  3. What breaks a rule is scanned again by the careful rules (package token), which
//     repair damage and count it with its offset.
//  4. What cannot be repaired is dropped and reported, and reading resumes at the next
//     event (resync.go).
//
// The events of a large file are read ahead on all cores, and used only where that is
// certain to be what a single reader would have read (package pool).
//
// So text that follows the rules never meets a repair, and text that breaks one
// never passes without a Problem. Nothing recurses over the input.
//
// It rests on packages of its own, each of which imports only those listed before it:
//
//	scan      JSON as bytes: pure functions
//	input     where bytes come from: window, mapped file, ring of segments
//	token     JSON values by strict or careful rules
//	template  what is learned from the events before
//	event     events into a trace.Builder
//	pool      workers that read chunks of an event list ahead
//
// and the files of this one, which know documents:
//
//	read.go         Options, Read, and the traces that come of it
//	document.go     the documents of an input, and what is kept of one while it is read
//	header.go       the entries around the event list
//	meta.go         what some of these entries say
//	list.go         the event list
//	ahead.go        the pool of workers: when there is one, and what it hands over
//	resync.go       where reading resumes after damage
//	memory.go       how much memory reading takes, and whether it may
//	refuse.go       what an input is that is not a trace
//	xla.go          traces of JAX and TensorFlow
//	write.go        Write: events
//	writeheader.go  the entries around them
package chrome
