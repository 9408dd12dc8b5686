package trace

import "strconv"

// Event is a small value that looks into one row of a Trace, to be passed by value. Loops
// over millions of rows that need few of their fields use Trace.Columns instead.
type Event struct {
	t *Trace
	i int
}

// Row is the row that e looks into.
func (e Event) Row() int { return e.i }

// Start is when the event begins, in ns on the clock of the recording.
func (e Event) Start() int64 { return e.t.col.Start[e.i] }

// Dur is how long the event lasts, in ns.
func (e Event) Dur() int64 { return e.t.col.Dur[e.i] }

// End is Start plus Dur; the event does not contain it.
func (e Event) End() int64 { return e.t.col.Start[e.i] + e.t.col.Dur[e.i] }

// Name is the name of the event.
func (e Event) Name() string { return e.t.String(e.t.col.Name[e.i]) }

// Cat is the category of the event, CatNone where the file gives none.
func (e Event) Cat() Cat { return e.t.col.Cat[e.i] }

// Phase is the Chrome phase of the event.
func (e Event) Phase() Phase { return e.t.col.Phase[e.i] }

// Track is the track of the event; do not write.
func (e Event) Track() *Track { return &e.t.tracks[e.t.col.Track[e.i]] }

// Corr is the correlation id of the event, the flow id of a flow, else 0.
func (e Event) Corr() int64 { return e.t.Number(e.t.col.Corr[e.i]) }

// External is the External id of the event, else 0.
func (e Event) External() int64 { return e.t.Number(e.t.col.External[e.i]) }

// Parent is the innermost event of the track that was open when e began; ok is false
// where none was.
func (e Event) Parent() (parent Event, ok bool) {
	p := e.t.col.Parent[e.i]
	if p == NoParent {
		return Event{}, false
	}
	return Event{t: e.t, i: int(p)}, true
}

// Args returns the kept arguments of the event, in the order of the file.
func (e Event) Args() []Arg { return e.AppendArgs(nil) }

// AppendArgs adds the kept arguments of the event to args, in the order of the file.
func (e Event) AppendArgs(args []Arg) []Arg { return e.t.args.appendTo(args, e.t.col.Args[e.i]) }

// Arg returns the argument called key; ok is false where the event has none.
func (e Event) Arg(key Key) (a Arg, ok bool) {
	ref := e.t.col.Args[e.i]
	if ref == 0 {
		return Arg{}, false
	}
	for i := ref - 1; ; i++ {
		a, last := e.t.args.at(i)
		if a.Key == key {
			return a, true
		}
		if last {
			return Arg{}, false
		}
	}
}

// ArgInt returns the argument called key as an integer; ok is false where the event has
// none, or one of another kind.
func (e Event) ArgInt(key Key) (n int64, ok bool) {
	a, ok := e.Arg(key)
	if !ok || a.Kind != Int {
		return 0, false
	}
	return a.Num, true
}

// ArgText returns the argument called key as text: a string as it is, an
// integer in decimal, anything else as its JSON text. It is empty where absent.
func (e Event) ArgText(key Key) string {
	a, ok := e.Arg(key)
	if !ok {
		return ""
	}
	return e.TextOf(a)
}

// TextOf is one of the event's arguments as text, as ArgText has it.
func (e Event) TextOf(a Arg) string {
	if a.Kind == Int {
		return strconv.FormatInt(a.Num, 10)
	}
	return e.t.String(a.Str)
}

// ArgByName returns the argument called name as the file calls it, such as "Collective
// name"; ok is false where the event has none. Only arguments that the reader was told to
// keep are there; "correlation" and "External id" always are.
func (e Event) ArgByName(name string) (a Arg, ok bool) {
	k, ok := e.t.Key(name)
	if !ok {
		return Arg{}, false
	}
	if a, ok = e.Arg(k); ok {
		return a, true
	}
	switch k { // these have columns of their own
	case KeyCorrelation:
		return Arg{Key: k, Num: e.Corr()}, e.Corr() != 0 && !e.Phase().IsFlow()
	case KeyExternalID:
		return Arg{Key: k, Num: e.External()}, e.External() != 0
	}
	return Arg{}, false
}

// TextByName returns the argument called name as ArgText does; it is empty where absent.
func (e Event) TextByName(name string) string {
	a, ok := e.ArgByName(name)
	if !ok {
		return ""
	}
	return e.TextOf(a)
}
