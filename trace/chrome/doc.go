// Package chrome reads and writes the Chrome trace-event format as PyTorch's
// Kineto writes it, and as other tools and damaged disks leave it.
//
// Reading is one pass over a reused window of the input:
//
//  1. Read splits the input into documents and a document into header and events.
//  2. Each event is scanned by the rules of RFC 8259 and nothing else (scan.go).
//  3. What breaks a rule is scanned again by the careful rules (careful.go),
//     which repair and count each damage with its place.
//  4. What cannot be repaired is left out, counted, and reading goes on at the
//     next event (resync.go).
//
// The events of a large file are read ahead on all cores, and taken over where that
// is certain to be what one reader alone would read (team.go).
//
// So text that follows the rules never meets a repair, and text that breaks one
// never passes without a Problem. Nothing recurses over the input.
package chrome
