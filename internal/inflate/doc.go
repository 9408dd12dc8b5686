// Package inflate decompresses gzip (RFC 1952, RFC 1951) straight into large buffers of
// its caller, about twice as fast as libraries that copy out of a window of their own.
//
//  1. Reader.Fill appends to text that is already in the caller's buffer. The bytes
//     that a match refers to are found there, so nothing is copied twice.
//  2. While there is slack in input and output, fast decodes symbols through tables
//     whose entries hold a whole symbol, or up to three literals. Near the ends the
//     steps of block.go take over, symbol by symbol and not one bit too far.
//  3. What is valid, what is delivered before an error and what counts as one is the
//     same as in compress/gzip; tests compare the two.
//
// # Files
//
//	inflate.go  Reader, Filler and Error; the state machine from member to member and block to block
//	member.go   the header and the trailer of a gzip member
//	block.go    the blocks of deflate; can stop and go on after every byte
//	fast.go     the same for most of the data, without a check per byte
//	codes.go    Huffman codes as lookup tables
//	lengths.go  the description of those codes at the head of a block
//	input.go    the compressed bytes, and the bits ready to be looked at
//	output.go   the buffer of the caller, and the checksum of what was put there
package inflate
