package ranks

import "github.com/gaprof/gaprof/analyze/timeline"

// item is one collective of a rank in the sequence of its process group. Matching compares
// items of all ranks again and again, so it holds small copies with texts as numbers.
type item struct {
	collective int32 // index into Rank.Collectives
	kernel     int32 // the kernel's name, numbered over all ranks
	dtype      int32 // the element type, numbered likewise; 0 unknown
	kind       timeline.CollectiveKind
	described  bool   // its message was recorded; else only the kernel's name is known
	in, out    int64  // elements of the message, 0 unknown
	seq        int64  // sequence number in the group, -1 unknown
	comms      uint64 // what the same operation has on all ranks, 0 unknown
	captured   int64  // sequence number at the capture of the graph that replays it, -1 unknown
	start, end int64  // ns on the rank's clock, with the recording's base time added
}

// compatible reports whether two items can be the same collective on two ranks: their
// kernels have the same name, and what is known of both messages agrees. What only one of
// the two knows never speaks against it, since traces drop arguments.
func (a *item) compatible(b *item) bool {
	if a.kernel != b.kernel {
		return false
	}
	if !a.described || !b.described {
		return true
	}
	if a.kind != b.kind || !sameType(a, b) || !sameCapture(a, b) {
		return false
	}
	// The sizes of all-to-all, gather, scatter and point-to-point messages differ by rank.
	if a.kind == timeline.AllToAll || a.kind == timeline.Reduce || a.kind == timeline.UnknownCollective {
		return true
	}
	return agree(a.in, b.in) && agree(a.out, b.out)
}

// same reports whether two items that have one number can be what that number says: what
// they do, of which type and how much, wherever both are known. Kernels need not have one
// name, since the number identifies them, nor need both sides of a message be equal: the
// parts of an uneven all-gather differ by rank, and the larger side is the same on all.
func (a *item) same(b *item) bool {
	switch {
	case !a.described || !b.described:
		return a.kernel == b.kernel
	case a.kind != b.kind || !sameType(a, b):
		return false
	}
	switch a.kind {
	case timeline.AllToAll, timeline.Reduce, timeline.UnknownCollective:
		return true
	}
	return agree(max(a.in, a.out), max(b.in, b.out))
}

// sameCapture reports whether two items can be the same part of a graph: every replay repeats
// the number that it had when the graph was captured.
func sameCapture(a, b *item) bool {
	return a.captured == b.captured || a.captured < 0 || b.captured < 0
}

// sameType reports whether the element types of two items can be the same.
func sameType(a, b *item) bool { return a.dtype == b.dtype || a.dtype == 0 || b.dtype == 0 }

// agree reports whether two sizes can be the same, 0 being unknown.
func agree(a, b int64) bool { return a == b || a == 0 || b == 0 }
