package token

import (
	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/chrome/input"
	"github.com/gaprof/gaprof/trace/chrome/scan"
)

// Mode says by which rules text is scanned. Readers try the modes in their order.
type Mode uint8

// The modes.
const (
	Strict  Mode = iota // RFC 8259; the first broken rule ends the attempt
	Careful             // damage is repaired and noted
	NumModes
)

// Scanner reads tokens of the text in its window. Places are indices into Window.Buf; a
// negative one is the complement (^i) of where a rule is broken. Only Space moves the
// window.
type Scanner struct {
	input.Window
	Mode  Mode   // by which rules
	Reach int    // bytes that one event or header value may span
	Notes []Note // damage found since the owner emptied the list

	stack   []byte // closing bytes of open lists and objects
	scratch []byte // decoded text
	quoted  []byte // a quoted number, with padding
}

// Note is damage that counts if the event or entry it is part of is accepted.
type Note struct {
	Code trace.Code // what it is
	At   int64      // offset in the input
}

// Note notes damage at i.
func (s *Scanner) Note(code trace.Code, i int) {
	s.Notes = append(s.Notes, Note{code, s.At(i)})
}

// Space returns the place of the first byte from i on that is not white space,
// reading on where the window ends; its own place may move.
func (s *Scanner) Space(i int) int {
	for {
		i = scan.SkipSpace(s.Buf, i)
		if i < s.N || s.EOF {
			return i
		}
		s.Slide(i)
		i = 0
	}
}

// Wants reports whether more of the input is needed to judge what begins at i and breaks a
// rule at fail. If so the caller slides the window and tries again.
func (s *Scanner) Wants(i, fail int) bool {
	return !s.EOF && fail+Lookahead > s.N && s.N-i < s.Reach
}

// Kind is the kind of a token's value.
type Kind uint8

// The kinds.
const (
	Text Kind = iota
	Number
	Null // also NaN and infinity, which are noted
	Bool
	List // a list or an object
	Deep // a list or an object that is nested too deeply; noted
)

// Token is one value in the window: its text, of strings without the quotes.
type Token struct {
	Kind    Kind // what it is
	Raw     bool // a string that must be decoded
	Damaged bool // the text of a list or an object is not JSON as it stands
	Start   int  // index of its first byte in Window.Buf
	End     int  // index behind its last
}

// Key is the key of a member, without its quotes.
type Key struct {
	Raw   bool // it must be decoded
	Start int  // index of its first byte in Window.Buf; 0 for the end of an object
	End   int  // index behind its last
}

// IsNone reports whether k stands for the end of an object.
func (k Key) IsNone() bool { return k.Start == 0 }

// Token is k as a value.
func (k Key) Token() Token { return Token{Kind: Text, Raw: k.Raw, Start: k.Start, End: k.End} }
