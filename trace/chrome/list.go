package chrome

import (
	"fmt"

	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/chrome/event"
	"github.com/gaprof/gaprof/trace/chrome/input"
	"github.com/gaprof/gaprof/trace/chrome/pool"
)

// place tells where a row of events stands.
type place uint8

const (
	inObject place = iota // the list is an entry of an object
	inList                // the list is the document
	inLines               // there is no list around them
)

// list reads events from i on to the end of their list and returns the place
// behind it; ended is false where the input ended first.
func (d *reader) list(i int, in place) (next int, ended bool) {
	defer d.formPool(i, in)()
	entry, comma := false, false // what stands directly before i
	for {
		i = d.Space(d.atHand(i))
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
		case comma && d.pool.IsDue(d.At(i)):
			i, entry, comma = d.join(i, entry)
		default:
			i, entry, comma = d.entries(i, entry, in)
		}
	}
}

// atHand slides the window, if need be, until it has room for an event at i, which may
// move.
func (d *reader) atHand(i int) int {
	if d.N-i >= event.Room || d.EOF {
		return i
	}
	d.Slide(i)
	if d.pool == nil {
		rows := int64(d.b.Len())
		d.makeRoom(d.Base-d.start, rows, rows+2*input.WindowSize/leastEvent)
	}
	d.tally(0)
	return 0
}

// join takes over what the pool has read from i on, which follows a comma, and goes on
// after it. It returns what comes directly before the place where it stopped.
func (d *reader) join(i int, entry bool) (next int, isEntry, isComma bool) {
	at := d.pool.Join(pool.Spot{Pos: d.At(i), Entry: entry, Comma: true}, d)
	if at.Pos != d.At(i) {
		d.source.Jump(&d.Window, at.Pos)
		i = 0
	}
	d.tally(i)
	return i, at.Entry, at.Comma
}

// entries reads the entry at i, and further ones as long as they repeat earlier events. It
// returns what comes directly before the place where it stopped.
func (d *reader) entries(i int, entry bool, in place) (next int, isEntry, isComma bool) {
	if entry && in != inLines {
		d.b.Problem(trace.MissingComma, d.At(i), "")
	}
	if d.Buf[i] == '{' && in != inLines {
		var at event.Stop
		if i, at = d.Repeats(i, d.pool.NextDue()); at != event.AtEvent {
			return i, at == event.Behind, at == event.AtComma
		}
	}
	start, next, ok := d.Entry(i)
	if !ok {
		next = d.resync(start, next)
	}
	return next, ok, false
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
