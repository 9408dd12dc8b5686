// Package input is where the bytes of a trace come from: a file that can be read at any
// offset, a file that is mapped, or a stream that is decompressed once, from start to end.
// All of them are seen through a Window, whose text is followed by padding, so that scans
// need not check for its end at every byte.
//
// A Text is one input with all the ways to reach its bytes. Its Chunks give the same bytes
// to several workers at once.
//
//	window.go   Window: the part of the input that is in memory
//	text.go     Text: an input, and how to go elsewhere in it
//	chunks.go   Chunks: the text in pieces of one size, for workers
//	mapped.go   Mapped: a file in memory, read without a copy
//	ring.go     ring: a stream that is read ahead into a few segments
//	segment.go  segment: a buffer of the ring, and who uses it
//
// Nothing here knows JSON.
package input
