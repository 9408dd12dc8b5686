package chrome

import (
	"encoding/json"
	"strings"

	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/chrome/event"
)

func (w *writer) event(e trace.Event) {
	w.comma()
	w.args = e.AppendArgs(w.args[:0])
	phase, cat := e.Phase(), e.Cat()
	w.text("\n  {\"ph\": ")
	w.quoted(string(rune(phase)))
	flow := event.TakesID(byte(phase))
	if flow {
		w.flowID(e)
	}
	if cat != trace.CatNone {
		w.text(", \"cat\": ")
		w.quoted(w.t.CatName(cat))
	}
	w.text(", \"name\": ")
	w.quoted(e.Name())
	w.placeOf(e)
	w.text(", \"ts\": ")
	w.out = appendMicro(w.out, e.Start())
	if phase == trace.Complete || e.Dur() != 0 {
		w.text(", \"dur\": ")
		w.out = appendMicro(w.out, e.Dur())
	}
	switch {
	case phase == trace.FlowEnd:
		w.text(", \"bp\": \"e\"")
	case phase == trace.Instant && cat == trace.CatNone:
		w.text(", \"s\": \"g\"")
	case phase == trace.Instant:
		w.text(", \"s\": \"t\"")
	}
	w.arguments(e, flow)
	w.text("}")
}

// placeOf is place for an event: those of one track follow each other.
func (w *writer) placeOf(e trace.Event) {
	if track := w.on[e.Row()]; track != w.track {
		from := len(w.out)
		w.place(e.Track())
		w.track, w.at = track, append(w.at[:0], w.out[from:]...)
		return
	}
	w.out = append(w.out, w.at...)
}

// flowID writes what links e to others: a number, or the text it was, which of id2
// is an object.
func (w *writer) flowID(e trace.Event) {
	a, ok := w.rawID(e)
	text := w.t.String(a.Str)
	switch {
	case ok && strings.HasPrefix(text, "{") && json.Valid([]byte(text)):
		w.text(", \"id2\": ")
		w.out = spaced(w.out, text)
		return
	case ok:
		w.text(", \"id\": ")
		w.quoted(text)
		return
	}
	w.text(", \"id\": ")
	w.number(e.Corr())
}

// rawID is the argument that holds the id of a flow where that is no number.
func (w *writer) rawID(e trace.Event) (trace.Arg, bool) {
	if e.Corr() != 0 {
		return trace.Arg{}, false
	}
	for _, a := range w.args {
		if a.Kind == trace.Text && w.t.KeyName(a.Key) == "id" {
			return a, true
		}
	}
	return trace.Arg{}, false
}

// arguments writes the arguments: the External id first, as Kineto does, those of the
// columns that are not known to the event elsewhere, and the rest as they stood.
func (w *writer) arguments(e trace.Event, flow bool) {
	before := ", \"args\": {"
	open := func(key string) {
		w.text(before)
		w.quoted(key)
		w.text(": ")
		before = ", "
	}
	if external := e.External(); external != 0 {
		open("External id")
		w.number(external)
	}
	if corr := e.Corr(); corr != 0 && !flow {
		open("correlation")
		w.number(corr)
	}
	raw, skip := w.rawID(e)
	for _, a := range w.args {
		if flow && skip && a == raw {
			continue
		}
		open(w.t.KeyName(a.Key))
		w.value(a)
	}
	if before == ", " {
		w.text("}")
	}
}

func (w *writer) value(a trace.Arg) {
	switch a.Kind {
	case trace.Int:
		w.number(a.Num)
	case trace.Text:
		w.quoted(w.t.String(a.Str))
	default:
		w.out = spaced(w.out, w.t.String(a.Str))
	}
}
