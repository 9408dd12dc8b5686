package token

import (
	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/chrome/input"
	"github.com/gaprof/gaprof/trace/chrome/scan"
)

// MaxText is the length in bytes at which names and texts are cut.
const MaxText = 1 << 20

// Text decodes a string token, and is any other as it stands; what is odd about it is
// noted. Its bytes, like those that the other methods here return, are good until the
// next call of any of them.
func (s *Scanner) Text(t Token) []byte {
	text := s.Buf[t.Start:t.End]
	if t.Raw {
		var lone int
		s.scratch, lone = scan.Unescape(s.scratch[:0], text)
		if text = s.scratch; lone > 0 {
			s.Note(trace.LoneSurrogate, t.Start)
		}
	}
	if len(text) > MaxText {
		s.Note(trace.LongString, t.Start)
		text = scan.Cut(text, MaxText)
	}
	return text
}

// KeyText decodes a key and notes nothing.
func (s *Scanner) KeyText(k Key) []byte {
	if !k.Raw {
		return s.Buf[k.Start:k.End]
	}
	s.scratch, _ = scan.Unescape(s.scratch[:0], s.Buf[k.Start:k.End])
	return s.scratch
}

// Compact is the text of a list or an object without white space, the same however it
// is laid out.
func (s *Scanner) Compact(t Token) []byte {
	s.scratch = scan.Compact(s.scratch[:0], s.Buf[t.Start:t.End])
	return s.scratch
}

// Decoded is text with what it holds of escapes decoded; it may be what Compact
// returned.
func (s *Scanner) Decoded(text []byte) []byte {
	s.quoted, _ = scan.Unescape(s.quoted[:0], text)
	return s.quoted
}

// Digits returns the digits of a token that is a number or a quoted one.
func (s *Scanner) Digits(t Token) (digits []byte, ok bool) {
	switch t.Kind {
	case Number:
		return s.Buf[t.Start:t.End], true
	case Text:
		digits = trimSpace(s.Text(t))
		s.quoted = append(append(s.quoted[:0], digits...), make([]byte, input.Padding)...)
		return digits, len(digits) > 0 && scan.Number(s.quoted, 0) == len(digits)
	}
	return nil, false
}

func trimSpace(text []byte) []byte {
	for len(text) > 0 && text[0] <= ' ' {
		text = text[1:]
	}
	for len(text) > 0 && text[len(text)-1] <= ' ' {
		text = text[:len(text)-1]
	}
	return text
}
