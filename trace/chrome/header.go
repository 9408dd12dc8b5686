package chrome

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/chrome/scan"
	"github.com/gaprof/gaprof/trace/chrome/token"
)

// maxExtra is the length in bytes beyond which a header entry is not kept.
const maxExtra = 16 << 20

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
	for d.Mode = token.Strict; d.Mode < token.NumModes; {
		d.Notes = d.Notes[:0]
		var fail int
		s, next, fail = d.tryEntry(i, first, seenList)
		if s != wasBroken {
			d.Mode = token.Strict
			d.Flush(0) // what is noted here is of no event
			return s, next
		}
		if d.Wants(i, fail) {
			if seenList || i-*pin > d.Reach {
				*pin = i
			}
			d.Slide(*pin)
			i, *pin = i-*pin, 0
			continue
		}
		d.Mode++
		if next = i; fail >= d.N {
			s = wasCut
		}
	}
	d.Mode, d.Notes = token.Strict, d.Notes[:0]
	return s, next
}

// tryEntry reads the entry of the header at i in the present mode.
func (d *reader) tryEntry(i int, first, seenList bool) (s step, next, fail int) {
	k, vi := d.Member(i, first)
	if scan.Broken(vi) {
		return wasBroken, i, ^vi
	}
	if k.IsNone() {
		return wasEnd, vi, 0
	}
	key := string(d.Text(k.Token()))
	switch {
	case key == listKey && d.Buf[vi] == '[':
		if seenList {
			d.Note(trace.DuplicateKey, k.Start)
		}
		return wasList, vi + 1, 0
	case key == "ph" && !seenList:
		return wasEvent, i, 0
	}
	t, next := d.Value(vi, '}')
	if scan.Broken(next) {
		return wasBroken, i, ^next
	}
	d.take(key, t)
	return wasEntry, next, 0
}

// brokenHeader goes on at the event list behind the damage at i, if there is one.
func (d *reader) brokenHeader(i int, seenList, cut bool) (reason string) {
	at := d.At(i)
	if seenList {
		if cut {
			d.b.Problem(trace.Truncated, at, fmt.Sprintf("cut at byte %d, after the event list", d.At(d.N)))
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
	for !d.EOF {
		d.Slide(d.N)
	}
	d.pos = d.N
}

// findList returns the place of the first entry of the event list that begins
// behind i, -1 where there is none.
func (d *reader) findList(i int) int {
	quoted := []byte(`"` + listKey + `"`)
	for {
		if k := bytes.Index(d.Buf[i:d.N], quoted); k >= 0 && (i+k+token.Lookahead < d.N || d.EOF) {
			i += k + len(quoted)
			if c := scan.SkipSpace(d.Buf, i); d.Buf[c] == ':' {
				if c = scan.SkipSpace(d.Buf, c+1); d.Buf[c] == '[' {
					return c + 1
				}
			}
			continue
		} else if k >= 0 {
			i += k
		} else {
			i = max(i, d.N-len(quoted))
		}
		if d.EOF {
			return -1
		}
		d.Slide(i)
		i = 0
	}
}

// take takes over one entry of the header. Entries of which the model holds
// only a part are kept as a whole as well.
func (d *reader) take(key string, t token.Token) {
	m := d.b.Meta()
	switch key {
	case "baseTimeNanoseconds":
		d.Counts.Kineto = true
		if v, ok := d.wholeNumber(t); ok {
			m.BaseTime = v
			return
		}
	case "schemaVersion":
		d.Counts.Kineto = true
		return
	case "traceName":
		if t.Kind == token.Text {
			m.TraceName = string(d.Text(t))
			return
		}
	case "displayTimeUnit":
		return
	}
	if t.Kind == token.Deep {
		return
	}
	text := d.jsonText(t)
	d.takeText(key, t, text)
	if len(text) > maxExtra {
		d.Note(trace.LongString, t.Start)
		return
	}
	if json.Valid(text) {
		m.Extra = append(m.Extra, trace.Extra{Key: key, JSON: string(text)})
	}
}

// takeText takes over what the model holds of an entry that is kept as a whole.
func (d *reader) takeText(key string, t token.Token, text []byte) {
	m := d.b.Meta()
	switch key {
	case "deviceProperties":
		d.Counts.Kineto = true
		m.Devices = devices(text)
	case "distributedInfo":
		d.Counts.Kineto = true
		m.Distributed = distributed(text)
	case "host_name", "hostname":
		if t.Kind == token.Text {
			m.Host = string(d.Text(t))
		}
	case "INFO", "WARNING", "ERROR":
		records, lines := droppedBy(text)
		m.Dropped += records
		for range lines {
			d.Note(trace.DroppedDevice, t.Start)
		}
	}
}

func (d *reader) wholeNumber(t token.Token) (int64, bool) {
	s, ok := d.Digits(t)
	if !ok {
		return 0, false
	}
	return scan.Whole(s)
}

// jsonText returns a token as compact JSON.
func (d *reader) jsonText(t token.Token) []byte {
	start, end := t.Start, t.End
	switch t.Kind {
	case token.Text:
		start, end = start-1, end+1
	case token.Null:
		return []byte("null")
	}
	return scan.Compact(nil, d.Buf[start:end])
}
