package trace

import (
	"math"
	"slices"
)

// Part is a stretch of rows that one Builder made and another takes over, with
// their names, arguments and problems. So several goroutines can each read a
// stretch of a file into a Builder of their own. Its zero value is empty; its room
// is used again when it is cut once more.
type Part struct {
	rows  []partRow
	args  argTable
	named []naming
	probs []Problem

	// What the numbers in the rows stand for. These grow while the next part is
	// made; what is here of them does not change.
	texts      texts
	cats, keys []string
	tracks     []uint64 // see trackKey
	ids        *renumbering
}

// partRow is a row of a part: all of it is written at once and read at once, so it stands
// together.
type partRow struct {
	start, dur, corr, external int64
	name                       StringID
	track                      TrackID
	args                       uint32
	cat                        Cat
	phase                      Phase
}

// renumbering says which numbers those of one Builder have in the one that its
// parts are appended to: one more than the number, 0 where that was not asked yet.
// Only Append looks at it.
type renumbering struct {
	strs, tracks []uint32
	cats, keys   []int // all of them are asked
	args         []uint32
}

// NewPartBuilder returns a Builder whose rows are handed over by Cut instead of
// being built. Ids that it gives stay good from part to part.
func NewPartBuilder() *Builder {
	b := NewBuilder()
	b.ids = new(renumbering)
	return b
}

// Len is the number of rows in p.
func (p *Part) Len() int { return len(p.rows) }

// Cut moves the rows, names and problems that were added since the last Cut into
// p, whose own contents are lost. b must come from NewPartBuilder.
func (b *Builder) Cut(p *Part) {
	p.args.empty()
	p.rows, b.rows = b.rows, p.rows[:0]
	p.args.chunks, b.t.args.chunks = b.t.args.chunks, p.args.chunks
	p.args.free, b.t.args.free = b.t.args.free, p.args.free
	b.t.args.recent = [len(b.t.args.recent)]uint32{}
	p.named, b.named = b.named, p.named[:0]
	p.probs, b.probs = b.probs.list, problemList{}
	p.texts, p.ids = b.t.strings.texts, b.ids
	p.cats, p.keys, p.tracks = b.cats.names, b.t.keys, b.tracks.nums
}

// Full reports whether the categories or the keys have reached their limits, or may have
// without being asked for once more. Then b holds other rows than it would if the
// rows of appended parts had been added to it one by one.
func (b *Builder) Full() bool { return len(b.cats.names) >= maxCats || len(b.t.keys) > math.MaxUint16 }

// Append adds what p holds behind all rows of b, as if it had been added to b in
// the first place; but see Full. p can be cut again afterwards. Each part
// of one Builder must be appended to the same b, in the order of the cuts, or be
// dropped. What b.Meta says is no part of it.
func (b *Builder) Append(p *Part) {
	b.renumber(p)
	for rows := p.rows; len(rows) > 0; rows = rows[min(len(rows), ahead):] {
		b.appendRows(p, rows[:min(len(rows), ahead)])
	}
	for _, n := range p.named {
		b.appendName(p, n)
	}
	for _, q := range p.probs {
		b.Problems(q.Code, q.Count, q.Offset, q.Detail)
	}
	p.texts = texts{} // of a Builder that may be gone before p is cut again
}

// renumber makes room for the numbers in p and asks for its categories and keys.
func (b *Builder) renumber(p *Part) {
	r := p.ids
	r.strs = append(r.strs, make([]uint32, len(p.texts.places)-len(r.strs))...)
	r.tracks = append(r.tracks, make([]uint32, len(p.tracks)-len(r.tracks))...)
	for _, name := range p.cats[len(r.cats):] {
		c, _ := b.cats.intern([]byte(name))
		r.cats = append(r.cats, int(c))
	}
	for _, name := range p.keys[len(r.keys):] {
		r.keys = append(r.keys, int(b.Key([]byte(name))))
	}
	n := 1
	for _, c := range p.args.chunks {
		n += len(c.keys)
	}
	r.args = slices.Grow(r.args[:0], n)[:n]
	clear(r.args)
}

// ahead is how many rows are added at a time.
const ahead = 32

// appendRows adds some rows of p.
func (b *Builder) appendRows(p *Part, rows []partRow) {
	b.findNames(p, rows)
	c, first := &b.t.col, b.Len()
	c.lengthen(len(rows))
	for k := range rows {
		r, i := &rows[k], first+k
		c.Start[i], c.Dur[i] = r.start, r.dur
		c.Corr[i], c.External[i] = b.t.ids.id(r.corr), b.t.ids.id(r.external)
		c.Name[i], c.Track[i], c.Args[i] = StringID(p.ids.strs[r.name]-1), b.trackOf(p, r.track), b.argsOf(p, r.args)
		c.Cat[i], c.Phase[i] = Cat(p.ids.cats[r.cat]), r.phase
	}
}

// lengthen adds n rows, to be filled.
func (c *Columns) lengthen(n int) {
	c.Start, c.Dur = longer(c.Start, n), longer(c.Dur, n)
	c.Name, c.Cat = longer(c.Name, n), longer(c.Cat, n)
	c.Phase, c.Track = longer(c.Phase, n), longer(c.Track, n)
	c.Corr, c.External = longer(c.Corr, n), longer(c.External, n)
	c.Args = longer(c.Args, n)
}

func longer[T any](col []T, n int) []T { return slices.Grow(col, n)[:len(col)+n] }

// findNames makes b know the names of some rows of p. The searches for new ones wait for
// memory together and not one behind the other: a first look at where each begins is
// enough for that.
func (b *Builder) findNames(p *Part, rows []partRow) {
	table := &b.t.strings
	var hashes [ahead]uint32
	for i := range rows {
		if id := rows[i].name; p.ids.strs[id] == 0 {
			hashes[i] = hashString(p.texts.at(id))
			b.looked ^= table.slots[table.first(hashes[i])].id1
		}
	}
	for i := range rows {
		if id := rows[i].name; p.ids.strs[id] == 0 {
			p.ids.strs[id] = uint32(table.internString(p.texts.at(id), hashes[i])) + 1
		}
	}
}

// stringOf is what the string id of p is in b.
func (b *Builder) stringOf(p *Part, id StringID) StringID {
	known := &p.ids.strs[id]
	if *known == 0 {
		s := p.texts.at(id)
		*known = uint32(b.t.strings.internString(s, hashString(s))) + 1
	}
	return StringID(*known - 1)
}

// trackOf is what the track id of p is in b.
func (b *Builder) trackOf(p *Part, id TrackID) TrackID {
	known := &p.ids.tracks[id]
	if *known == 0 {
		pid, tid := trackIDs(p.tracks[id])
		pid = b.stringOf(p, pid)
		*known = uint32(b.Track(pid, b.stringOf(p, tid))) + 1
	}
	return TrackID(*known - 1)
}

// argsOf stores the arguments that stand in p at ref in b, once for all rows that
// share them.
func (b *Builder) argsOf(p *Part, ref uint32) uint32 {
	known := &p.ids.args[ref]
	if *known != 0 || ref == 0 {
		return *known
	}
	args := b.list[:0]
	for i := ref - 1; ; i++ {
		a, last := p.args.at(i)
		a.Key = Key(p.ids.keys[a.Key])
		if a.Kind != Int {
			a.Str = b.stringOf(p, a.Str)
		}
		args = append(args, a)
		if last {
			break
		}
	}
	b.list = args
	*known = b.t.args.add(args)
	return *known
}

// appendName says of b what n says of p.
func (b *Builder) appendName(p *Part, n naming) {
	if n.what == threadName || n.what == threadSort {
		n.track = b.trackOf(p, n.track)
	} else {
		n.pid = b.stringOf(p, n.pid)
	}
	b.name(n)
}

// Bytes is how much memory the room of p takes that is its own, in bytes.
func (p *Part) Bytes() int64 {
	return int64(cap(p.rows))*partRowBytes + p.args.bytes() + int64(cap(p.named))*namingBytes
}
