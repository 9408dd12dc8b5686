package chrome

import (
	"bytes"
	"fmt"

	"github.com/gaprof/gaprof/trace"
)

// listKey is the header entry that holds the events.
const listKey = "traceEvents"

// object reads a document that begins with a brace at i: a trace whose events
// stand in one of its entries, or events without anything around them. It sets
// d.pos behind the document; reason says why it is not a trace.
func (d *reader) object(i int) (reason string) {
	pin, first, seenList := i, true, false // what stands from pin on may have to be read again
	for i++; ; first = false {
		step, next := d.headerEntry(i, &pin, first, seenList)
		switch step {
		case wasEntry:
			i = next
		case wasList:
			var ended bool
			i, ended = d.list(next, inObject)
			if pin, seenList = i, true; !ended {
				d.pos = i
				return ""
			}
		case wasEvent:
			d.begin(pin)
			d.pos, _ = d.list(pin, inLines)
			return ""
		case wasEnd:
			d.pos = next
			if !seenList {
				return fmt.Sprintf("an object without an event list (%s)", listKey)
			}
			return ""
		default:
			return d.brokenHeader(next, seenList, step == wasCut)
		}
	}
}

// step is what the next entry of a header turned out to be.
type step uint8

const (
	wasEntry step = iota
	wasList
	wasEvent // the object is an event, not a header
	wasEnd
	wasBroken
	wasCut // broken by the end of the input
)

// headerEntry reads the entry of the header at i, by the rules, then carefully.
// It keeps what stands from pin on in the window. next is the place behind the
// entry, of the first event, or of the damage.
func (d *reader) headerEntry(i int, pin *int, first, seenList bool) (s step, next int) {
	d.ev = event{} // what is noted here is of no event
	for d.mode = strict; d.mode < numModes; {
		d.notes = d.notes[:0]
		var fail int
		s, next, fail = d.tryEntry(i, first, seenList)
		if s != wasBroken {
			d.mode = strict
			d.flush()
			return s, next
		}
		if !d.eof && fail+lookahead > d.n && d.n-i < d.reach {
			if seenList || i-*pin > d.reach {
				*pin = i
			}
			d.slide(*pin)
			i, *pin = i-*pin, 0
			continue
		}
		d.mode++
		if next = i; fail >= d.n {
			s = wasCut
		}
	}
	d.mode, d.notes = strict, d.notes[:0]
	return s, next
}

// tryEntry reads the entry of the header at i in the present mode.
func (d *reader) tryEntry(i int, first, seenList bool) (s step, next, fail int) {
	ks, ke, vi, raw := d.member(i, first)
	if vi < 0 {
		return wasBroken, i, ^vi
	}
	if ks == 0 {
		return wasEnd, vi, 0
	}
	key := string(d.text(token{raw: raw, start: ks, end: ke}))
	switch {
	case key == listKey && d.buf[vi] == '[':
		if seenList {
			d.note(trace.DuplicateKey, ks)
		}
		return wasList, vi + 1, 0
	case key == "ph" && !seenList:
		return wasEvent, i, 0
	}
	t, next := d.value(vi, '}')
	if next < 0 {
		return wasBroken, i, ^next
	}
	d.header(key, t)
	return wasEntry, next, 0
}

// brokenHeader goes on at the event list behind the damage at i, if there is one.
func (d *reader) brokenHeader(i int, seenList, cut bool) (reason string) {
	at := d.at(i)
	if seenList {
		if cut {
			d.b.Problem(trace.Truncated, at, fmt.Sprintf("cut at byte %d, after the event list", d.at(d.n)))
		} else {
			d.b.Problem(trace.TrailingData, at, "")
		}
		d.skipRest()
		return ""
	}
	if i = d.findList(i); i < 0 {
		return fmt.Sprintf("broken JSON in the header, and no event list behind byte %d", at)
	}
	d.b.Problem(trace.BrokenEvent, at, "an entry of the header")
	d.pos, _ = d.list(i, inObject)
	d.skipRest()
	return ""
}

// skipRest reads to the end of the input.
func (d *reader) skipRest() {
	for !d.eof {
		d.slide(d.n)
	}
	d.pos = d.n
}

// findList returns the place of the first entry of the event list that begins
// behind i, -1 where there is none.
func (d *reader) findList(i int) int {
	quoted := []byte(`"` + listKey + `"`)
	for {
		if k := bytes.Index(d.buf[i:d.n], quoted); k >= 0 && (i+k+lookahead < d.n || d.eof) {
			i += k + len(quoted)
			if c := skipSpace(d.buf, i); d.buf[c] == ':' {
				if c = skipSpace(d.buf, c+1); d.buf[c] == '[' {
					return c + 1
				}
			}
			continue
		} else if k >= 0 {
			i += k
		} else {
			i = max(i, d.n-len(quoted))
		}
		if d.eof {
			return -1
		}
		d.slide(i)
		i = 0
	}
}
