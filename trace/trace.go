package trace

// Phase is the kind of an event, by the letter that Chrome's format has for it under "ph":
// 'X' complete, 'i' instant, 's' and 'f' ends of a flow, 'C' counter, 'b', 'n', 'e'
// asynchronous. 'B' and 'E' are paired into 'X' when a Trace is built, and 'M' rows become
// names of tracks. What part of a training step runs is another matter: see package facts.
type Phase byte

// The phases that analyses ask for.
const (
	Complete  Phase = 'X'
	Begin     Phase = 'B'
	End       Phase = 'E'
	Instant   Phase = 'i'
	FlowStart Phase = 's'
	FlowStep  Phase = 't'
	FlowEnd   Phase = 'f'
	Counter   Phase = 'C'
)

// NoParent marks an event that no other event of its track contains.
const NoParent int32 = -1

// Columns is read access to all rows of a Trace; the slices have equal length
// and must not be written.
type Columns struct {
	Start    []int64    // ns
	Dur      []int64    // ns, >= 0
	Name     []StringID // see Trace.String
	Cat      []Cat      // see Trace.CatName
	Phase    []Phase
	Track    []TrackID // indices into Trace.Tracks, ascending
	Parent   []int32   // row of the innermost complete event open at Start on this track, or NoParent
	Corr     []ID      // correlation id; the flow id for flows; 0 where absent
	External []ID      // External id; 0 where absent
	Args     []uint32  // opaque; use Event.Arg
}

// Trace is one immutable recording. Its zero value is an empty recording.
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

// String returns the text of id.
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

// CatName returns the name of c.
func (t *Trace) CatName(c Cat) string {
	if int(c) >= len(t.cats) {
		return ""
	}
	return t.cats[c]
}

// KeyName returns the name of k.
func (t *Trace) KeyName(k Key) string {
	if int(k) >= len(t.keys) {
		return ""
	}
	return t.keys[k]
}

// Tracks returns the tracks, ordered by process and thread; do not write.
func (t *Trace) Tracks() []Track { return t.tracks }

// Meta returns what the recording says of itself.
func (t *Trace) Meta() *Meta { return &t.meta }

// Problems returns what was repaired or left out, in order of appearance.
func (t *Trace) Problems() []Problem { return t.problems }

// Event returns the view of row i.
func (t *Trace) Event(i int) Event { return Event{t: t, i: i} }

// Event is a small value that looks into one row of a Trace.
type Event struct {
	t *Trace
	i int
}

// Row is the row that e looks into.
func (e Event) Row() int { return e.i }

// Start is the begin of the event in ns.
func (e Event) Start() int64 { return e.t.col.Start[e.i] }

// Dur is the length of the event in ns.
func (e Event) Dur() int64 { return e.t.col.Dur[e.i] }

// End is Start plus Dur.
func (e Event) End() int64 { return e.t.col.Start[e.i] + e.t.col.Dur[e.i] }

// Name is the name of the event.
func (e Event) Name() string { return e.t.String(e.t.col.Name[e.i]) }

// Cat is the category of the event.
func (e Event) Cat() Cat { return e.t.col.Cat[e.i] }

// Phase is the Chrome phase of the event.
func (e Event) Phase() Phase { return e.t.col.Phase[e.i] }

// Track is the track of the event.
func (e Event) Track() *Track { return &e.t.tracks[e.t.col.Track[e.i]] }

// Corr is the correlation id of the event, the flow id of a flow, else 0.
func (e Event) Corr() int64 { return e.t.Number(e.t.col.Corr[e.i]) }

// External is the External id of the event, else 0.
func (e Event) External() int64 { return e.t.Number(e.t.col.External[e.i]) }

// Parent is the innermost event of the track that was open when e began.
func (e Event) Parent() (Event, bool) {
	p := e.t.col.Parent[e.i]
	if p == NoParent {
		return Event{}, false
	}
	return Event{t: e.t, i: int(p)}, true
}
