package chrome

import (
	"io"
	"strconv"

	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/chrome/scan"
)

// Write writes t as Kineto would: header entries before the events, times in
// microseconds with exactly three decimals, names of processes and threads as
// metadata events. Reading it back with Options.KeepArgs gives the same trace, but that
// within lists and objects what a terminal would obey stands as escapes of JSON.
// The only errors are those of w.
func Write(w io.Writer, t *trace.Trace) error {
	out := &writer{to: w, t: t, out: make([]byte, 0, flushAt+flushAt/4), on: t.Columns().Track, track: noTrack}
	out.header()
	for i := range t.Tracks() {
		out.names(i)
	}
	for i := range t.Len() {
		out.event(t.Event(i))
		out.flushed()
	}
	out.text("\n  ]")
	if name := t.Meta().TraceName; name != "" {
		out.text(",\n  \"traceName\": ")
		out.quoted(name)
	}
	out.text("\n}\n")
	out.flush()
	return out.err
}

const (
	flushAt = 1 << 16           // bytes of text that are handed on at a time
	noTrack = ^trace.TrackID(0) // no track has this one
)

// writer gathers text and hands it on in large pieces. It keeps the first error.
type writer struct {
	to     io.Writer
	err    error
	t      *trace.Trace
	out    []byte
	events int
	args   []trace.Arg     // of the present event
	on     []trace.TrackID // tracks of events
	track  trace.TrackID   // of the event before, whose place is known; noTrack before the first
	at     []byte          // place of that track
}

// flushed hands on what there is, if it is much.
func (w *writer) flushed() {
	if len(w.out) >= flushAt {
		w.flush()
	}
}

func (w *writer) flush() {
	if w.err == nil {
		_, w.err = w.to.Write(w.out)
	}
	w.out = w.out[:0]
}

func (w *writer) text(s string)   { w.out = append(w.out, s...) }
func (w *writer) quoted(s string) { w.out = appendQuoted(w.out, s) }
func (w *writer) number(n int64)  { w.out = strconv.AppendInt(w.out, n, 10) }

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
		w.out = spaced(w.out, e.JSON)
		w.text(",")
	}
	w.text("\n  \"displayTimeUnit\": \"ms\",")
	if m.BaseTime != 0 {
		w.text("\n  \"baseTimeNanoseconds\": ")
		w.number(m.BaseTime)
		w.text(",")
	}
	w.text("\n  \"traceEvents\": [")
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
	w.flushed()
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
