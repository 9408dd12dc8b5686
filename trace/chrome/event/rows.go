package event

import (
	"strconv"

	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/chrome/scan"
	"github.com/gaprof/gaprof/trace/chrome/template"
)

// rows adds events to the trace under construction.
type rows struct {
	builder *trace.Builder
	part    int // number of the part that is built
	tracks  template.Tracks
	window  func(start, end int64) // Options.Window
}

func (o *rows) track(pid, tid trace.StringID) trace.TrackID {
	return o.tracks.Find(pid, tid, o.builder)
}

// add adds an event and returns its arguments as they were added.
func (o *rows) add(ev *event, args []trace.Arg) []trace.Arg {
	row := &ev.row
	row.Phase = phaseOf(ev.ph)
	row.Track = o.track(ev.pid, ev.tid)
	if TakesID(ev.ph) {
		row.Corr = ev.num
		if ev.rawID != 0 {
			args = append(args, trace.Arg{Key: o.builder.Key([]byte("id")), Kind: trace.Text, Str: ev.rawID})
		}
	}
	if row.Cat == trace.CatProfiler && row.Phase == trace.Complete && o.window != nil {
		o.window(row.Start, row.Start+max(row.Dur, 0))
	}
	row.Args = args
	o.builder.Add(row)
	return args
}

// phaseOf gives old spellings of an instant their name of today.
func phaseOf(ph byte) trace.Phase {
	if ph == 'I' || ph == 'R' {
		return trace.Instant
	}
	return trace.Phase(ph)
}

// TakesID reports whether the id of an event of phase ph links it to others:
// flows and asynchronous events, old and new, and objects.
func TakesID(ph byte) bool {
	switch ph {
	case 's', 't', 'f', 'b', 'n', 'e', 'S', 'T', 'F', 'p', 'N', 'O', 'D':
		return true
	}
	return false
}

// parseID reads the id of a flow: decimal, or hexadecimal after 0x.
func parseID(s []byte) (int64, bool) {
	if len(s) > 2 && s[0] == '0' && s[1]|0x20 == 'x' {
		v, err := strconv.ParseUint(string(s[2:]), 16, 63)
		if err != nil {
			return 0, false
		}
		return int64(v), true
	}
	return scan.Whole(s)
}

// metadata takes over the names of processes and threads; other metadata is for
// viewers.
func (o *rows) metadata(ev *event, args []trace.Arg) {
	switch o.builder.String(ev.row.Name) {
	case "process_name":
		if s, ok := o.argText(args, trace.KeyName); ok {
			o.builder.NameProcess(ev.pid, s)
		}
	case "process_labels":
		if s, ok := o.argText(args, trace.KeyLabels); ok {
			o.builder.TagProcess(ev.pid, s)
		}
	case "thread_name":
		if s, ok := o.argText(args, trace.KeyName); ok {
			o.builder.NameThread(o.track(ev.pid, ev.tid), s)
		}
	case "process_sort_index":
		if a, ok := argOf(args, trace.KeySortIndex); ok && a.Kind == trace.Int {
			o.builder.SortProcess(ev.pid, a.Num)
		}
	case "thread_sort_index":
		if a, ok := argOf(args, trace.KeySortIndex); ok && a.Kind == trace.Int {
			o.builder.SortThread(o.track(ev.pid, ev.tid), a.Num)
		}
	}
}

// argOf finds an argument.
func argOf(args []trace.Arg, key trace.Key) (trace.Arg, bool) {
	for _, a := range args {
		if a.Key == key {
			return a, true
		}
	}
	return trace.Arg{}, false
}

func (o *rows) argText(args []trace.Arg, key trace.Key) (string, bool) {
	a, ok := argOf(args, key)
	text := o.builder.String(a.Str)
	switch {
	case ok && a.Kind == trace.Int:
		return strconv.FormatInt(a.Num, 10), true
	case a.Kind == trace.JSON && text == "null":
		return "", false
	}
	return text, ok
}
