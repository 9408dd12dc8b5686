package trace

// Part is a stretch of rows that one Builder made and another takes over, with
// their names, arguments and problems. So several goroutines can each read a
// stretch of a file into a Builder of their own. Its zero value is empty; its room
// is used again when it is cut once more.
type Part struct {
	rows   []partRow
	args   argTable
	labels []label
	probs  []Problem

	// What the numbers in the rows stand for. These grow while the next part is
	// made; what is here of them does not change.
	texts      texts
	cats, keys []string
	tracks     []uint64     // see trackKey
	known      *renumbering // what Append found out so far; no one else looks at it
}

// partRow is a row of a part: all of it is written at once and read at once, so it stands
// together, and not in columns as in a Trace.
type partRow struct {
	start, dur, corr, external int64
	name                       StringID
	track                      TrackID
	args                       uint32
	cat                        Cat
	phase                      Phase
}

// uncut is what a Builder for parts holds beside its tables: what goes into the next part.
// In a Builder that makes a Trace itself it is empty.
type uncut struct {
	rows   []partRow
	labels []label
	known  *renumbering // of this Builder, handed on with each of its parts
}

// NewPartBuilder returns a Builder whose rows are handed over by Cut instead of
// being built. Ids that it gives stay good from part to part.
func NewPartBuilder() *Builder {
	b := NewBuilder()
	b.uncut.known = new(renumbering)
	return b
}

// forParts reports whether b comes from NewPartBuilder.
func (b *Builder) forParts() bool { return b.uncut.known != nil }

// Cut moves the rows, names and problems that were added since the last Cut into
// p, whose own contents are lost. b must come from NewPartBuilder.
func (b *Builder) Cut(p *Part) {
	p.args.empty()
	b.t.args.swap(&p.args)
	p.rows, b.uncut.rows = b.uncut.rows, p.rows[:0]
	p.labels, b.uncut.labels = b.uncut.labels, p.labels[:0]
	p.probs, b.probs = b.probs.list, problemList{}
	p.texts = b.t.strings.texts
	p.cats, p.keys = b.cats.names, b.keys.names
	p.tracks, p.known = b.tracks.nums, b.uncut.known
}

// Full reports whether the categories or the keys have reached their limits, or may have
// without being asked for once more. Then b holds other rows than it would if the
// rows of appended parts had been added to it one by one.
func (b *Builder) Full() bool { return b.cats.full() || b.keys.full() }

// Append adds what p holds behind all rows of b, as if it had been added to b in
// the first place; but see Full. p can be cut again afterwards. Each part
// of one Builder must be appended to the same b, in the order of the cuts, or be
// dropped. What b.Meta says is no part of it.
func (b *Builder) Append(p *Part) {
	a := appending{to: b, p: p, renumbering: p.known}
	a.all()
	p.texts = texts{} // of a Builder that may be gone before p is cut again
}

// Len is the number of rows in p.
func (p *Part) Len() int { return len(p.rows) }

// Bytes is how much memory the room of p takes that is its own, in bytes.
func (p *Part) Bytes() int64 {
	return int64(cap(p.rows))*partRowBytes + p.args.bytes() + int64(cap(p.labels))*labelBytes
}
