package chrome

import (
	"github.com/gaprof/gaprof/trace"
)

// mode says by which rules the text at hand is scanned.
type mode uint8

const (
	strict  mode = iota // RFC 8259; the first broken rule ends the attempt
	careful             // damage is repaired and noted
	numModes
)

// maxDepth is how deep a value may be nested before it counts as damage.
const maxDepth = 10000

// maxText is the length in bytes at which names and texts are cut.
const maxText = 1 << 20

// kind is the kind of a token's value.
type kind uint8

const (
	textKind kind = iota
	numberKind
	nullKind // also NaN and infinity, which are noted
	boolKind
	listKind // a list or an object
	deepKind // one that is nested too deeply; noted
)

// token is one value in the window: its text, of strings without the quotes.
type token struct {
	kind       kind
	raw        bool // a string that must be decoded
	damaged    bool // the text of a list or an object is not JSON as it stands
	start, end int
}

// value reads any value at i; in tells what it stands in by the closing byte, '}'
// or ']', or 0 for none. next is negative where a rule is broken.
func (d *reader) value(i int, in byte) (t token, next int) {
	switch c := d.buf[i]; c {
	case '"':
		end, raw := d.str(i+1, in)
		return token{kind: textKind, raw: raw, start: i + 1, end: end}, after(end)
	case '[', '{':
		before := len(d.notes)
		end, deep := d.skipList(i)
		t = token{kind: listKind, start: i, end: end, damaged: len(d.notes) > before}
		if deep {
			d.note(trace.DeepNesting, i)
			t.kind = deepKind
		}
		return t, end
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		if end := scanNumber(d.buf, i); end >= 0 || d.mode == strict {
			return token{kind: numberKind, start: i, end: end}, d.closed(end)
		}
	case 't', 'f', 'n':
		if end := scanLiteral(d.buf, i); end >= 0 || d.mode == strict {
			t = token{kind: boolKind, start: i, end: end}
			if c == 'n' {
				t.kind = nullKind
			}
			return t, end
		}
	}
	if d.mode == strict {
		return token{}, ^i
	}
	end := d.oddLiteral(i)
	return token{kind: nullKind, start: i, end: end}, end
}

// after is the place behind the closing quote at end, where there is one.
func after(end int) int {
	if end < 0 {
		return end
	}
	return end + 1
}

// closed refuses a number that the end of the window may have cut.
func (d *reader) closed(end int) int {
	if end >= d.n && !d.eof {
		return ^end
	}
	return end
}

// str reads a string whose content begins at i and returns the place of its
// closing quote; raw tells that the content must be decoded.
func (d *reader) str(i int, in byte) (end int, raw bool) {
	if d.mode == strict {
		return scanString(d.buf, i)
	}
	return d.carefulString(i, in), true
}

// separator steps from one entry of a list or an object to the next, over the
// comma. closed tells that there is none: at is then behind the closing byte.
func (d *reader) separator(i int, first bool, closing byte) (at int, closed bool) {
	b := d.buf
	i = skipSpace(b, i)
	if b[i] == closing {
		return i + 1, true
	}
	if !first && b[i] == ',' {
		i = skipSpace(b, i+1)
	} else if !first {
		if d.mode == strict || !startsEntry(b[i], closing) {
			return ^i, false
		}
		d.note(trace.MissingComma, i)
	}
	if d.mode == strict {
		return i, false
	}
	for b[i] == ',' {
		d.note(trace.ExtraComma, i)
		i = skipSpace(b, i+1)
	}
	if b[i] == closing {
		d.note(trace.ExtraComma, i)
		return i + 1, true
	}
	return i, false
}

// startsEntry tells whether an entry of an object or a list may begin with c.
func startsEntry(c, closing byte) bool {
	if closing == '}' {
		return c == '"'
	}
	return c == '"' || c == '{' || c == '[' || c == '-' || c-'0' <= 9
}

// member reads the key of the next member of an object: d.buf[ks:ke], raw where
// it must be decoded, and its value begins at vi. ks is 0 at the end of the
// object, which vi is then behind. vi is negative where a rule is broken.
func (d *reader) member(i int, first bool) (ks, ke, vi int, raw bool) {
	i, closed := d.separator(i, first, '}')
	if closed || i < 0 {
		return 0, 0, i, false
	}
	b := d.buf
	if b[i] != '"' {
		return 0, 0, ^i, false
	}
	ks = i + 1
	ke, raw = d.str(ks, ':')
	if ke < 0 {
		return 0, 0, ke, false
	}
	i = skipSpace(b, ke+1)
	if b[i] != ':' {
		return 0, 0, ^i, false
	}
	return ks, ke, skipSpace(b, i+1), raw
}

// skipList reads a list or an object at i, however deep, without recursion, and
// returns the place behind it; deep tells that it is nested beyond maxDepth.
func (d *reader) skipList(i int) (end int, deep bool) {
	stack := append(d.stack[:0], d.buf[i]+2) // '[' + 2 is ']', '{' + 2 is '}'
	defer func() { d.stack = stack }()
	i++
	for first := true; ; {
		closing := stack[len(stack)-1]
		vi, closed := 0, false
		if closing == '}' {
			var ks int
			ks, _, vi, _ = d.member(i, first)
			closed = ks == 0
		} else {
			vi, closed = d.separator(i, first, ']')
		}
		if vi < 0 {
			return vi, deep
		}
		first = false
		if closed {
			if stack = stack[:len(stack)-1]; len(stack) == 0 {
				return vi, deep
			}
			i = vi
			continue
		}
		if c := d.buf[vi]; c == '[' || c == '{' {
			stack = append(stack, c+2)
			deep = deep || len(stack) > maxDepth
			i, first = vi+1, true
			continue
		}
		if _, i = d.value(vi, closing); i < 0 {
			return i, deep
		}
	}
}

// text decodes a string token; the bytes are good until the next call.
func (d *reader) text(t token) []byte {
	s := d.buf[t.start:t.end]
	if t.raw {
		var lone int
		d.scratch, lone = unescape(d.scratch[:0], s)
		if s = d.scratch; lone > 0 {
			d.note(trace.LoneSurrogate, t.start)
		}
	}
	if len(s) > maxText {
		d.note(trace.LongString, t.start)
		s = cut(s, maxText)
	}
	return s
}
