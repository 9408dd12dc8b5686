package event

import (
	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/chrome/scan"
	"github.com/gaprof/gaprof/trace/chrome/template"
	"github.com/gaprof/gaprof/trace/chrome/token"
)

// event is what has been read of the event at hand.
type event struct {
	row      trace.Row
	seen     uint16 // keys that stood in it, by template.Key.Bit
	ph       byte
	hasTime  bool
	num      int64 // the id, where it is a number
	pid, tid trace.StringID
	rawID    trace.StringID // the id, where it is not
}

// keys are the keys of an event that are read.
var keys = map[string]template.Key{
	"ph": template.KeyPh, "ts": template.KeyTs, "id": template.KeyID, "pid": template.KeyPid, "tid": template.KeyTid,
	"dur": template.KeyDur, "cat": template.KeyCat, "name": template.KeyName, "args": template.KeyArgs,
	"id2": template.KeyID, // {"local": id} or {"global": id}, kept as it stands
}

// read reads the event whose brace stands at i into r.ev and returns the place behind
// it, negative where a rule is broken.
func (r *Reader) read(i int) int {
	r.start()
	f, next := r.step(r.learned.fields.Opening, i+1)
	if !scan.Broken(next) && f.After != nil {
		r.learned.fields.Opening = f.After
	}
	for ; !scan.Broken(next); f, next = r.step(f, i) {
		switch f.Goal {
		case template.OwnValue:
			i = r.own(f.Key, next)
		case template.ArgValue:
			i = r.readArg(f, next)
		default:
			if f != &r.learned.unknown && f.Event == nil {
				f.Event = r.eventTemplate()
			}
			return next
		}
		if scan.Broken(i) {
			return i
		}
	}
	return next
}

// own reads the value at i of the key k of the event.
func (r *Reader) own(k template.Key, i int) (next int) {
	ev := &r.ev
	if k != template.NoKey {
		r.once(k, i)
	}
	var ok bool
	switch k {
	case template.KeyPh:
		return r.phase(i)
	case template.KeyTs:
		ev.row.Start, ev.hasTime, next = r.time(i)
		return next
	case template.KeyDur:
		ev.row.Dur, ok, next = r.time(i)
		ev.row.NoDur = !ok
		return next
	case template.KeyPid:
		ev.pid, next = r.label(i)
		return next
	case template.KeyTid:
		ev.tid, next = r.label(i)
		return next
	case template.KeyName:
		return r.eventName(i)
	case template.KeyCat:
		return r.category(i)
	case template.KeyID:
		return r.flowID(i)
	}
	_, next = r.Value(i, '}')
	return next
}

// once notes a key that stood in the event before; the last one counts.
func (r *Reader) once(k template.Key, at int) {
	if r.ev.seen&k.Bit() != 0 {
		r.Note(trace.DuplicateKey, at)
		if k == template.KeyArgs {
			r.args.start()
			r.ev.row.Corr, r.ev.row.External = 0, 0
		}
	}
	r.ev.seen |= k.Bit()
}

// phase reads the value of ph: one character.
func (r *Reader) phase(i int) int {
	t, next := r.Value(i, '}')
	if !scan.Broken(next) && t.Kind == token.Text {
		if s := r.Text(t); len(s) == 1 {
			r.ev.ph = s[0]
		}
	}
	return next
}

// time reads a number of microseconds, quoted or not, as nanoseconds. ok is
// false where there is no such number; one beyond int64 is noted.
func (r *Reader) time(i int) (ns int64, ok bool, next int) {
	if ns, next, ok = scan.Micros(r.Buf, i); ok {
		return ns, true, next
	}
	t, next := r.Value(i, '}')
	if scan.Broken(next) {
		return 0, false, next
	}
	number, isNumber := r.Digits(t)
	if !isNumber {
		return 0, false, next
	}
	dec := scan.ParseDecimal(number, r.digits)
	r.digits = dec.Digits
	if ns, ok = dec.Scaled(3); !ok {
		r.Note(trace.NumberRange, i)
	}
	return ns, ok, next
}

// label reads a process or thread id as text; writers use numbers and names.
func (r *Reader) label(i int) (trace.StringID, int) {
	if v, next, ok := scan.Integer(r.Buf, i); ok {
		return r.learned.labels.Find(v, r.Buf[i:next], r.rows.builder), next
	}
	return r.name(i)
}

// eventName reads the name of the event.
func (r *Reader) eventName(i int) (next int) {
	name, ok := &r.ev.row.Name, false
	if r.Mode == token.Strict && !r.opts.RulesOnly {
		if *name, next, ok = r.learned.names.Read(r.Buf, r.N, i, r.rows.builder); ok {
			return next
		}
	}
	*name, next = r.name(i)
	return next
}

// name reads text; any other value stands for its JSON text, null for none.
func (r *Reader) name(i int) (trace.StringID, int) {
	t, next := r.Value(i, '}')
	if scan.Broken(next) {
		return 0, next
	}
	switch t.Kind {
	case token.Text:
		return r.rows.builder.Intern(r.Text(t)), next
	case token.Null, token.Deep:
		return 0, next
	}
	t.Raw = false
	return r.rows.builder.Intern(r.Text(t)), next
}

// category reads cat; of a list separated by commas the first known one counts.
func (r *Reader) category(i int) int {
	t, next := r.Value(i, '}')
	if scan.Broken(next) || t.Kind != token.Text {
		return next
	}
	r.ev.row.Cat = r.learned.cats.Find(r.Text(t), r.rows.builder)
	return next
}

// flowID reads id: decimal or 0x digits are a number, anything else is text, also a
// number beyond int64.
func (r *Reader) flowID(i int) int {
	ev := &r.ev
	ev.num, ev.rawID = 0, 0
	v, next, ok := scan.Integer(r.Buf, i)
	if !ok {
		var t token.Token
		if t, next = r.Value(i, '}'); scan.Broken(next) || t.Kind == token.Null || t.Kind == token.Deep {
			return next
		}
		s := r.idText(t)
		if v, ok = parseID(s); !ok {
			v, ev.rawID = 0, r.rows.builder.Intern(s)
		}
	}
	ev.num = v
	return next
}

// idText is the text of an id; an object is the same however it is laid out.
func (r *Reader) idText(t token.Token) []byte {
	if t.Kind != token.List {
		return r.Text(t)
	}
	return r.Compact(t)
}
