package trace

import "slices"

// renumbering says which numbers those of one Builder for parts have in the Builder that
// its parts are appended to: one more than the number, 0 where that was not asked yet. It
// goes from part to part, so that each name is looked up once and not once per part.
// Only Append looks at it, so the goroutine that fills the next part may run meanwhile.
type renumbering struct {
	strs, tracks []uint32
	cats, keys   []int    // all of them are asked
	args         []uint32 // of the part at hand

	list   []Arg  // scratch
	looked uint32 // so that the compiler keeps the first looks of findNames
}

// appending is one call of Builder.Append: what p holds becomes part of to.
type appending struct {
	to *Builder
	p  *Part
	*renumbering
}

// ahead is how many rows are added at a time.
const ahead = 32

func (a *appending) all() {
	a.prepare()
	for rows := a.p.rows; len(rows) > 0; rows = rows[min(len(rows), ahead):] {
		a.rows(rows[:min(len(rows), ahead)])
	}
	for _, l := range a.p.labels {
		a.label(l)
	}
	for _, q := range a.p.probs {
		a.to.Problems(q.Code, q.Count, q.Offset, q.Detail)
	}
}

// prepare makes room for the numbers in the part and asks for its categories and keys.
func (a *appending) prepare() {
	r, p := a.renumbering, a.p
	r.strs = append(r.strs, make([]uint32, len(p.texts.places)-len(r.strs))...)
	r.tracks = append(r.tracks, make([]uint32, len(p.tracks)-len(r.tracks))...)
	for _, name := range p.cats[len(r.cats):] {
		c, _ := a.to.cats.intern([]byte(name))
		r.cats = append(r.cats, int(c))
	}
	for _, name := range p.keys[len(r.keys):] {
		r.keys = append(r.keys, int(a.to.keys.intern([]byte(name))))
	}
	n := p.args.count() + 1
	r.args = slices.Grow(r.args[:0], n)[:n]
	clear(r.args)
}

// rows adds some rows of the part.
func (a *appending) rows(rows []partRow) {
	a.findNames(rows)
	c, first, ids := &a.to.t.col, a.to.Len(), &a.to.t.ids
	c.lengthen(len(rows))
	for k := range rows {
		r, i := &rows[k], first+k
		c.Start[i], c.Dur[i] = r.start, r.dur
		c.Corr[i], c.External[i] = ids.id(r.corr), ids.id(r.external)
		c.Name[i] = StringID(a.strs[r.name] - 1)
		c.Track[i], c.Args[i] = a.track(r.track), a.argList(r.args)
		c.Cat[i], c.Phase[i] = Cat(a.cats[r.cat]), r.phase
	}
}

// findNames looks up the names of some rows. The searches for new ones wait for memory
// together and not one behind the other: a first look at where each begins is enough for
// that.
func (a *appending) findNames(rows []partRow) {
	table := &a.to.t.strings
	var hashes [ahead]uint32
	for i := range rows {
		if id := rows[i].name; a.strs[id] == 0 {
			hashes[i] = hashString(a.p.texts.at(id))
			a.looked ^= table.slots[table.first(hashes[i])].id1
		}
	}
	for i := range rows {
		if id := rows[i].name; a.strs[id] == 0 {
			a.strs[id] = uint32(table.internString(a.p.texts.at(id), hashes[i])) + 1
		}
	}
}

// string returns what the string id of the part is in the Builder.
func (a *appending) string(id StringID) StringID {
	known := &a.strs[id]
	if *known == 0 {
		s := a.p.texts.at(id)
		*known = uint32(a.to.t.strings.internString(s, hashString(s))) + 1
	}
	return StringID(*known - 1)
}

// track returns what the track id of the part is in the Builder.
func (a *appending) track(id TrackID) TrackID {
	known := &a.tracks[id]
	if *known == 0 {
		pid, tid := trackIDs(a.p.tracks[id])
		pid = a.string(pid)
		*known = uint32(a.to.Track(pid, a.string(tid))) + 1
	}
	return TrackID(*known - 1)
}

// argList stores the arguments that stand in the part at ref, once for all rows that
// share them, and returns the reference that they have in the Builder.
func (a *appending) argList(ref uint32) uint32 {
	known := &a.args[ref]
	if *known != 0 || ref == 0 {
		return *known
	}
	a.list = a.p.args.appendTo(a.list[:0], ref)
	for i := range a.list {
		arg := &a.list[i]
		arg.Key = Key(a.keys[arg.Key])
		if arg.Kind != Int {
			arg.Str = a.string(arg.Str)
		}
	}
	*known = a.to.t.args.add(a.list)
	return *known
}

// label says of the Builder what l says of the part.
func (a *appending) label(l label) {
	if l.what.ofThread() {
		l.track = a.track(l.track)
	} else {
		l.pid = a.string(l.pid)
	}
	a.to.label(l)
}
