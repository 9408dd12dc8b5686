package trace

// What one entry of a table takes in memory, in bytes. A map is reckoned at the load that
// it has on average. Readers ask for these sums while they read, to stay within a limit of
// memory: they are estimates that cost nothing, where asking the runtime would stop the
// world. Tests compare them with what the runtime says.
const (
	rowBytes     = 8 + 8 + 4 + 2 + 1 + 4 + 4 + 4 + 4 // one value of each column but Parent
	partRowBytes = 48                                // a partRow
	moveBytes    = 4 + 8 + 4                         // a row's place in the order, room to move a value, its parent
	argBytes     = 2 + 1 + 8                         // one value of each field of an argChunk
	threadBytes  = 16 + 8                            // a thread, without the text of its name
	processBytes = 78                                // the same of a process, in a map: 49 a slot, five in eight used
	orderBytes   = 16 + 24                           // to put a track in order
	builtBytes   = 5*16 + 5*8                        // a Track, without its texts
	factBytes    = 48                                // what those who go over tracks or large ids note of one
	rankBytes    = 2400                              // facts of a process that does next to nothing, and its report
	labelBytes   = 40                                // a label, without its text
)

func (t *argTable) bytes() int64 {
	n := int64(len(t.free)) * chunkLen
	if k := len(t.chunks); k > 0 {
		n += int64(k-1)*chunkLen + int64(cap(t.chunks[k-1].keys))
	}
	return n * argBytes
}
