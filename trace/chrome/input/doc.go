// Package input is where the bytes of a trace come from: a file that can be read at
// any place, a file that is mapped, or a stream that is decompressed once, from its
// beginning on. All of them are looked at through a Window, in which text stands with
// padding behind it, so that scans need not ask at every byte where it ends.
//
// A Text is one input with all the ways to reach it. Its Chunks give the same bytes
// to several workers at once.
//
//	window.go   Window: the part of the input that is in memory
//	text.go     Text: an input, and how to go back in it
//	chunks.go   Chunks: the text for workers, in pieces of one size; those of a file
//	mapped.go   Mapped: a file in memory, lent to workers without a copy
//	ring.go     ring: a stream that is read ahead into a few segments
//	segment.go  segment: a buffer of the ring, and who looks at it
//
// It knows nothing of JSON.
package input
