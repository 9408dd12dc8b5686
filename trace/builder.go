package trace

import (
	"math"
	"slices"
)

// Row is one event on its way into a Trace. The reader owns it and may fill it anew after
// each Add. Names, categories, keys and tracks are those that the same Builder gave.
type Row struct {
	Start, Dur int64    // ns
	Name       StringID // 0 for none
	Cat        Cat      // CatNone for none
	Phase      Phase
	Track      TrackID
	Corr       int64  // correlation id, or the id of a flow; 0 for none
	External   int64  // External id; 0 for none
	Offset     int64  // bytes of the decompressed input before it; -1 where it has no place
	NoDur      bool   // a complete event whose duration is absent
	Args       []Arg  // copied by Add
	Stored     Stored // where it is not 0, instead of Args
}

// Builder collects rows in any order and makes a Trace of them. It is used once and by one
// goroutine; several goroutines each fill a Builder of their own and hand its rows over as
// Parts. A reader adds rows with Add, and says what is damaged with Problem: the Builder
// repairs what no format allows, such as negative durations, by itself.
type Builder struct {
	t      Trace
	cats   catTable
	keys   map[string]Key
	tracks trackTable
	procs  map[StringID]process
	probs  problemList

	nameText int64        // bytes of the names of processes and tracks
	ids      *renumbering // of a Builder for parts
	rows     []partRow    // likewise: since the last Cut
	named    []naming     // of a Builder for parts: since the last Cut
	list     []Arg        // scratch
	looked   uint32       // so that a first look is not left out
}

// NewBuilder returns an empty Builder.
func NewBuilder() *Builder {
	b := &Builder{cats: newCatTable(), keys: make(map[string]Key, 64)}
	b.procs = make(map[StringID]process)
	b.t.strings = newStringTable()
	b.t.keys = append(b.t.keys, keyNames[:]...)
	for k, name := range keyNames {
		b.keys[name] = Key(k)
	}
	return b
}

// Reserve makes room for n rows in all, so that columns are not copied while
// they grow. Room in columns that is not used costs address space, not memory.
func (b *Builder) Reserve(n int) {
	c := &b.t.col
	switch {
	case b.ids != nil:
		b.rows = slices.Grow(b.rows, max(n-len(b.rows), 0))
		return
	case n <= cap(c.Start):
		return
	}
	c.Start, c.Dur = reserve(c.Start, n), reserve(c.Dur, n)
	c.Corr, c.External = reserve(c.Corr, n), reserve(c.External, n)
	c.Name, c.Track, c.Args = reserve(c.Name, n), reserve(c.Track, n), reserve(c.Args, n)
	c.Cat, c.Phase = reserve(c.Cat, n), reserve(c.Phase, n)
}

// reserve copies in pieces: nothing interrupts a copy, and a collector that waits for its
// end keeps another core busy.
func reserve[T any](col []T, n int) []T {
	grown := make([]T, len(col), n)
	for i := 0; i < len(col); {
		i += copy(grown[i:], col[i:min(i+1<<14, len(col))])
	}
	return grown
}

// Len is the number of rows added so far.
func (b *Builder) Len() int { return len(b.t.col.Start) + len(b.rows) }

// NumStrings is the number of distinct strings interned so far.
func (b *Builder) NumStrings() int { return len(b.t.strings.places) }

// Intern returns the id of s, which is copied when it is new.
func (b *Builder) Intern(s []byte) StringID { return b.t.strings.intern(s) }

// String returns the text of id.
func (b *Builder) String(id StringID) string { return b.t.strings.at(id) }

// Cat returns the category called name; older names give the category of today.
func (b *Builder) Cat(name []byte) Cat {
	c, ok := b.cats.intern(name)
	if !ok {
		b.Problem(TooManyCategories, -1, string(name))
	}
	return c
}

// Key returns the argument key called name.
func (b *Builder) Key(name []byte) Key {
	if k, ok := b.keys[string(name)]; ok {
		return k
	}
	if len(b.t.keys) > math.MaxUint16 {
		return KeyNone
	}
	k := Key(len(b.t.keys))
	b.t.keys = append(b.t.keys, string(name))
	b.keys[b.t.keys[k]] = k
	return k
}

// FixedKey returns the key called name if it is one that the analysis asks for.
func FixedKey(name []byte) (Key, bool) {
	k, ok := fixedKeys[string(name)]
	return k, ok
}

var fixedKeys = func() map[string]Key {
	m := make(map[string]Key, numFixedKeys)
	for k := KeyNone + 1; k < numFixedKeys; k++ {
		m[keyNames[k]] = k
	}
	return m
}()

// Track returns the track of a process and a thread, both as text.
func (b *Builder) Track(pid, tid StringID) TrackID { return b.tracks.id(trackKey(pid, tid)) }

// Tracks returns the tracks added so far, by TrackID, with the names known now.
func (b *Builder) Tracks() []Track { return b.tracksOf(b.allTracks()) }

// Recategorize gives each row the category that pick returns for it: readers of
// files without categories know them only when the tracks have their names. Of
// the row's fields only Start, Dur, Cat, Phase, Track, Corr and External are set.
func (b *Builder) Recategorize(pick func(r *Row, name string) Cat) {
	c := &b.t.col
	for i := range c.Start {
		r := Row{Start: c.Start[i], Dur: c.Dur[i], Cat: c.Cat[i], Phase: c.Phase[i], Track: c.Track[i],
			Corr: b.t.Number(c.Corr[i]), External: b.t.Number(c.External[i]), Offset: -1}
		c.Cat[i] = pick(&r, b.String(c.Name[i]))
	}
}

// Meta is what the recording says of itself, for the reader to fill.
func (b *Builder) Meta() *Meta { return &b.t.meta }

// Problem counts one case of damage at a byte offset (-1: no place).
func (b *Builder) Problem(code Code, offset int64, detail string) {
	b.probs.add(code, 1, offset, detail)
}

// Problems counts n cases of damage, of which the first stands at offset.
func (b *Builder) Problems(code Code, n, offset int64, detail string) {
	b.probs.add(code, n, offset, detail)
}

// Add appends one event. Impossible durations are repaired and counted.
func (b *Builder) Add(r *Row) {
	if r.Dur < 0 {
		b.Problem(NegativeDuration, r.Offset, "")
		r.Dur = 0
	}
	if r.NoDur && r.Phase == Complete {
		b.Problem(MissingDuration, r.Offset, "")
	}
	if r.Start > 0 && r.Dur > math.MaxInt64-r.Start {
		b.Problem(NumberRange, r.Offset, "end of event")
		r.Dur = 0
	}
	if r.Stored == 0 {
		r.Stored = b.Store(r.Args)
	}
	if b.ids != nil {
		b.rows = append(b.rows, partRow{
			r.Start, r.Dur, r.Corr, r.External, r.Name, r.Track, uint32(r.Stored), r.Cat, r.Phase,
		})
		return
	}
	c := &b.t.col
	c.Start, c.Dur = append(c.Start, r.Start), append(c.Dur, r.Dur)
	c.Name, c.Cat = append(c.Name, r.Name), append(c.Cat, r.Cat)
	c.Phase, c.Track = append(c.Phase, r.Phase), append(c.Track, r.Track)
	c.Corr, c.External = append(c.Corr, b.t.ids.id(r.Corr)), append(c.External, b.t.ids.id(r.External))
	c.Args = append(c.Args, uint32(r.Stored))
}

// Stored stands for arguments that a Builder holds, until the next Cut. 0 is none.
type Stored uint32

// Store keeps the arguments of events to come.
func (b *Builder) Store(args []Arg) Stored { return Stored(b.t.args.add(args)) }

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
	processes, ids := int64(len(b.tracks.pids.nums)), int64(len(b.t.ids.nums))
	return int64(b.Len())*moveBytes + tracks*(orderBytes+builtBytes+factBytes) + processes*rankBytes + ids*factBytes/2
}
