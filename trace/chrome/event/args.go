package event

import (
	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/chrome/scan"
	"github.com/gaprof/gaprof/trace/chrome/template"
	"github.com/gaprof/gaprof/trace/chrome/token"
)

// readArg reads the value at i of the argument behind f.
func (r *Reader) readArg(f *template.Field, i int) int {
	r.learned.slow.reads++
	c := r.Buf[i]
	if c-'0' <= 9 || c == '-' {
		if v, next, ok := scan.Integer(r.Buf, i); ok {
			if f.Keep {
				r.keepArg(trace.Arg{Key: f.ArgKey, Num: v}, i)
			}
			return next
		}
	}
	if r.Mode != token.Strict || r.opts.RulesOnly || f.Keep && f.ArgKey == trace.KeyNone {
		return r.newArg(f, i)
	}
	switch {
	case c == '[' || c == '{' || c == '"' && f.Keep:
		return r.knownArg(f, i)
	case f.Keep:
		return r.newArg(f, i)
	}
	return r.pass(i)
}

// pass passes a value at i that nobody asks for, by the strict rules and without a token.
func (r *Reader) pass(i int) (next int) {
	switch c := r.Buf[i]; {
	case c == '"':
		end, _ := scan.String(r.Buf, i+1)
		return token.PastQuote(end)
	case c == '-' || c-'0' <= 9:
		return r.Closed(scan.Number(r.Buf, i))
	}
	_, next = r.Value(i, '}')
	return next
}

// newArg reads a value at i by the rules.
func (r *Reader) newArg(f *template.Field, i int) int {
	t, next := r.Value(i, '}')
	if !scan.Broken(next) && f.Keep && t.Kind != token.Deep {
		r.keepArg(r.argValue(f.ArgKey, t), i)
	}
	return next
}

// knownArg reads a string, list or object at i by way of those seen before.
func (r *Reader) knownArg(f *template.Field, i int) int {
	key := trace.KeyNone
	if f.Keep {
		key = f.ArgKey
	}
	if v := r.learned.values.Recall(r.Buf, i, key, r.ev.row.Name); v != nil {
		if f.Keep {
			r.keepArg(v.Arg(), i)
		}
		return i + v.Len()
	}
	r.learned.slow.scans++
	notes := len(r.Notes)
	t, next := r.Value(i, '}')
	if scan.Broken(next) || t.Kind == token.Deep {
		return next
	}
	arg := trace.Arg{Key: key}
	if v := r.learned.values.Find(r.Buf, i, next, key, r.ev.row.Name); v != nil {
		arg = v.Arg()
	} else {
		if f.Keep {
			arg = r.argValue(key, t)
		}
		if len(r.Notes) == notes {
			r.learned.values.Remember(r.Buf, i, next, arg, r.ev.row.Name)
		}
	}
	if f.Keep {
		r.keepArg(arg, i)
	}
	return next
}

// keepArg keeps an argument, in the column that it has of its own or with the
// others.
func (r *Reader) keepArg(a trace.Arg, at int) {
	switch {
	case a.Key == trace.KeyCorrelation && a.Kind == trace.Int:
		r.ev.row.Corr = a.Num
	case a.Key == trace.KeyExternalID && a.Kind == trace.Int:
		r.ev.row.External = a.Num
	case isNoGraph(a) && !r.opts.KeepArgs: // as nearly all kernels say
	default:
		r.addArg(a, at)
	}
}

// isNoGraph reports whether an argument says that a kernel is in no graph.
func isNoGraph(a trace.Arg) bool {
	return (a.Key == trace.KeyGraphID || a.Key == trace.KeyGraphNode) && a.Kind == trace.Int && a.Num == 0
}

// argValue makes an argument of a token.
func (r *Reader) argValue(key trace.Key, t token.Token) trace.Arg {
	a := trace.Arg{Key: key, Kind: trace.JSON}
	switch t.Kind {
	case token.Text:
		s := r.Text(t)
		if v, ok := scan.Whole(s); ok {
			return trace.Arg{Key: key, Num: v}
		}
		a.Kind, a.Str = trace.Text, r.rows.builder.Intern(s)
	case token.Number:
		s := r.Buf[t.Start:t.End]
		if v, ok := scan.Whole(s); ok {
			return trace.Arg{Key: key, Num: v}
		}
		a.Str = r.rows.builder.Intern(s)
	case token.Null:
		a.Str = r.rows.builder.Intern([]byte("null"))
	case token.Bool:
		a.Str = r.rows.builder.Intern(r.Buf[t.Start:t.End])
	case token.List:
		text := r.Compact(t)
		if t.Damaged { // no JSON, but not to be lost
			a.Kind = trace.Text
			text = r.Decoded(text)
		}
		a.Str = r.rows.builder.Intern(text)
	}
	return a
}

// addArg keeps a; of a key that occurs twice the last one counts.
func (r *Reader) addArg(a trace.Arg, at int) {
	if !r.args.add(a) {
		r.Note(trace.DuplicateKey, at)
	}
}

// keyOf asks the model for the key of an argument; correlation_id is XLA's name for one.
// keep is false where nobody asks for it.
func (r *Reader) keyOf(name []byte) (key trace.Key, keep bool) {
	if string(name) == "correlation_id" {
		return trace.KeyCorrelation, true
	}
	if key, keep = trace.FixedKey(name); keep || !r.opts.KeepArgs {
		return key, keep
	}
	key = r.rows.builder.Key(name)
	return key, key != trace.KeyNone || len(name) == 0
}

// argList is the arguments of the event at hand.
type argList struct {
	list  []trace.Arg
	event int64   // number of the event
	last  []int64 // by key: the event that carried it last
}

// start begins the list of the next event.
func (l *argList) start() {
	l.list = l.list[:0]
	l.event++
}

// add adds a; isNew is false where its key has a value, which a then replaces.
func (l *argList) add(a trace.Arg) (isNew bool) {
	if int(a.Key) >= len(l.last) {
		l.last = append(l.last, make([]int64, int(a.Key)+64-len(l.last))...)
	}
	if l.last[a.Key] != l.event {
		l.last[a.Key] = l.event
		l.list = append(l.list, a)
		return true
	}
	for i := range l.list {
		if l.list[i].Key == a.Key {
			l.list[i] = a
		}
	}
	return false
}
