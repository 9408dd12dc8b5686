package chrome

import (
	"bytes"
	"unicode/utf8"

	"github.com/gaprof/gaprof/trace"
)

// lookahead is how much text must stand behind a damage, in bytes, before it is
// judged: a repair looks at what follows, and must not depend on where the
// window ends.
const lookahead = 4096

// longestKey bounds how far the key after a doubtful quote is looked for.
const longestKey = 256

// carefulString reads a string whose content begins at i, with whatever damage
// is in it, and returns the place of the quote that closes it.
func (d *reader) carefulString(i int, in byte) int {
	b, start := d.buf, i
	control, escape := false, false // counted already: damage counts once a string
	for ; ; i++ {
		switch c := b[i]; {
		case (c == '"' || c == '\\') && i+lookahead > d.n && !d.eof:
			return ^i // what follows decides
		case c == '"':
			if d.closes(i, in) {
				if at := validPrefix(b[start:i]); at < i-start {
					d.note(trace.BadUTF8, start+at)
				}
				return i
			}
			d.note(trace.UnescapedQuote, i)
		case c == '\\':
			lone := b[i+1] == '"' && d.surelyCloses(i+1)
			if n := escapeLen(b, i); n > 0 && !lone {
				i += n - 1
			} else if !escape && (lone || i+1 < d.n) {
				d.note(trace.BadEscape, i)
				escape = true
			}
		case c < ' ':
			if i >= d.n {
				return ^i
			}
			if !control {
				d.note(trace.RawControl, i)
			}
			control = true
		}
	}
}

// closes tells whether the quote at i can close a string: a key is followed by a
// colon, an entry by the end of what it stands in or by another entry. Any other
// quote is content.
func (d *reader) closes(i int, in byte) bool {
	b := d.buf
	i = skipSpace(b, i+1)
	switch {
	case i >= d.n:
		return true
	case in == ':':
		return b[i] == ':'
	case in == ']' || in == 0:
		return b[i] == ',' || b[i] == in
	case b[i] == '}':
		next := skipSpace(b, i+1)
		return next >= d.n || b[next] == ',' || b[next] == '}' || b[next] == ']' || b[next] == '{'
	case b[i] == ',':
		i = skipSpace(b, i+1)
		return b[i] == ',' || b[i] == '}' || d.keyAt(i) || d.eventAt(i)
	}
	return d.keyAt(i) // a missing comma
}

// surelyCloses tells whether the quote at i closes a string although a backslash
// stands before it, as in a path that ends with one: another member follows, or
// the end of the event and the next event. Within text that holds escaped JSON,
// the quotes of what follows would be escaped.
func (d *reader) surelyCloses(i int) bool {
	b := d.buf
	i = skipSpace(b, i+1)
	ends := b[i] == '}'
	for b[i] == '}' || b[i] == ']' {
		i = skipSpace(b, i+1)
	}
	if b[i] != ',' {
		return ends && i >= d.n
	}
	i = skipSpace(b, i+1)
	return i < d.n && (d.keyAt(i) || ends && d.eventAt(i))
}

// eventAt tells whether a brace and a key stand at i.
func (d *reader) eventAt(i int) bool {
	return d.buf[i] == '{' && d.buf[skipSpace(d.buf, i+1)] == '"'
}

// keyAt tells whether a key and its colon stand at i.
func (d *reader) keyAt(i int) bool {
	if d.buf[i] != '"' {
		return i >= d.n
	}
	rest := d.buf[i+1 : min(i+1+longestKey, d.n)]
	k := bytes.IndexByte(rest, '"')
	if k < 0 {
		return i+1+longestKey >= d.n
	}
	next := skipSpace(d.buf, i+1+k+1)
	return next >= d.n || d.buf[next] == ':'
}

// oddLiteral reads a bare word that is no JSON. Spellings of NaN and infinity are
// noted and read as null; any other word breaks the rules.
func (d *reader) oddLiteral(i int) int {
	end := i
	for isWord(d.buf[end]) {
		end++
	}
	if end >= d.n {
		return ^end
	}
	word := bytes.ToLower(bytes.TrimLeft(d.buf[i:end], "+-"))
	switch string(word) {
	case "nan", "inf", "infinity", "nan(ind)", "nan(snan)", "1.#qnan", "1.#inf", "1.#ind", "1.#nan":
		d.note(trace.NonFiniteNumber, i)
		return end
	}
	return ^i
}

func isWord(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c-'0' <= 9 || c == '+' || c == '-' || c == '.' || c == '#' ||
		c == '(' || c == ')' || c == '_' || c >= utf8.RuneSelf
}
