package trace

import (
	"iter"
	"slices"
)

// Trace is one immutable recording. Its zero value is an empty recording. Any number of
// goroutines may read it at the same time.
type Trace struct {
	col      Columns
	strings  stringTable
	ids      idTable
	cats     []string
	keys     []string
	args     argTable
	tracks   []Track
	meta     Meta
	problems []Problem
}

// Len is the number of rows.
func (t *Trace) Len() int { return len(t.col.Start) }

// Columns returns the columns for loops over many rows.
func (t *Trace) Columns() Columns { return t.col }

// String returns the text of id; it is empty where t has no such id. The text stays good
// after t is gone, but keeps a block of other texts alive: clone what is kept for long.
func (t *Trace) String(id StringID) string {
	if int(id) >= len(t.strings.places) {
		return ""
	}
	return t.strings.at(id)
}

// Find returns the id of a text; ok is false where the trace does not hold it.
func (t *Trace) Find(text string) (id StringID, ok bool) { return t.strings.find(text) }

// NumStrings is one more than the largest StringID; analyses that classify names
// make a table of this length and look at each distinct name once.
func (t *Trace) NumStrings() int { return len(t.strings.places) }

// Number is the number that id stands for.
func (t *Trace) Number(id ID) int64 { return t.ids.number(id) }

// CatName returns the name of c; it is empty where t has no such category.
func (t *Trace) CatName(c Cat) string {
	if int(c) >= len(t.cats) {
		return ""
	}
	return t.cats[c]
}

// KeyName returns the name of k; it is empty where t has no such key.
func (t *Trace) KeyName(k Key) string {
	if int(k) >= len(t.keys) {
		return ""
	}
	return t.keys[k]
}

// Key returns the key of arguments called name; ok is false where the trace has none. Loops
// over many events ask once and use Event.Arg.
func (t *Trace) Key(name string) (k Key, ok bool) {
	if name == "" {
		return KeyNone, false
	}
	i := slices.Index(t.keys, name)
	if i < 0 {
		return KeyNone, false
	}
	return Key(i), true
}

// Tracks returns the tracks, ordered by process and thread; do not write.
func (t *Trace) Tracks() []Track { return t.tracks }

// Meta returns what the recording says of itself; do not write.
func (t *Trace) Meta() *Meta { return &t.meta }

// Problems returns what was repaired or left out, in order of appearance; do not write.
func (t *Trace) Problems() []Problem { return t.problems }

// Event returns the view of row i, from 0 to Len()-1.
func (t *Trace) Event(i int) Event { return Event{t: t, i: i} }

// Events ranges over the events of some categories in the order of the rows: track by
// track and, on a track, by start. Without categories it ranges over all events.
//
//	for e := range t.Events(trace.CatKernel) { ... }
func (t *Trace) Events(cats ...Cat) iter.Seq[Event] {
	return func(yield func(Event) bool) {
		for i := range t.Len() {
			if len(cats) > 0 && !slices.Contains(cats, t.col.Cat[i]) {
				continue
			}
			if !yield(Event{t: t, i: i}) {
				return
			}
		}
	}
}
