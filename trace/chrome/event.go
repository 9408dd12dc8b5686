package chrome

import (
	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/chrome/scan"
	"github.com/gaprof/gaprof/trace/chrome/token"
)

// event is what has been read of the event at hand.
type event struct {
	row      trace.Row
	seen     uint16 // keys that stood in it, by bit
	ph       byte
	hasTime  bool
	hasID    bool
	num      int64 // the id, where it is a number
	pid, tid trace.StringID
	rawID    trace.StringID // the id, where it is not
}

// field is a key of an event that is read; the others have none.
type field uint8

const (
	noField field = iota
	fieldPh
	fieldTs
	fieldID
	fieldPid
	fieldTid
	fieldDur
	fieldCat
	fieldName
	fieldArgs
)

// bit is the place of f in event.seen.
func (f field) bit() uint16 { return 1 << f }

var fields = map[string]field{
	"ph": fieldPh, "ts": fieldTs, "id": fieldID, "pid": fieldPid, "tid": fieldTid,
	"dur": fieldDur, "cat": fieldCat, "name": fieldName, "args": fieldArgs,
	"id2": fieldID, // {"local": id} or {"global": id}, kept as it stands
}

// event reads the event whose brace stands at i into d.ev and returns the place
// behind it, negative where a rule is broken.
func (d *reader) event(i int) int {
	d.startEvent()
	h, next := d.hop(d.opening, i+1)
	if next >= 0 && h.sequel != nil {
		d.opening = h.sequel
	}
	for ; next >= 0; h, next = d.hop(h, i) {
		switch h.goal {
		case ownValue:
			i = d.field(h.own, next)
		case argValue:
			i = d.readArg(h, next)
		default:
			if h != &d.unknown && h.plan == nil {
				h.plan = d.planOf()
			}
			return next
		}
		if i < 0 {
			return i
		}
	}
	return next
}

func (d *reader) startEvent() {
	d.ev = event{}
	d.ev.row.NoDur = true
	d.args, d.Notes = d.args[:0], d.Notes[:0]
	d.eventNo++
}

// field reads the value at i of f.
func (d *reader) field(f field, i int) (next int) {
	ev := &d.ev
	if f != noField {
		d.once(f, i)
	}
	var ok bool
	switch f {
	case fieldPh:
		return d.phase(i)
	case fieldTs:
		ev.row.Start, ev.hasTime, next = d.time(i)
		return next
	case fieldDur:
		ev.row.Dur, ok, next = d.time(i)
		ev.row.NoDur = !ok
		return next
	case fieldPid:
		ev.pid, next = d.label(i)
		return next
	case fieldTid:
		ev.tid, next = d.label(i)
		return next
	case fieldName:
		if ev.row.Name, next, ok = d.plainName(i); !ok {
			ev.row.Name, next = d.name(i)
		}
		return next
	case fieldCat:
		return d.category(i)
	case fieldID:
		return d.flowID(i)
	}
	_, next = d.Value(i, '}')
	return next
}

// once notes a key that stood in the event before; the last one counts.
func (d *reader) once(f field, at int) {
	if d.ev.seen&f.bit() != 0 {
		d.Note(trace.DuplicateKey, at)
		if f == fieldArgs {
			d.args = d.args[:0]
		}
	}
	d.ev.seen |= f.bit()
}

// phase reads the value of ph: one character.
func (d *reader) phase(i int) int {
	if b := d.Buf; b[i] == '"' && b[i+2] == '"' && b[i+1] > ' ' && b[i+1] < 0x7f && b[i+1] != '\\' && b[i+1] != '"' {
		d.ev.ph = b[i+1]
		return i + 3
	}
	t, next := d.Value(i, '}')
	if next >= 0 && t.Kind == token.Text {
		if s := d.Text(t); len(s) == 1 {
			d.ev.ph = s[0]
		}
	}
	return next
}

// time reads a number of microseconds, quoted or not, as nanoseconds. ok is
// false where there is no such number; one beyond int64 is noted.
func (d *reader) time(i int) (ns int64, ok bool, next int) {
	if ns, next, ok = scan.Micros(d.Buf, i); ok {
		return ns, true, next
	}
	t, next := d.Value(i, '}')
	if next < 0 {
		return 0, false, next
	}
	number, isNumber := d.Digits(t)
	if !isNumber {
		return 0, false, next
	}
	dec := scan.ParseDecimal(number, d.digits)
	d.digits = dec.Digits
	if ns, ok = dec.Scaled(3); !ok {
		d.Note(trace.NumberRange, i)
	}
	return ns, ok, next
}

// label reads a process or thread id as text; writers use numbers and names.
func (d *reader) label(i int) (trace.StringID, int) {
	if v, next, ok := scan.Integer(d.Buf, i); ok {
		slot := &d.labels[uint64(v)%uint64(len(d.labels))]
		if !slot.used || slot.v != v {
			*slot = label{v: v, id: d.b.Intern(d.Buf[i:next]), used: true}
		}
		return slot.id, next
	}
	return d.name(i)
}

// name reads text; any other value stands for its JSON text, null for none.
func (d *reader) name(i int) (trace.StringID, int) {
	t, next := d.Value(i, '}')
	if next < 0 {
		return 0, next
	}
	switch t.Kind {
	case token.Text:
		return d.b.Intern(d.Text(t)), next
	case token.Null, token.Deep:
		return 0, next
	}
	t.Raw = false
	return d.b.Intern(d.Text(t)), next
}

// category reads cat; of a list separated by commas the first known one counts.
func (d *reader) category(i int) int {
	t, next := d.Value(i, '}')
	if next < 0 || t.Kind != token.Text {
		return next
	}
	d.ev.row.Cat = d.cats.find(d, d.Text(t))
	return next
}

// flowID reads id: decimal or 0x digits are a number, anything else is text, also a
// number beyond int64.
func (d *reader) flowID(i int) int {
	ev := &d.ev
	ev.num, ev.rawID = 0, 0
	v, next, ok := scan.Integer(d.Buf, i)
	if !ok {
		var t token.Token
		if t, next = d.Value(i, '}'); next < 0 || t.Kind == token.Null || t.Kind == token.Deep {
			return next
		}
		s := d.idText(t)
		if v, ok = parseID(s); !ok {
			v, ev.rawID = 0, d.b.Intern(s)
		}
	}
	ev.num, ev.hasID = v, ok
	return next
}

// idText is the text of an id; an object is the same however it is laid out.
func (d *reader) idText(t token.Token) []byte {
	if t.Kind != token.List {
		return d.Text(t)
	}
	return d.Compact(t)
}
