package chrome

import (
	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/chrome/scan"
	"github.com/gaprof/gaprof/trace/chrome/token"
)

// readArg reads the value at i of the argument behind h.
func (d *reader) readArg(h *hop, i int) int {
	c := d.Buf[i]
	if c-'0' <= 9 || c == '-' {
		if v, next, ok := scan.Integer(d.Buf, i); ok {
			if h.keep {
				d.keepArg(trace.Arg{Key: h.key, Num: v}, i)
			}
			return next
		}
	}
	if d.Mode != token.Strict || d.opts.rules || h.keep && h.key == trace.KeyNone {
		return d.newArg(h, i)
	}
	switch {
	case c == '[' || c == '{' || c == '"' && h.keep:
		return d.knownArg(h, i)
	case h.keep:
		return d.newArg(h, i)
	case c == '"':
		end, _ := scan.String(d.Buf, i+1)
		return token.After(end)
	case c == '-' || c-'0' <= 9:
		return d.Closed(scan.Number(d.Buf, i))
	}
	return d.newArg(h, i)
}

// newArg reads a value at i that was not seen before.
func (d *reader) newArg(h *hop, i int) int {
	t, next := d.Value(i, '}')
	if next >= 0 && h.keep && t.Kind != token.Deep {
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
	if m := d.memos.recall(d.Buf, i, key, d.ev.row.Name); m != nil {
		if h.keep {
			d.keepArg(m.arg, i)
		}
		return i + len(m.text)
	}
	notes := len(d.Notes)
	t, next := d.Value(i, '}')
	if next < 0 || t.Kind == token.Deep {
		return next
	}
	arg := trace.Arg{Key: key}
	if m := d.memos.find(d.Buf, i, next, key, d.ev.row.Name); m != nil {
		arg = m.arg
	} else {
		if h.keep {
			arg = d.argValue(key, t)
		}
		if len(d.Notes) == notes {
			d.memos.remember(d.Buf, i, next, arg, d.ev.row.Name)
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
func (d *reader) argValue(key trace.Key, t token.Token) trace.Arg {
	a := trace.Arg{Key: key, Kind: trace.JSON}
	switch t.Kind {
	case token.Text:
		s := d.Text(t)
		if v, ok := scan.Whole(s); ok {
			return trace.Arg{Key: key, Num: v}
		}
		a.Kind, a.Str = trace.Text, d.b.Intern(s)
	case token.Number:
		s := d.Buf[t.Start:t.End]
		if v, ok := scan.Whole(s); ok {
			return trace.Arg{Key: key, Num: v}
		}
		a.Str = d.b.Intern(s)
	case token.Null:
		a.Str = d.b.Intern([]byte("null"))
	case token.Bool:
		a.Str = d.b.Intern(d.Buf[t.Start:t.End])
	case token.List:
		text := d.Compact(t)
		if t.Damaged { // no JSON, but not to be lost
			a.Kind = trace.Text
			text = d.Decoded(text)
		}
		a.Str = d.b.Intern(text)
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
	d.Note(trace.DuplicateKey, at)
	for i := range d.args {
		if d.args[i].Key == a.Key {
			d.args[i] = a
		}
	}
}
