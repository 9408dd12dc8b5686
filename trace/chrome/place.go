package chrome

import (
	"strconv"

	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/chrome/scan"
)

// accept takes the event that began at i and was read into d.ev over into the
// trace, with what was noted of it.
func (d *reader) accept(i int) {
	ev := &d.ev
	ev.row.Offset = d.At(i)
	d.events++
	d.kineto = d.kineto || ev.row.Cat.IsKnown()
	switch {
	case ev.ph == 0:
		d.events--
		if !d.isEmptyObject(i) { // some writers end the list with {}
			d.others++
			d.Note(trace.NotAnEvent, i)
		}
	case ev.ph == 'M':
		d.metadata()
	case !ev.hasTime:
		d.Note(trace.NoTimestamp, i)
	default:
		d.place()
	}
	d.flush()
}

func (d *reader) isEmptyObject(i int) bool {
	return d.Buf[i] == '{' && d.Buf[scan.SkipSpace(d.Buf, i+1)] == '}'
}

// place adds the event to the trace.
func (d *reader) place() {
	ev := &d.ev
	row := &ev.row
	row.Phase = phaseOf(ev.ph)
	row.Track = d.track(ev.pid, ev.tid)
	if takesID(ev.ph) {
		row.Corr = ev.num
		if ev.rawID != 0 {
			d.args = append(d.args, trace.Arg{Key: d.idKey(), Kind: trace.Text, Str: ev.rawID})
		}
	}
	if row.Cat == trace.CatProfiler && row.Phase == trace.Complete {
		d.span(row.Start, row.Start+max(row.Dur, 0))
	}
	row.Args = d.args
	d.b.Add(row)
}

func (d *reader) idKey() trace.Key { return d.b.Key([]byte("id")) }

// phaseOf gives old spellings of an instant their name of today.
func phaseOf(ph byte) trace.Phase {
	if ph == 'I' || ph == 'R' {
		return trace.Instant
	}
	return trace.Phase(ph)
}

// takesID tells whether the id of an event of phase ph links it to others:
// flows and asynchronous events, old and new, and objects.
func takesID(ph byte) bool {
	switch ph {
	case 's', 't', 'f', 'b', 'n', 'e', 'S', 'T', 'F', 'p', 'N', 'O', 'D':
		return true
	}
	return false
}

// parseID reads the id of a flow: decimal, or hexadecimal after 0x.
func parseID(s []byte) (int64, bool) {
	if len(s) > 2 && len(s) < 64 && s[0] == '0' && s[1]|0x20 == 'x' {
		v, err := strconv.ParseUint(string(s[2:]), 16, 63)
		if err != nil {
			return 0, false
		}
		return int64(v), true
	}
	return scan.Whole(s)
}

// span widens the profiler's own window to the span from start to end, in ns.
func (d *reader) span(start, end int64) {
	if d.isHand {
		d.spans = append(d.spans, [2]int64{start, end})
		return
	}
	m := d.b.Meta()
	if m.WindowStart == 0 && m.WindowEnd == 0 {
		m.WindowStart, m.WindowEnd = start, end
		return
	}
	m.WindowStart, m.WindowEnd = min(m.WindowStart, start), max(m.WindowEnd, end)
}

// metadata takes over the names of processes and threads; other metadata is for
// viewers.
func (d *reader) metadata() {
	ev := &d.ev
	switch d.b.String(ev.row.Name) {
	case "process_name":
		if s, ok := d.argText(trace.KeyName); ok {
			d.b.NameProcess(ev.pid, s)
		}
	case "process_labels":
		if s, ok := d.argText(trace.KeyLabels); ok {
			d.b.TagProcess(ev.pid, s)
		}
	case "thread_name":
		if s, ok := d.argText(trace.KeyName); ok {
			d.b.NameThread(d.track(ev.pid, ev.tid), s)
		}
	case "process_sort_index":
		if a, ok := d.arg(trace.KeySortIndex); ok && a.Kind == trace.Int {
			d.b.SortProcess(ev.pid, a.Num)
		}
	case "thread_sort_index":
		if a, ok := d.arg(trace.KeySortIndex); ok && a.Kind == trace.Int {
			d.b.SortThread(d.track(ev.pid, ev.tid), a.Num)
		}
	}
}

// arg finds an argument of the event at hand.
func (d *reader) arg(key trace.Key) (trace.Arg, bool) {
	for _, a := range d.args {
		if a.Key == key {
			return a, true
		}
	}
	return trace.Arg{}, false
}

func (d *reader) argText(key trace.Key) (string, bool) {
	a, ok := d.arg(key)
	text := d.b.String(a.Str)
	switch {
	case ok && a.Kind == trace.Int:
		return strconv.FormatInt(a.Num, 10), true
	case a.Kind == trace.JSON && text == "null":
		return "", false
	}
	return text, ok
}
