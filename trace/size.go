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

// Bytes is how much memory the rows and tables of b take, as far as they are filled:
// room in columns that was reserved and never written to takes none.
func (b *Builder) Bytes() int64 {
	tracks := &b.tracks
	n := int64(len(b.t.col.Start))*rowBytes + int64(cap(b.rows))*partRowBytes + b.t.strings.bytes() + b.t.args.bytes()
	n += tracks.bytes() + int64(len(tracks.threads))*threadBytes + int64(len(b.procs))*processBytes + b.t.ids.bytes()
	return n + b.nameText
}

// BuildBytes is how much more Build takes of memory, and those who derive facts of what
// it makes, in bytes: of tracks, processes and large ids, which can be as many as rows.
func (b *Builder) BuildBytes() int64 {
	tracks := int64(len(b.tracks.nums))
	return int64(b.Len())*moveBytes + tracks*(orderBytes+builtBytes+factBytes) + int64(len(b.tracks.pids.nums))*rankBytes + int64(len(b.t.ids.nums))*factBytes/2
}

// Bytes is how much memory the room of p takes that is its own, in bytes.
func (p *Part) Bytes() int64 {
	return int64(cap(p.rows))*partRowBytes + p.args.bytes() + int64(cap(p.named))*namingBytes
}

func (t *argTable) bytes() int64 {
	n := int64(len(t.free)) * chunkLen
	if k := len(t.chunks); k > 0 {
		n += int64(k-1)*chunkLen + int64(cap(t.chunks[k-1].keys))
	}
	return n * argBytes
}
