package chrome

import (
	"fmt"

	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/chrome/input"
	"github.com/gaprof/gaprof/trace/chrome/token"
)

// place tells where a row of events stands.
type place uint8

const (
	inObject place = iota // the list is an entry of an object
	inList                // the list is the document
	inLines               // there is no list around them
)

// roomy is how much of the window, in bytes, an event should find before it; few
// events are longer, so that few are begun twice.
const roomy = 16 << 10

const (
	leastEvent = 100 // bytes, nearly
	farthest   = 256 // how much of the input, in what is known of it, makeRoom plans for
)

// list reads events from i on to the end of their list and returns the place
// behind it; ended is false where the input ended first.
func (d *reader) list(i int, in place) (next int, ended bool) {
	defer d.formTeam(i, in)()
	entry, comma := false, false // what stands directly before i
	for {
		if d.N-i < roomy && !d.EOF {
			d.Slide(i)
			i = 0
			if d.team == nil {
				rows := int64(d.b.Len())
				d.makeRoom(d.Base-d.start, rows, rows+2*input.WindowSize/leastEvent)
			}
			d.tally(i)
		}
		i = d.Space(i)
		switch c := d.Buf[i]; {
		case i >= d.N:
			d.endOfInput(i, comma, in)
			return i, false
		case c == ',':
			if !entry {
				d.b.Problem(trace.ExtraComma, d.At(i), "")
			}
			entry, comma = false, true
			i++
		case c == ']' && in != inLines:
			if comma {
				d.b.Problem(trace.ExtraComma, d.At(i), "")
			}
			return i + 1, true
		case c != '{' && in == inLines:
			d.b.Problem(trace.LineDelimited, d.start, "")
			return i, true
		case comma && d.team.isDue(d.At(i)):
			at := d.team.join(spot{d.At(i), entry, comma})
			if at.pos != d.At(i) {
				d.source.Jump(&d.Window, at.pos)
				i = 0
			}
			d.tally(i)
			entry, comma = at.entry, at.comma
		default:
			if entry && in != inLines {
				d.b.Problem(trace.MissingComma, d.At(i), "")
			}
			if c == '{' && in != inLines {
				var at stop
				if i, at = d.plain(i, d.team.nextDue()); at != atEvent {
					entry, comma = at == behind, at == atComma
					continue
				}
			}
			var whole bool
			i, whole = d.entry(i)
			entry, comma = whole, false
		}
	}
}

// endOfInput notes that the input ended at i, between two events.
func (d *reader) endOfInput(i int, comma bool, in place) {
	switch {
	case in == inLines:
		d.b.Problem(trace.LineDelimited, d.start, "")
	case d.cutOff:
	case comma || d.Err != nil:
		d.b.Problem(trace.Truncated, d.At(i), fmt.Sprintf("cut at byte %d, after a whole event", d.At(i)))
	default:
		d.b.Problem(trace.UnclosedArray, d.At(i), "")
	}
}

// entry reads the entry of the event list at i, by the rules, then carefully.
// Where that fails, reading goes on at the next event and whole is false.
func (d *reader) entry(i int) (next int, whole bool) {
	for d.Mode = token.Strict; d.Mode < token.NumModes; {
		next = d.attempt(i)
		if next >= 0 {
			if d.Mode != token.Strict && len(d.Notes) == 0 {
				d.Note(trace.BrokenEvent, i) // no rule may be broken in silence
			}
			d.accept(i)
			d.Mode = token.Strict
			return next, true
		}
		if d.Wants(i, ^next) {
			d.Slide(i)
			i = 0
			continue
		}
		d.Mode++
	}
	d.Mode = token.Strict
	return d.resync(i, ^next), false
}

// attempt reads one entry; what is not an object is none.
func (d *reader) attempt(i int) (next int) {
	if d.Buf[i] == '{' {
		return d.event(i)
	}
	d.startEvent()
	_, next = d.Value(i, ']')
	d.ev.seen = 1
	return next
}

// makeRoom sees to it that there is room for some rows: at first for the rest of the
// input, by the rows that are known to be in the bytes read so far, and a quarter more,
// later by halves. To move a column that has become too short costs more than its reading.
// A team knows what it will add next; who reads alone asks for as many rows as might
// stand in the next windows besides those that are known.
func (d *reader) makeRoom(read, known, rows int64) {
	if read < 2*input.WindowSize || rows <= d.reserved {
		return
	}
	want := rows + rows/2
	if rest := min(d.opts.SizeHint-d.start, read*farthest); rest > read {
		want = rows + int64(float64(known)*float64(rest-read)/float64(read)*1.25)
	}
	d.reserved = max(want, d.reserved+d.reserved/2)
	d.b.Reserve(int(d.reserved))
}
