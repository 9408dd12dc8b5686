package chrome

import (
	"slices"

	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/chrome/scan"
	"github.com/gaprof/gaprof/trace/chrome/token"
)

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

	args   []trace.Arg // of the last event, and where they are stored
	stored trace.Stored
	part   int  // of the reader, in which that holds
	varied bool // an event had others than the one before
}

// store returns where the arguments of the event at hand are stored: on many ways all
// events have the same.
func (p *plan) store(d *reader) trace.Stored {
	if p.varied {
		return d.b.Store(d.args)
	}
	if p.part != d.part || !slices.Equal(p.args, d.args) {
		p.varied = p.part == d.part && p.args != nil
		p.args, p.stored, p.part = slices.Clone(d.args), d.b.Store(d.args), d.part
	}
	return p.stored
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
	case d.Mode != token.Strict || len(d.Notes) > 0 || ev.ph == 0 || ev.ph == 'M' || !ev.hasTime:
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

// gap is what stood between two events the last time, from behind one to the brace of
// the next, as a word: the same is to be expected again.
type gap struct {
	word, mask uint64
	n          int // bytes before the brace
}

// learn notes what stands between end and the brace at i.
func (g *gap) learn(b []byte, end, i int) {
	if n := i - end; n < 8 {
		g.n, g.mask = n, 1<<(8*(n+1))-1
		g.word = scan.Load(b, end) & g.mask
	}
}

// stands tells whether it stands at end again.
func (g *gap) stands(b []byte, end int) bool {
	return (scan.Load(b, end)^g.word)&g.mask == 0 && g.n > 0
}

// plain reads the events from the one at i on, up to the first that is not plain or
// begins at limit or behind it, or stands at the end of the window.
func (d *reader) plain(i int, limit int64) (next int, at stop) {
	for d.N-i >= roomy || d.EOF {
		end := d.plainEvent(i)
		if end < 0 {
			return i, atEvent
		}
		if d.gap.stands(d.Buf, end) && d.At(end+d.gap.n) < limit {
			i = end + d.gap.n
			continue
		}
		if i = scan.SkipSpace(d.Buf, end); d.Buf[i] != ',' {
			return i, behind
		}
		if i = scan.SkipSpace(d.Buf, i+1); d.Buf[i] != '{' || d.At(i) >= limit {
			return i, atComma
		}
		d.gap.learn(d.Buf, end, i)
	}
	return i, atComma
}

// plainEvent reads the event whose brace stands at i and adds it to the trace. next is
// negative, and nothing is added, where it is not plain. Only a value that ends where
// the hop behind it begins is taken, so what a number must not be followed by need not
// be looked for.
func (d *reader) plainEvent(i int) (next int) {
	b, row := d.Buf, &d.ev.row
	row.Start, row.Dur, row.Name, row.Corr, row.External, d.ev.num = 0, 0, 0, 0, 0, 0
	row.Args, row.Stored, row.Offset = nil, 0, d.At(i)
	d.args = d.args[:0]
	d.eventNo++
	first := d.opening.follow(b, i+1)
	if first == nil {
		return -1
	}
	i++
	for h := first; ; {
		i += len(h.text)
		if len(h.adds) > 0 {
			d.args = append(d.args, h.adds...)
		}
		ok := true
		switch h.value {
		case startValue:
			if row.Start, ok = d.moment.Read(b, i); ok {
				i += scan.MomentLen
				break
			}
			at := i
			if row.Start, i, ok = scan.Micros(b, at); ok {
				d.moment.Learn(b, at, i)
			}
		case durValue:
			if row.Dur, i, ok = scan.FewMicros(b, i); !ok {
				row.Dur, i, ok = scan.Micros(b, i)
			}
		case nameValue:
			row.Name, i, ok = d.plainName(i)
		case idValue:
			d.ev.num, i, ok = scan.Integer(b, i)
		case corrValue:
			row.Corr, i, ok = scan.Integer(b, i)
		case externalValue:
			row.External, i, ok = scan.Integer(b, i)
		case argValues:
			i = d.plainArg(h, i)
			ok = i >= 0
		case endValue:
			return d.follows(h, first, i)
		}
		if !ok {
			return -1
		}
		if next := h.next[0]; next != nil && next.stands(b, i) {
			h = next
		} else if h = h.turnTo(b, i); h == nil {
			return -1
		}
	}
}

// plainArg reads the value at i of the argument behind h. A small integer that nobody
// asks for is passed, a list that was seen lately is recalled. No key stands twice on a
// plain way, whose keys are fixed: of an event with such a key something was noted, and
// planOf makes no plan of it.
func (d *reader) plainArg(h *hop, i int) (next int) {
	b := d.Buf
	switch c := b[i]; {
	case c-'1' < 9 && !h.keep:
		if n := scan.Digits(b, i); n < 8 && b[i+n] != '.' {
			return i + n
		}
	case c == '[' && h.keep == (h.key != trace.KeyNone):
		if m := d.memos.recall(b, i, h.key, d.ev.row.Name); m != nil {
			if h.keep {
				d.args = append(d.args, m.arg)
			}
			return i + len(m.text)
		}
	}
	return d.readArg(h, i)
}

// follows adds the event at hand, which went the way from first to last and ends at i,
// to the trace; next is negative where that is not a plain one.
func (d *reader) follows(last, first *hop, i int) (next int) {
	p, row := last.plan, &d.ev.row
	if p == nil || len(d.Notes) > 0 {
		return -1
	}
	d.opening = first.sequel
	row.Phase, row.Cat, row.Track, row.NoDur = p.phase, p.cat, p.track, p.noDur
	if p.takesID {
		row.Corr = d.ev.num
	}
	if len(d.args) > 0 {
		row.Stored = p.store(d)
	}
	d.events++
	d.kineto = d.kineto || p.cat.IsKnown()
	d.b.Add(row)
	return i
}
