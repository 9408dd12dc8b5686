package chrome

import (
	"fmt"

	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/chrome/scan"
	"github.com/gaprof/gaprof/trace/chrome/token"
)

// resync drops and reports the entry at i, which breaks a rule at fail, and returns the
// place of the next event, of the end of the list, or of the end of the input.
//
// Every brace is tried as the beginning of an event. Only one that is complete and has a
// phase and a time counts, so that neither arguments nor text within a string are taken
// for one. Trying may read bytes again, but altogether not more than a small multiple of
// the input.
func (d *reader) resync(i, fail int) int {
	start, cut := d.At(i), d.EOF && fail >= d.N
	d.Notes = d.Notes[:0]
	d.Counts.Others++
	for i++; ; {
		if i+token.Lookahead > d.N && !d.EOF {
			d.Slide(i)
			i = 0
		}
		if i >= d.N {
			break
		}
		switch d.Buf[i] {
		case '{':
			found, at, end := d.Try(i)
			if i = at; found {
				d.b.Problem(trace.BrokenEvent, start, "")
				return i
			}
			if d.rescan += int64(end - i); d.rescan > 4*d.At(i)+maxValue/8 {
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
			fmt.Sprintf("cut at byte %d, first incomplete event at %d", d.At(d.N), start))
	} else {
		d.b.Problem(trace.BrokenEvent, start, "")
	}
	return d.N
}

// endsList reports whether the bracket at i ends the event list: what follows is
// the end of the document or an entry that Kineto writes behind its events.
func (d *reader) endsList(i int) bool {
	i = scan.SkipSpace(d.Buf, i+1)
	switch {
	case i >= d.N:
		return true
	case d.Buf[i] == '}':
		return scan.SkipSpace(d.Buf, i+1) >= d.N
	case d.Buf[i] != ',':
		return false
	}
	i = scan.SkipSpace(d.Buf, i+1)
	for _, key := range []string{`"traceName"`, `"distributedInfo"`, `"displayTimeUnit"`, `"metadata"`, `"WARNING"`} {
		if d.Has(i, key) {
			return true
		}
	}
	return false
}
