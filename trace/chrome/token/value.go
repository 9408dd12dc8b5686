package token

import (
	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/chrome/scan"
)

// maxDepth is how deep a value may be nested before it counts as damage.
const maxDepth = 10000

// Value reads any value at i; in tells what it stands in by the closing byte, '}'
// or ']', or 0 for none. next is negative where a rule is broken.
func (s *Scanner) Value(i int, in byte) (t Token, next int) {
	switch c := s.Buf[i]; c {
	case '"':
		end, raw := s.str(i+1, in)
		return Token{Kind: Text, Raw: raw, Start: i + 1, End: end}, PastQuote(end)
	case '[', '{':
		before := len(s.Notes)
		end, deep := s.skipList(i)
		t = Token{Kind: List, Start: i, End: end, Damaged: len(s.Notes) > before}
		if deep {
			s.Note(trace.DeepNesting, i)
			t.Kind = Deep
		}
		return t, end
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		if end := scan.Number(s.Buf, i); !scan.Broken(end) || s.Mode == Strict {
			return Token{Kind: Number, Start: i, End: end}, s.Closed(end)
		}
	case 't', 'f', 'n':
		if end := scan.Literal(s.Buf, i); !scan.Broken(end) || s.Mode == Strict {
			t = Token{Kind: Bool, Start: i, End: end}
			if c == 'n' {
				t.Kind = Null
			}
			return t, end
		}
	}
	if s.Mode == Strict {
		return Token{}, ^i
	}
	end := s.oddLiteral(i)
	return Token{Kind: Null, Start: i, End: end}, end
}

// PastQuote is the place behind the closing quote at end, where there is one.
func PastQuote(end int) int {
	if scan.Broken(end) {
		return end
	}
	return end + 1
}

// Closed refuses a number that the end of the window may have cut.
func (s *Scanner) Closed(end int) int {
	if end >= s.N && !s.EOF {
		return ^end
	}
	return end
}

// str reads a string whose content begins at i and returns the place of its
// closing quote; raw tells that the content must be decoded.
func (s *Scanner) str(i int, in byte) (end int, raw bool) {
	if s.Mode == Strict {
		return scan.String(s.Buf, i)
	}
	return s.carefulString(i, in), true
}

// separator steps from one entry of a list or an object to the next, over the
// comma. closed tells that there is none: at is then behind the closing byte.
func (s *Scanner) separator(i int, first bool, closing byte) (at int, closed bool) {
	b := s.Buf
	i = scan.SkipSpace(b, i)
	if b[i] == closing {
		return i + 1, true
	}
	if !first && b[i] == ',' {
		i = scan.SkipSpace(b, i+1)
	} else if !first {
		if s.Mode == Strict || !startsEntry(b[i], closing) {
			return ^i, false
		}
		s.Note(trace.MissingComma, i)
	}
	if s.Mode == Strict {
		return i, false
	}
	for b[i] == ',' {
		s.Note(trace.ExtraComma, i)
		i = scan.SkipSpace(b, i+1)
	}
	if b[i] == closing {
		s.Note(trace.ExtraComma, i)
		return i + 1, true
	}
	return i, false
}

// startsEntry reports whether an entry of an object or a list may begin with c.
func startsEntry(c, closing byte) bool {
	if closing == '}' {
		return c == '"'
	}
	return c == '"' || c == '{' || c == '[' || c == '-' || c-'0' <= 9
}

// Member reads the key of the next member of an object, whose value begins at vi. At
// the end of the object there is none, and vi is behind it. vi is negative where a rule
// is broken. first says that no member stands before it.
func (s *Scanner) Member(i int, first bool) (key Key, vi int) {
	i, closed := s.separator(i, first, '}')
	if closed || scan.Broken(i) {
		return Key{}, i
	}
	b := s.Buf
	if b[i] != '"' {
		return Key{}, ^i
	}
	end, raw := s.str(i+1, ':')
	if scan.Broken(end) {
		return Key{}, end
	}
	key = Key{Raw: raw, Start: i + 1, End: end}
	if i = scan.SkipSpace(b, end+1); b[i] != ':' {
		return Key{}, ^i
	}
	return key, scan.SkipSpace(b, i+1)
}

// skipList reads a list or an object at i, however deep, without recursion, and
// returns the place behind it; deep tells that it is nested beyond maxDepth.
func (s *Scanner) skipList(i int) (end int, deep bool) {
	stack := append(s.stack[:0], s.Buf[i]+2) // '[' + 2 is ']', '{' + 2 is '}'
	defer func() { s.stack = stack }()
	i++
	for first := true; ; {
		closing := stack[len(stack)-1]
		vi, closed := 0, false
		if closing == '}' {
			var key Key
			key, vi = s.Member(i, first)
			closed = key.IsNone()
		} else {
			vi, closed = s.separator(i, first, ']')
		}
		if scan.Broken(vi) {
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
		if c := s.Buf[vi]; c == '[' || c == '{' {
			stack = append(stack, c+2)
			deep = deep || len(stack) > maxDepth
			i, first = vi+1, true
			continue
		}
		if _, i = s.Value(vi, closing); scan.Broken(i) {
			return i, deep
		}
	}
}
