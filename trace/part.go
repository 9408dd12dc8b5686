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
	col   Columns
	args  argTable
	named []naming
	probs []Problem

	// What the numbers in the rows stand for. These grow while the next part is
	// made; what is here of them does not change.
	texts      texts
	cats, keys []string
	tracks     []uint64 // see trackKey
	nums       []uint64 // large ids
	ids        *renumbering
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
func (p *Part) Len() int { return len(p.col.Start) }

// Cut moves the rows, names and problems that were added since the last Cut into
// p, whose own contents are lost. b must come from NewPartBuilder.
func (b *Builder) Cut(p *Part) {
	p.col.empty()
	p.args.empty()
	p.col, b.t.col = b.t.col, p.col
	p.args.chunks, b.t.args.chunks = b.t.args.chunks, p.args.chunks
	p.args.free, b.t.args.free = b.t.args.free, p.args.free
	b.t.args.recent = [len(b.t.args.recent)]uint32{}
	p.named, b.named = b.named, p.named[:0]
	p.probs, b.probs = b.probs.list, problemList{}
	p.texts, p.cats, p.keys, p.tracks, p.ids = b.t.strings.texts, b.cats.names, b.t.keys, b.tracks.nums, b.ids
	p.nums = b.t.ids.nums
}

// empty takes all rows out and keeps their room.
func (c *Columns) empty() {
	c.Start, c.Dur, c.Name, c.Cat = c.Start[:0], c.Dur[:0], c.Name[:0], c.Cat[:0]
	c.Phase, c.Track, c.Corr = c.Phase[:0], c.Track[:0], c.Corr[:0]
	c.External, c.Args = c.External[:0], c.Args[:0]
}

// Full tells that the categories or the keys have reached their limits, or may have
// without being asked for once more. Then b holds other rows than it would if the
// rows of appended parts had been added to it one by one.
func (b *Builder) Full() bool { return len(b.cats.names) >= maxCats || len(b.t.keys) > math.MaxUint16 }

// Append adds what p holds behind all rows of b, as if it had been added to b in
// the first place; but see Full. p can be cut again afterwards. Each part
// of one Builder must be appended to the same b, in the order of the cuts, or be
// dropped. What b.Meta says is no part of it.
func (b *Builder) Append(p *Part) {
	b.renumber(p)
	c := &b.t.col
	c.Start, c.Dur = append(c.Start, p.col.Start...), append(c.Dur, p.col.Dur...)
	c.Corr = b.t.ids.appendIDs(c.Corr, p.col.Corr, p.nums)
	c.External = b.t.ids.appendIDs(c.External, p.col.External, p.nums)
	c.Phase = append(c.Phase, p.col.Phase...)
	b.appendNames(p)
	for _, id := range p.col.Track {
		c.Track = append(c.Track, b.trackOf(p, id))
	}
	for _, id := range p.col.Cat {
		c.Cat = append(c.Cat, Cat(p.ids.cats[id]))
	}
	for _, ref := range p.col.Args {
		c.Args = append(c.Args, b.argsOf(p, ref))
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

// ahead is how many names are looked up at a time.
const ahead = 32

// appendNames adds the names of the rows of p. The searches for new ones wait for
// memory together and not one behind the other: a first look at where each begins is
// enough for that.
func (b *Builder) appendNames(p *Part) {
	c, table := &b.t.col, &b.t.strings
	var hashes [ahead]uint32
	for names := p.col.Name; len(names) > 0; names = names[min(len(names), ahead):] {
		some := names[:min(len(names), ahead)]
		for i, id := range some {
			if p.ids.strs[id] == 0 {
				hashes[i] = hashString(p.texts.at(id))
				b.looked ^= table.slots[table.first(hashes[i])].id1
			}
		}
		for i, id := range some {
			known := &p.ids.strs[id]
			if *known == 0 {
				*known = uint32(table.internString(p.texts.at(id), hashes[i])) + 1
			}
			c.Name = append(c.Name, StringID(*known-1))
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
