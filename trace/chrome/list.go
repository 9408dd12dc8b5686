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
		if d.N-i < event.Room && !d.EOF {
			d.Slide(i)
			i = 0
			if d.pool == nil {
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
		case comma && d.pool.IsDue(d.At(i)):
			at := d.pool.Join(pool.Spot{Pos: d.At(i), Entry: entry, Comma: comma}, d)
			if at.Pos != d.At(i) {
				d.source.Jump(&d.Window, at.Pos)
				i = 0
			}
			d.tally(i)
			entry, comma = at.Entry, at.Comma
		default:
			if entry && in != inLines {
				d.b.Problem(trace.MissingComma, d.At(i), "")
			}
			if c == '{' && in != inLines {
				var at event.Stop
				if i, at = d.Repeats(i, d.pool.NextDue()); at != event.AtEvent {
					entry, comma = at == event.Behind, at == event.AtComma
					continue
				}
			}
			start, next, ok := d.Entry(i)
			if i = next; !ok {
				i = d.resync(start, next)
			}
			entry, comma = ok, false
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
