package trace

import (
	"math"
	"slices"
)

// Row is one event on its way into a Trace. The reader owns it and may fill it anew after
// each Add. Names, categories, keys and tracks are those that the same Builder gave.
type Row struct {
	Start    int64    // ns on the clock of the recording
	Dur      int64    // ns; Add takes what is negative for 0
	Name     StringID // 0 for none
	Cat      Cat      // CatNone for none
	Phase    Phase    // Begin and End are paired by Build
	Track    TrackID  // from Builder.Track; 0 is the first one that it gave
	Corr     int64    // correlation id, or the id of a flow; 0 for none
	External int64    // External id; 0 for none
	Offset   int64    // bytes of the decompressed input before it; -1 where it has no place
	NoDur    bool     // it is a complete event whose duration is absent, which Add counts
	Args     []Arg    // copied by Add; nil where there are none
	Stored   Stored   // from Builder.Store; where it is not 0, it counts instead of Args
}

// Builder collects rows in any order and makes a Trace of them. It is used once and by one
// goroutine; several goroutines each fill a Builder of their own and hand its rows over as
// Parts. A reader adds rows with Add, and says what is damaged with Problem: the Builder
// repairs what no format allows, such as negative durations, by itself.
type Builder struct {
	// Each table interns one kind of thing and knows nothing of the others. What the
	// Builder adds is the order in which they are filled.

	t      Trace // to be: columns, strings, ids, arguments and Meta grow in place
	cats   catTable
	keys   keyTable
	tracks trackTable
	probs  problemList
	uncut  uncut // of a Builder for parts, which has no columns
}

// NewBuilder returns an empty Builder.
func NewBuilder() *Builder {
	b := &Builder{cats: newCatTable(), keys: newKeyTable()}
	b.t.strings = newStringTable()
	return b
}

// Reserve makes room for n rows in all, so that columns are not copied while
// they grow. Room in columns that is not used costs address space, not memory.
func (b *Builder) Reserve(n int) {
	if b.forParts() {
		b.uncut.rows = slices.Grow(b.uncut.rows, max(n-len(b.uncut.rows), 0))
		return
	}
	b.t.col.reserve(n)
}

// Len is the number of rows added so far, in a Builder for parts since the last Cut.
func (b *Builder) Len() int { return len(b.t.col.Start) + len(b.uncut.rows) }

// NumStrings is the number of distinct strings interned so far.
func (b *Builder) NumStrings() int { return len(b.t.strings.places) }

// Intern returns the id of s, which is copied when it is new.
func (b *Builder) Intern(s []byte) StringID { return b.t.strings.intern(s) }

// String returns the text of id.
func (b *Builder) String(id StringID) string { return b.t.strings.at(id) }

// Cat returns the category called name; names of older files give the current category.
// It is CatNone, and a problem, where there are too many categories.
func (b *Builder) Cat(name []byte) Cat {
	c, ok := b.cats.intern(name)
	if !ok {
		b.Problem(TooManyCategories, -1, string(name))
	}
	return c
}

// Key returns the argument key called name, KeyNone where there are too many keys.
func (b *Builder) Key(name []byte) Key { return b.keys.intern(name) }

// Track returns the track of a process and a thread, both as text.
func (b *Builder) Track(pid, tid StringID) TrackID { return b.tracks.id(trackKey(pid, tid)) }

// Tracks returns the tracks added so far, by TrackID, with the names known now.
func (b *Builder) Tracks() []Track { return b.tracks.list(b.tracks.all(), &b.t.strings.texts) }

// NameProcess sets the name of a process on all of its tracks, present and to come.
func (b *Builder) NameProcess(pid StringID, name string) {
	b.label(label{what: processName, pid: pid, text: name})
}

// TagProcess sets the labels of a process, such as "GPU 0".
func (b *Builder) TagProcess(pid StringID, tags string) {
	b.label(label{what: processTags, pid: pid, text: tags})
}

// SortProcess sets where viewers put a process.
func (b *Builder) SortProcess(pid StringID, index int64) {
	b.label(label{what: processSort, pid: pid, num: index})
}

// SortThread sets where viewers put a track within its process.
func (b *Builder) SortThread(id TrackID, index int64) {
	b.label(label{what: threadSort, track: id, num: index})
}

// NameThread sets the name of a track.
func (b *Builder) NameThread(id TrackID, name string) {
	b.label(label{what: threadName, track: id, text: name})
}

func (b *Builder) label(l label) {
	if b.forParts() {
		b.uncut.labels = append(b.uncut.labels, l)
		return
	}
	b.tracks.labels.set(l)
}

// Recategorize gives each row the category that pick returns for it: readers of
// files without categories know them only when the tracks have their names. Of
// the row's fields only Start, Dur, Cat, Phase, Track, Corr and External are set.
func (b *Builder) Recategorize(pick func(r *Row, name string) Cat) {
	c := &b.t.col
	for i := range c.Start {
		r := Row{
			Start: c.Start[i], Dur: c.Dur[i], Cat: c.Cat[i], Phase: c.Phase[i], Track: c.Track[i],
			Corr: b.t.Number(c.Corr[i]), External: b.t.Number(c.External[i]), Offset: -1,
		}
		c.Cat[i] = pick(&r, b.String(c.Name[i]))
	}
}

// Meta is what the recording says of itself, for the reader to fill.
func (b *Builder) Meta() *Meta { return &b.t.meta }

// Problem counts one case of damage at a byte offset (-1: no place). Detail says what it
// was, where that is the first one; it may be empty.
func (b *Builder) Problem(code Code, offset int64, detail string) {
	b.probs.add(code, 1, offset, detail)
}

// Problems counts n cases of damage, of which the first stands at offset.
func (b *Builder) Problems(code Code, n, offset int64, detail string) {
	b.probs.add(code, n, offset, detail)
}

// LongestEvent is how long an event may last, in ns: a year, which is longer than any recording.
// What lasts longer is damage.
const LongestEvent = 1 << 55

// Add appends one event. Impossible durations are repaired in r and counted.
func (b *Builder) Add(r *Row) {
	if r.Dur < 0 {
		b.Problem(NegativeDuration, r.Offset, "")
		r.Dur = 0
	}
	if r.NoDur && r.Phase == Complete {
		b.Problem(withoutDuration(r.Cat), r.Offset, "")
	}
	if r.Dur > LongestEvent || r.Start > 0 && r.Dur > math.MaxInt64-r.Start {
		b.Problem(NumberRange, r.Offset, "end of event")
		r.Dur = 0
	}
	if r.Stored == 0 {
		r.Stored = b.Store(r.Args)
	}
	if b.forParts() {
		b.uncut.rows = append(b.uncut.rows, partRow{
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

// withoutDuration is what a complete event without a duration is: of device activity time is
// lost.
func withoutDuration(c Cat) Code {
	if c.IsActivity() {
		return UnreadDuration
	}
	return MissingDuration
}

// Stored stands for arguments that a Builder holds, until the next Cut. 0 is none. A
// reader that knows that arguments repeat stores them once.
type Stored uint32

// Store keeps the arguments of events to come. They are copied.
func (b *Builder) Store(args []Arg) Stored { return Stored(b.t.args.add(args)) }

// Bytes is how much memory the rows and tables of b take, as far as they are filled:
// room in columns that was reserved and never written to takes none.
func (b *Builder) Bytes() int64 {
	rows := int64(len(b.t.col.Start))*rowBytes + int64(cap(b.uncut.rows))*partRowBytes
	tables := b.t.strings.bytes() + b.t.args.bytes() + b.t.ids.bytes()
	return rows + tables + b.tracks.bytes() + b.tracks.labels.bytes()
}

// BuildBytes is how much more Build takes of memory, and those who derive facts of what
// it makes, in bytes: of tracks, processes and large ids, which can be as many as rows.
func (b *Builder) BuildBytes() int64 {
	tracks := int64(len(b.tracks.nums))
	processes, ids := int64(len(b.tracks.pids.nums)), int64(len(b.t.ids.nums))
	return int64(b.Len())*moveBytes + tracks*(orderBytes+builtBytes+factBytes) + processes*rankBytes + ids*factBytes/2
}
