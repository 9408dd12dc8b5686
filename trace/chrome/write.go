package chrome

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	show "github.com/gaprof/gaprof/internal/escape"
	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/chrome/event"
	"github.com/gaprof/gaprof/trace/chrome/scan"
)

// Write writes t as Kineto would: header entries before the events, times in
// microseconds with exactly three decimals, names of processes and threads as
// metadata events. Reading it back with Options.KeepArgs gives the same trace, but that
// within lists and objects what a terminal would obey stands as escapes of JSON.
// The only errors are those of w.
func Write(w io.Writer, t *trace.Trace) error {
	out := &writer{Writer: bufio.NewWriterSize(w, 1<<16), t: t}
	out.header()
	for i := range t.Tracks() {
		out.names(i)
	}
	for i := range t.Len() {
		out.event(t.Event(i))
	}
	out.text("\n  ]")
	if name := t.Meta().TraceName; name != "" {
		out.text(",\n  \"traceName\": ")
		out.quoted(name)
	}
	out.text("\n}\n")
	return out.Flush()
}

// writer keeps the first error of its output until Flush.
type writer struct {
	*bufio.Writer
	t      *trace.Trace
	events int
	buf    []byte
}

func (w *writer) text(s string) { _, _ = w.WriteString(s) }

func (w *writer) quoted(s string) {
	w.buf = appendQuoted(w.buf[:0], s)
	_, _ = w.Write(w.buf)
}

// appendQuoted appends s as a JSON string; only what must be escaped is, and what a
// terminal would obey.
func appendQuoted(out []byte, s string) []byte {
	start := len(out)
	out = append(out, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			out = append(out, '\\', c)
		case c == '\n':
			out = append(out, `\n`...)
		case c == '\t':
			out = append(out, `\t`...)
		case c == '\r':
			out = append(out, `\r`...)
		case c < ' ':
			out = fmt.Appendf(out, `\u%04x`, c)
		default:
			out = append(out, c)
		}
	}
	return printable(append(out, '"'), start)
}

// printable puts escapes for what a terminal would obey into the JSON text from start on.
func printable(out []byte, start int) []byte {
	text := out[start:]
	if safe := show.JSON(text); len(safe) != len(text) {
		return append(out[:start], safe...)
	}
	return out
}

// header writes what stands before the events. Other programs look for parts of
// it with a line-wise search that wants a space behind each colon.
func (w *writer) header() {
	m := w.t.Meta()
	w.text("{")
	if m.Format != "chrome" {
		w.text("\n  \"schemaVersion\": 1,")
	}
	for _, e := range w.extras() {
		w.text("\n  ")
		w.quoted(e.Key)
		w.text(": ")
		_, _ = w.Write(spaced(nil, e.JSON))
		w.text(",")
	}
	w.text("\n  \"displayTimeUnit\": \"ms\",")
	if m.BaseTime != 0 {
		w.text("\n  \"baseTimeNanoseconds\": " + strconv.FormatInt(m.BaseTime, 10) + ",")
	}
	w.text("\n  \"traceEvents\": [")
}

// spaced appends JSON text with a space behind each colon and comma outside of
// strings.
func spaced(out []byte, s string) []byte {
	start, inString := len(out), false
	for i := 0; i < len(s); i++ {
		c := s[i]
		out = append(out, c)
		switch {
		case inString && c == '\\' && i+1 < len(s):
			i++
			out = append(out, s[i])
		case c == '"':
			inString = !inString
		case !inString && (c == ',' || c == ':'):
			out = append(out, ' ')
		}
	}
	return printable(out, start)
}

// names writes the metadata of track i, and of its process before its first track.
func (w *writer) names(i int) {
	tracks := w.t.Tracks()
	track := &tracks[i]
	if i == 0 || tracks[i-1].PID != track.PID {
		w.name("process_name", track, "name", track.ProcessName)
		w.name("process_labels", track, "labels", track.ProcessTags)
		w.sortIndex("process_sort_index", track, track.ProcessSort)
	}
	w.name("thread_name", track, "name", track.ThreadName)
	w.sortIndex("thread_sort_index", track, track.ThreadSort)
}

func (w *writer) name(event string, track *trace.Track, key, value string) {
	if value != "" {
		w.metadata(event, track, key, string(appendQuoted(nil, value)))
	}
}

func (w *writer) sortIndex(event string, track *trace.Track, index int64) {
	if index != 0 {
		w.metadata(event, track, "sort_index", strconv.FormatInt(index, 10))
	}
}

func (w *writer) metadata(event string, track *trace.Track, key, value string) {
	w.comma()
	w.text("\n  {\"ph\": \"M\", \"name\": \"" + event + "\", \"ts\": 0.000")
	w.place(track)
	w.text(", \"args\": {\"" + key + "\": " + value + "}}")
}

func (w *writer) comma() {
	if w.events > 0 {
		w.text(",")
	}
	w.events++
}

func (w *writer) place(track *trace.Track) {
	w.text(", \"pid\": ")
	w.label(track.PID)
	w.text(", \"tid\": ")
	w.label(track.TID)
}

// label writes an id as a number where it is one.
func (w *writer) label(id string) {
	if _, ok := scan.Whole([]byte(id)); ok {
		w.text(id)
		return
	}
	w.quoted(id)
}

func (w *writer) event(e trace.Event) {
	w.comma()
	w.text("\n  {\"ph\": ")
	w.quoted(string(rune(e.Phase())))
	flow := event.TakesID(byte(e.Phase()))
	if flow {
		w.flowID(e)
	}
	if e.Cat() != trace.CatNone {
		w.text(", \"cat\": ")
		w.quoted(w.t.CatName(e.Cat()))
	}
	w.text(", \"name\": ")
	w.quoted(e.Name())
	w.place(e.Track())
	w.text(", \"ts\": " + microText(e.Start()))
	if e.Phase() == trace.Complete || e.Dur() != 0 {
		w.text(", \"dur\": " + microText(e.Dur()))
	}
	switch {
	case e.Phase() == trace.FlowEnd:
		w.text(", \"bp\": \"e\"")
	case e.Phase() == trace.Instant && e.Cat() == trace.CatNone:
		w.text(", \"s\": \"g\"")
	case e.Phase() == trace.Instant:
		w.text(", \"s\": \"t\"")
	}
	w.args(e, flow)
	w.text("}")
}

// flowID writes what links e to others: a number, or the text it was, which of id2
// is an object.
func (w *writer) flowID(e trace.Event) {
	a, ok := w.rawID(e)
	text := w.t.String(a.Str)
	switch {
	case ok && strings.HasPrefix(text, "{") && json.Valid([]byte(text)):
		w.text(", \"id2\": ")
		_, _ = w.Write(spaced(nil, text))
		return
	case ok:
		w.text(", \"id\": ")
		w.quoted(text)
		return
	}
	w.text(", \"id\": " + strconv.FormatInt(e.Corr(), 10))
}

// rawID is the argument that holds the id of a flow where that is no number.
func (w *writer) rawID(e trace.Event) (trace.Arg, bool) {
	if e.Corr() != 0 {
		return trace.Arg{}, false
	}
	for _, a := range e.Args() {
		if a.Kind == trace.Text && w.t.KeyName(a.Key) == "id" {
			return a, true
		}
	}
	return trace.Arg{}, false
}

// microText writes ns as microseconds with three decimals.
func microText(ns int64) string {
	sign, u := "", uint64(ns)
	if ns < 0 {
		sign, u = "-", -uint64(ns)
	}
	return fmt.Sprintf("%s%d.%03d", sign, u/1000, u%1000)
}

// args writes the arguments: the External id first, as Kineto does, those of the
// columns that are not known to the event elsewhere, and the rest as they stood.
func (w *writer) args(e trace.Event, flow bool) {
	first := true
	open := func(key string) {
		if first {
			w.text(", \"args\": {")
		} else {
			w.text(", ")
		}
		first = false
		w.quoted(key)
		w.text(": ")
	}
	if e.External() != 0 {
		open("External id")
		w.text(strconv.FormatInt(e.External(), 10))
	}
	if e.Corr() != 0 && !flow {
		open("correlation")
		w.text(strconv.FormatInt(e.Corr(), 10))
	}
	raw, skip := w.rawID(e)
	for _, a := range e.Args() {
		if flow && skip && a == raw {
			continue
		}
		open(w.t.KeyName(a.Key))
		w.value(a)
	}
	if !first {
		w.text("}")
	}
}

func (w *writer) value(a trace.Arg) {
	switch a.Kind {
	case trace.Int:
		w.text(strconv.FormatInt(a.Num, 10))
	case trace.Text:
		w.quoted(w.t.String(a.Str))
	default:
		_, _ = w.Write(spaced(nil, w.t.String(a.Str)))
	}
}
