package chrome

import (
	"github.com/gaprof/gaprof/trace"
)

// readArg reads the value at i of the argument behind h.
func (d *reader) readArg(h *hop, i int) int {
	c := d.buf[i]
	if c-'0' <= 9 || c == '-' {
		if v, next, ok := integer(d.buf, i); ok {
			if h.keep {
				d.keepArg(trace.Arg{Key: h.key, Num: v}, i)
			}
			return next
		}
	}
	if d.mode != strict || d.opts.rules || h.keep && h.key == trace.KeyNone {
		return d.newArg(h, i)
	}
	switch {
	case c == '[' || c == '{' || c == '"' && h.keep:
		return d.knownArg(h, i)
	case h.keep:
		return d.newArg(h, i)
	case c == '"':
		end, _ := scanString(d.buf, i+1)
		return after(end)
	case c == '-' || c-'0' <= 9:
		return d.closed(scanNumber(d.buf, i))
	}
	return d.newArg(h, i)
}

// newArg reads a value at i that was not seen before.
func (d *reader) newArg(h *hop, i int) int {
	t, next := d.value(i, '}')
	if next >= 0 && h.keep && t.kind != deepKind {
		d.keepArg(d.argValue(h.key, t), i)
	}
	return next
}

// knownArg reads a string, list or object at i by way of those seen before.
func (d *reader) knownArg(h *hop, i int) int {
	key := trace.KeyNone
	if h.keep {
		key = h.key
	}
	if m := d.memos.recall(d.buf, i, key, d.ev.row.Name); m != nil {
		if h.keep {
			d.keepArg(m.arg, i)
		}
		return i + len(m.text)
	}
	notes := len(d.notes)
	t, next := d.value(i, '}')
	if next < 0 || t.kind == deepKind {
		return next
	}
	arg := trace.Arg{Key: key}
	if m := d.memos.find(d.buf, i, next, key, d.ev.row.Name); m != nil {
		arg = m.arg
	} else {
		if h.keep {
			arg = d.argValue(key, t)
		}
		if len(d.notes) == notes {
			d.memos.remember(d.buf, i, next, arg, d.ev.row.Name)
		}
	}
	if h.keep {
		d.keepArg(arg, i)
	}
	return next
}

// keepArg keeps an argument, in the column that it has of its own or with the
// others.
func (d *reader) keepArg(a trace.Arg, at int) {
	switch {
	case a.Key == trace.KeyCorrelation && a.Kind == trace.Int:
		d.ev.row.Corr = a.Num
	case a.Key == trace.KeyExternalID && a.Kind == trace.Int:
		d.ev.row.External = a.Num
	default:
		d.addArg(a, at)
	}
}

// argValue makes an argument of a token.
func (d *reader) argValue(key trace.Key, t token) trace.Arg {
	a := trace.Arg{Key: key, Kind: trace.JSON}
	switch t.kind {
	case textKind:
		s := d.text(t)
		if v, ok := whole(s); ok {
			return trace.Arg{Key: key, Num: v}
		}
		a.Kind, a.Str = trace.Text, d.b.Intern(s)
	case numberKind:
		s := d.buf[t.start:t.end]
		if v, ok := whole(s); ok {
			return trace.Arg{Key: key, Num: v}
		}
		a.Str = d.b.Intern(s)
	case nullKind:
		a.Str = d.b.Intern([]byte("null"))
	case boolKind:
		a.Str = d.b.Intern(d.buf[t.start:t.end])
	case listKind:
		d.scratch = compact(d.scratch[:0], d.buf[t.start:t.end])
		if t.damaged { // no JSON, but not to be lost
			a.Kind = trace.Text
			d.quoted, _ = unescape(d.quoted[:0], d.scratch)
			a.Str = d.b.Intern(d.quoted)
			break
		}
		a.Str = d.b.Intern(d.scratch)
	}
	return a
}

// addArg keeps a; of a key that stands twice the last one counts.
func (d *reader) addArg(a trace.Arg, at int) {
	if int(a.Key) >= len(d.keyEvent) {
		d.keyEvent = append(d.keyEvent, make([]int64, int(a.Key)+64-len(d.keyEvent))...)
	}
	if d.keyEvent[a.Key] != d.eventNo {
		d.keyEvent[a.Key] = d.eventNo
		d.args = append(d.args, a)
		return
	}
	d.note(trace.DuplicateKey, at)
	for i := range d.args {
		if d.args[i].Key == a.Key {
			d.args[i] = a
		}
	}
}
