package token

import (
	"bytes"
	"unicode/utf8"

	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/chrome/scan"
)

// Lookahead is how many bytes must follow damage before it is judged: a repair looks at
// what follows, and must not depend on where the window ends.
const Lookahead = 4096

// longestKey bounds how far the key after a doubtful quote is looked for.
const longestKey = 256

// carefulString reads a string whose content begins at i, with whatever damage
// is in it, and returns the place of the quote that closes it.
func (s *Scanner) carefulString(i int, in byte) int {
	b, start := s.Buf, i
	control, escape := false, false // counted already: damage counts once a string
	for ; ; i++ {
		switch c := b[i]; {
		case (c == '"' || c == '\\') && s.endsSoon(i):
			return ^i // what follows decides
		case c == '"' && s.closes(i, in):
			if at := scan.ValidPrefix(b[start:i]); at < i-start {
				s.Note(trace.BadUTF8, start+at)
			}
			return i
		case c == '"':
			s.Note(trace.UnescapedQuote, i)
		case c == '\\':
			n, bad := s.carefulEscape(i)
			if bad && !escape {
				s.Note(trace.BadEscape, i)
				escape = true
			}
			i += n - 1
		case c < ' ':
			if i >= s.N {
				return ^i
			}
			if !control {
				s.Note(trace.RawControl, i)
			}
			control = true
		}
	}
}

// endsSoon reports whether too little stands behind i to judge damage there.
func (s *Scanner) endsSoon(i int) bool { return i+Lookahead > s.N && !s.EOF }

// carefulEscape is the length of the escape at i. One that is bad stands for its
// backslash: it is illegal, or the quote in it closes the string.
func (s *Scanner) carefulEscape(i int) (n int, bad bool) {
	lone := s.Buf[i+1] == '"' && s.surelyCloses(i+1)
	if n = scan.EscapeLen(s.Buf, i); n > 0 && !lone {
		return n, false
	}
	return 1, lone || i+1 < s.N
}

// closes reports whether the quote at i can close a string: a key is followed by a
// colon, an entry by the end of what it stands in or by another entry. Any other
// quote is content.
func (s *Scanner) closes(i int, in byte) bool {
	b := s.Buf
	i = scan.SkipSpace(b, i+1)
	switch {
	case i >= s.N:
		return true
	case in == ':':
		return b[i] == ':'
	case in == ']' || in == 0:
		return b[i] == ',' || b[i] == in
	case b[i] == '}':
		next := scan.SkipSpace(b, i+1)
		return next >= s.N || b[next] == ',' || b[next] == '}' || b[next] == ']' || b[next] == '{'
	case b[i] == ',':
		i = scan.SkipSpace(b, i+1)
		return b[i] == ',' || b[i] == '}' || s.keyAt(i) || s.eventAt(i)
	}
	return s.keyAt(i) // a missing comma
}

// surelyCloses reports whether the quote at i closes a string although a backslash
// stands before it, as in a path that ends with one: another member follows, or
// the end of the event and the next event. Within text that holds escaped JSON,
// the quotes of what follows would be escaped.
func (s *Scanner) surelyCloses(i int) bool {
	b := s.Buf
	i = scan.SkipSpace(b, i+1)
	ends := b[i] == '}'
	for b[i] == '}' || b[i] == ']' {
		i = scan.SkipSpace(b, i+1)
	}
	if b[i] != ',' {
		return ends && i >= s.N
	}
	i = scan.SkipSpace(b, i+1)
	return i < s.N && (s.keyAt(i) || ends && s.eventAt(i))
}

// eventAt reports whether a brace and a key stand at i.
func (s *Scanner) eventAt(i int) bool {
	return s.Buf[i] == '{' && s.Buf[scan.SkipSpace(s.Buf, i+1)] == '"'
}

// keyAt reports whether a key and its colon stand at i.
func (s *Scanner) keyAt(i int) bool {
	if s.Buf[i] != '"' {
		return i >= s.N
	}
	rest := s.Buf[i+1 : min(i+1+longestKey, s.N)]
	k := bytes.IndexByte(rest, '"')
	if k < 0 {
		return i+1+longestKey >= s.N
	}
	next := scan.SkipSpace(s.Buf, i+1+k+1)
	return next >= s.N || s.Buf[next] == ':'
}

// oddLiteral reads a bare word that is no JSON. Spellings of NaN and infinity are
// noted and read as null; any other word breaks the rules.
func (s *Scanner) oddLiteral(i int) int {
	end := i
	for isWord(s.Buf[end]) {
		end++
	}
	if end >= s.N {
		return ^end
	}
	word := bytes.ToLower(bytes.TrimLeft(s.Buf[i:end], "+-"))
	switch string(word) {
	case "nan", "inf", "infinity", "nan(ind)", "nan(snan)", "1.#qnan", "1.#inf", "1.#ind", "1.#nan":
		s.Note(trace.NonFiniteNumber, i)
		return end
	}
	return ^i
}

func isWord(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c-'0' <= 9 || c == '+' || c == '-' || c == '.' || c == '#' ||
		c == '(' || c == ')' || c == '_' || c >= utf8.RuneSelf
}
