package trace

import (
	"iter"
	"slices"
)

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

// IsFlow reports whether events of p are ends of an arrow between two others.
func (p Phase) IsFlow() bool { return p == FlowStart || p == FlowStep || p == FlowEnd }
