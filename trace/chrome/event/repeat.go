package event

import (
	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/chrome/scan"
	"github.com/gaprof/gaprof/trace/chrome/template"
)

// Room is how much of the window, in bytes, an event should find before it; few events
// are longer, so that few are begun twice.
const Room = 16 << 10

// Stop says where Repeats stopped.
type Stop uint8

// The places.
const (
	AtEvent Stop = iota // before an event that is not plain
	Behind              // behind an event, without a comma
	AtComma             // behind a comma
)

// Repeats reads events in one loop that only compares bytes and reads values, from the
// one whose brace stands at i on, up to the first that does not repeat the layout of an
// earlier one, or begins at limit or behind it, or stands at the end of the window.
// Whatever is not so plain is left, from its brace on, to the rules.
func (r *Reader) Repeats(i int, limit int64) (next int, at Stop) {
	gap := &r.learned.gap
	for r.N-i >= Room || r.EOF {
		end := r.repeat(i)
		if scan.Broken(end) {
			return i, AtEvent
		}
		if gap.Stands(r.Buf, end) && r.At(end+gap.Len()) < limit {
			i = end + gap.Len()
			continue
		}
		if i = scan.SkipSpace(r.Buf, end); r.Buf[i] != ',' {
			return i, Behind
		}
		if i = scan.SkipSpace(r.Buf, i+1); r.Buf[i] != '{' || r.At(i) >= limit {
			return i, AtComma
		}
		gap.Learn(r.Buf, end, i)
		r.learned.slow.gaps++
	}
	return i, AtComma
}

// repeat reads the event whose brace stands at i and adds it to the trace. next is
// negative, and nothing is added, where it is not plain. Only a value that ends where
// the field behind it begins is taken, so what a number must not be followed by need not
// be looked for.
func (r *Reader) repeat(i int) (next int) {
	b, row := r.Buf, &r.ev.row
	row.Start, row.Dur, row.Name = 0, 0, 0
	row.Corr, row.External, r.ev.num = 0, 0, 0
	row.Args, row.Stored, row.Offset = nil, 0, r.At(i)
	r.args.start()
	first := r.learned.fields.Opening.Follow(b, i+1)
	if first == nil {
		return -1
	}
	i++
	for f := first; ; {
		i += f.Len()
		if len(f.Args) > 0 {
			r.args.list = append(r.args.list, f.Args...)
		}
		var ok bool
		switch f.Value {
		case template.StartValue:
			row.Start, i, ok = r.learned.moment.Read(b, i)
		case template.DurValue:
			if row.Dur, i, ok = scan.FewMicros(b, i); !ok {
				row.Dur, i, ok = scan.Micros(b, i)
			}
		case template.NameValue:
			row.Name, i, ok = r.learned.names.Read(b, r.N, i, r.rows.builder)
		case template.IDValue, template.CorrValue, template.ExternalValue:
			*r.ev.integer(f.Value), i, ok = scan.Integer(b, i)
		case template.OtherValue:
			i = r.repeatArg(f, i)
			ok = !scan.Broken(i)
		case template.EndValue:
			return r.addRepeat(f, first, i)
		}
		if !ok {
			return -1
		}
		if next := f.Usual(); next != nil && next.Stands(b, i) {
			f = next
		} else if f = f.Turn(b, i); f == nil {
			return -1
		}
	}
}

// integer is where the integer of a kind is kept.
func (ev *event) integer(k template.Kind) *int64 {
	switch k {
	case template.CorrValue:
		return &ev.row.Corr
	case template.ExternalValue:
		return &ev.row.External
	}
	return &ev.num
}

// repeatArg reads the value at i of the argument behind f. A small integer that nobody
// asks for is passed, a list that was seen lately is recalled. No key occurs twice on a
// plain way, whose keys are fixed: of an event with such a key something was noted, and
// eventTemplate makes nothing of it.
func (r *Reader) repeatArg(f *template.Field, i int) (next int) {
	b := r.Buf
	switch c := b[i]; {
	case c-'1' < 9 && !f.Keep:
		if n := scan.Digits(b, i); n < 8 && b[i+n] != '.' {
			return i + n
		}
	case c == '[' && f.Keep == (f.ArgKey != trace.KeyNone):
		if v := r.learned.values.Recall(b, i, f.ArgKey, r.ev.row.Name); v != nil {
			if f.Keep {
				r.args.list = append(r.args.list, v.Arg())
			}
			return i + v.Len()
		}
	}
	return r.readArg(f, i)
}

// addRepeat adds the event at hand, which went the way from first to last and ends at i,
// to the trace; next is negative where that is not a plain one.
func (r *Reader) addRepeat(last, first *template.Field, i int) (next int) {
	e, row := last.Event, &r.ev.row
	if e == nil || len(r.Notes) > 0 {
		return -1
	}
	r.learned.fields.Opening = first.After
	row.Phase, row.Cat = e.Phase, e.Cat
	row.Track, row.NoDur = e.Track, e.NoDur
	if e.TakesID {
		row.Corr = r.ev.num
	}
	if len(r.args.list) > 0 {
		row.Stored = e.Store(r.args.list, r.rows.builder, r.rows.part)
	}
	r.Counts.Events++
	r.rows.builder.Add(row)
	return i
}
