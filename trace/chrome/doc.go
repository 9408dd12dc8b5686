// Package chrome reads and writes the Chrome trace-event format as PyTorch's
// Kineto writes it, and as written by other tools, including truncated or corrupt files.
//
// Reading is one pass over a reused window of the input:
//
//  1. Read splits the input into documents and a document into header and events.
//  2. Each event is read by the rules of RFC 8259 and nothing else, or, where it repeats
//     the byte layout of an earlier one, by what was learned from that (package event).
//  3. What breaks a rule is scanned again by the careful rules (package token), which
//     repair and count each damage with its place.
//  4. What cannot be repaired is left out, counted, and reading goes on at the next event
//     (resync.go).
//
// The events of a large file are read ahead on all cores, and taken over where that
// is certain to be what one reader alone would read (package pool).
//
// So text that follows the rules never meets a repair, and text that breaks one
// never passes without a Problem. Nothing recurses over the input.
//
// The packages below it, each of which imports only those that stand before it here:
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
//	ahead.go        the pool: when it is formed, what is taken over from it
//	resync.go       where reading goes on behind damage
//	memory.go       what reading takes, and whether it may
//	refuse.go       what an input is that is no trace
//	xla.go          traces of JAX and TensorFlow
//	write.go        Write: events
//	writeheader.go  the entries around them
package chrome
