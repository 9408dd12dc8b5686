package chrome

import (
	"github.com/gaprof/gaprof/trace"
)

// readArgs reads the arguments whose brace stands at i, as far as anyone asks.
func (d *reader) readArgs(i int) int {
	i++
	for first := true; ; first = false {
		ks, ke, vi, raw := d.member(i, first)
		if vi < 0 || ks == 0 {
			return vi
		}
		key, keep := d.argKey(ks, ke, raw)
		if !keep {
			_, i = d.value(vi, '}')
		} else {
			i = d.readArg(key, ks, vi)
		}
		if i < 0 {
			return i
		}
	}
}

// argKey finds the key d.buf[ks:ke]; keep is false for what nobody asks for.
func (d *reader) argKey(ks, ke int, raw bool) (key trace.Key, keep bool) {
	name := d.buf[ks:ke]
	if raw {
		name = d.text(token{raw: true, start: ks, end: ke})
	}
	return d.keys.find(d, name)
}

// readArg reads the value at i of an argument that is kept.
func (d *reader) readArg(key trace.Key, ks, i int) int {
	a := trace.Arg{Key: key}
	v, next, ok := integer(d.buf, i)
	if !ok {
		var t token
		if t, next = d.value(i, '}'); next < 0 {
			return next
		}
		if t.kind == deepKind {
			return next
		}
		a = d.argValue(key, t)
		v, ok = a.Num, a.Kind == trace.Int
	}
	a.Num = v
	switch {
	case key == trace.KeyCorrelation && ok:
		d.ev.row.Corr = v
	case key == trace.KeyExternalID && ok:
		d.ev.row.External = v
	default:
		d.addArg(a, ks)
	}
	return next
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
