package chrome

import "github.com/gaprof/gaprof/trace"

// Most events go the way of one before them: hop by hop through bytes that were
// learned, with values of a plain form between. Where such a way ends, all that the
// bytes say is known, once and for all: a plan. So these events are read in one loop
// that only compares bytes and reads values. Whatever is not so plain is left, from
// its brace on, to the rules.

// plan is what the bytes of a way through an event say.
type plan struct {
	phase   trace.Phase
	cat     trace.Cat
	track   trace.TrackID
	noDur   bool
	takesID bool
}

// plainKind says what stands behind a hop, as far as the loop over plain events cares.
type plainKind uint8

const (
	noValue    plainKind = iota // never seen on a plain way
	startValue                  // ts
	durValue
	nameValue
	idValue
	corrValue
	externalValue
	argValues // any other argument, or a key that nobody asks for
	endValue  // the end of the event
)

// valueOf tells what stands behind h.
func valueOf(h *hop) plainKind {
	switch {
	case h.goal == theEnd:
		return endValue
	case h.goal == argValue && h.keep && h.key == trace.KeyCorrelation:
		return corrValue
	case h.goal == argValue && h.keep && h.key == trace.KeyExternalID:
		return externalValue
	case h.goal == argValue:
		return argValues
	case h.goal == ownValue:
		return ownValues[h.own]
	}
	return noValue
}

var ownValues = [...]plainKind{
	noField: argValues, fieldTs: startValue, fieldDur: durValue, fieldName: nameValue, fieldID: idValue, fieldArgs: noValue,
}

// planOf makes the plan of the event at hand, which was just read, where it is a plain
// one.
func (d *reader) planOf() *plan {
	ev := &d.ev
	phase := phaseOf(ev.ph)
	switch {
	case d.mode != strict || len(d.notes) > 0 || ev.ph == 0 || ev.ph == 'M' || !ev.hasTime:
		return nil
	case ev.row.Cat == trace.CatProfiler && phase == trace.Complete:
		return nil
	}
	return &plan{phase: phase, cat: ev.row.Cat, track: d.track(ev.pid, ev.tid), noDur: ev.seen&fieldDur.bit() == 0, takesID: takesID(ev.ph)}
}

// stop says where plain stopped.
type stop uint8

const (
	atEvent stop = iota // before an event that is not plain
	behind              // behind an event, without a comma
	atComma             // behind a comma
)

// plain reads the events from the one at i on, up to the first that is not plain or
// begins at limit or behind it, or stands at the end of the window.
func (d *reader) plain(i int, limit int64) (next int, at stop) {
	for d.n-i >= roomy || d.eof {
		end := d.plainEvent(i)
		if end < 0 {
			return i, atEvent
		}
		if i = skipSpace(d.buf, end); d.buf[i] != ',' {
			return i, behind
		}
		if i = skipSpace(d.buf, i+1); d.buf[i] != '{' || d.at(i) >= limit {
			return i, atComma
		}
	}
	return i, atComma
}

// plainEvent reads the event whose brace stands at i and adds it to the trace. next is
// negative, and nothing is added, where it is not plain.
func (d *reader) plainEvent(i int) (next int) {
	d.ev.row, d.ev.num = trace.Row{Offset: d.at(i)}, 0
	d.args = d.args[:0]
	d.eventNo++
	first := d.opening.follow(d.buf, i+1)
	if first == nil {
		return -1
	}
	i++
	h := first
	for h.value != endValue {
		if i += len(h.text); d.buf[i] <= ' ' {
			i = skipSpace(d.buf, i)
		}
		if len(h.adds) > 0 {
			d.args = append(d.args, h.adds...)
		}
		if i = d.plainValue(h, i); i < 0 {
			return -1
		}
		if h = h.follow(d.buf, i); h == nil {
			return -1
		}
	}
	if h.plan == nil || len(d.notes) > 0 {
		return -1
	}
	d.args = append(d.args, h.adds...)
	d.opening = first.sequel
	d.follows(h.plan)
	return i + len(h.text)
}

// plainValue reads the value at i, behind h; next is negative where it is not plain.
func (d *reader) plainValue(h *hop, i int) (next int) {
	row := &d.ev.row
	ok := false
	switch h.value {
	case startValue:
		if row.Start, next, ok = micros(d.buf, i); !ok {
			row.Start, ok, next = d.time(i)
		}
	case durValue:
		if row.Dur, next, ok = micros(d.buf, i); !ok {
			row.Dur, ok, next = d.time(i)
		}
	case nameValue:
		row.Name, next, ok = d.plainName(i)
	case idValue:
		d.ev.num, next, ok = integer(d.buf, i)
	case corrValue:
		row.Corr, next, ok = integer(d.buf, i)
	case externalValue:
		row.External, next, ok = integer(d.buf, i)
	case argValues:
		return d.readArg(h, i)
	}
	if !ok {
		return -1
	}
	return next
}

// follows adds the event at hand, which went the way of p, to the trace.
func (d *reader) follows(p *plan) {
	row := &d.ev.row
	row.Phase, row.Cat, row.Track, row.NoDur = p.phase, p.cat, p.track, p.noDur
	if p.takesID {
		row.Corr = d.ev.num
	}
	row.Args = d.args
	d.events++
	d.kineto = d.kineto || p.cat.IsKnown()
	d.b.Add(row)
}
