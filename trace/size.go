package trace

// What one entry of a table takes in memory, in bytes. A map is reckoned at the load
// that it has on average.
const (
	rowBytes     = 8 + 8 + 4 + 2 + 1 + 4 + 4 + 4 + 4
	partRowBytes = 48
	moveBytes    = 4 + 8 + 4 // a row's place in the order, room to move a value of it, its parent
	argBytes     = 2 + 1 + 8
	threadBytes  = 16 + 8  // without the text of the name
	processBytes = 4 + 40  // the same, in a map
	orderBytes   = 16 + 24 // to put a track in order
	builtBytes   = 5*16 + 5*8
	factBytes    = 48   // what those who go over tracks or large ids note of one
	rankBytes    = 2400 // the facts of a process in which next to nothing happens, and its lines in a report
	namingBytes  = 56
)

func (t *argTable) bytes() int64 {
	n := int64(len(t.free)) * chunkLen
	if k := len(t.chunks); k > 0 {
		n += int64(k-1)*chunkLen + int64(cap(t.chunks[k-1].keys))
	}
	return n * argBytes
}
