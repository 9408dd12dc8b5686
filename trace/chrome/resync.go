package chrome

import (
	"fmt"

	"github.com/gaprof/gaprof/trace"
)

// resync leaves out the entry at i, which breaks a rule at fail, and returns the
// place of the next event, of the end of the list, or of the end of the input.
//
// An event is searched by its brace and tried: only one that is whole and has a
// phase and a time counts, so that neither arguments nor text within a string are
// taken for one. Trying may read bytes again, but in all not more than a small
// multiple of the input.
func (d *reader) resync(i, fail int) int {
	start, cut := d.at(i), d.eof && fail >= d.n
	d.notes = d.notes[:0]
	d.others++
	for i++; ; {
		if i+lookahead > d.n && !d.eof {
			d.slide(i)
			i = 0
		}
		if i >= d.n {
			break
		}
		switch d.buf[i] {
		case '{':
			found, at, end := d.try(i)
			if i = at; found {
				d.b.Problem(trace.BrokenEvent, start, "")
				return i
			}
			if d.rescan += int64(end - i); d.rescan > 4*d.at(i)+maxValue/8 {
				i = max(i, end-1)
			}
		case ']':
			if d.endsList(i) {
				d.b.Problem(trace.BrokenEvent, start, "")
				return i
			}
		}
		i++
	}
	if d.cutOff = true; cut {
		d.b.Problem(trace.Truncated, start,
			fmt.Sprintf("cut at byte %d, first incomplete event at %d", d.at(d.n), start))
	} else {
		d.b.Problem(trace.BrokenEvent, start, "")
	}
	return d.n
}

// try tells whether an event stands at i; at is its place, which may have moved,
// and end how far it was read.
func (d *reader) try(i int) (found bool, at, end int) {
	if next := skipSpace(d.buf, i+1); d.buf[next] != '"' {
		return false, i, i
	}
	for {
		end = d.event(i)
		if end < 0 && d.wants(i, ^end) {
			d.slide(i)
			i = 0
			continue
		}
		found = end >= 0 && d.ev.ph != 0 && (d.ev.hasTime || d.ev.ph == 'M')
		if end < 0 {
			end = ^end
		}
		d.notes = d.notes[:0]
		return found, i, end
	}
}

// endsList tells whether the bracket at i ends the event list: what follows is
// the end of the document or an entry that Kineto writes behind its events.
func (d *reader) endsList(i int) bool {
	i = skipSpace(d.buf, i+1)
	switch {
	case i >= d.n:
		return true
	case d.buf[i] == '}':
		return skipSpace(d.buf, i+1) >= d.n
	case d.buf[i] != ',':
		return false
	}
	i = skipSpace(d.buf, i+1)
	for _, key := range []string{`"traceName"`, `"distributedInfo"`, `"displayTimeUnit"`, `"metadata"`, `"WARNING"`} {
		if d.has(i, key) {
			return true
		}
	}
	return false
}
