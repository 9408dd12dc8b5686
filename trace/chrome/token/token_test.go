package token

import (
	"strings"
	"testing"

	"github.com/gaprof/gaprof/trace/chrome/input"
)

// scanner is a careful one of text.
func scanner(text string) *Scanner {
	s := &Scanner{Window: input.NewWindow(strings.NewReader(text)), Mode: Careful}
	s.Fill()
	return s
}

// TestCloses: which quotes end a string, by what follows them.
func TestCloses(t *testing.T) {
	for _, c := range []struct {
		in   string // behind the quote
		what byte
		want bool
	}{
		{`: 1`, ':', true}, {` , "b"`, ':', false}, {`x`, ':', false},
		{`, "k": 1`, '}', true}, {`, "k" 1`, '}', false}, {`, k`, '}', false}, {`,}`, '}', true}, {`,{"ph"`, '}', true},
		{`}, {`, '}', true}, {`}]`, '}', true}, {`}x`, '}', false}, {`}`, '}', true},
		{` "k": 1`, '}', true}, {` "k", 1`, '}', false},
		{`, 1`, ']', true}, {`]`, ']', true}, {`}`, ']', false},
		{``, '}', true}, {``, ']', true},
	} {
		s := scanner(`"` + c.in)
		if got := s.closes(0, c.what); got != c.want {
			t.Errorf("%q in %c: %v", c.in, c.what, got)
		}
	}
}

func TestSurelyCloses(t *testing.T) {
	for in, want := range map[string]bool{
		`, "k": 1`: true, `},{"ph"`: true, `}},{"ph"`: true, `}]}`: true, `}`: true,
		`, \"k\": 1`: false, `}, {\"`: false, `}"`: false, ` x`: false, `]`: false, `, 1`: false, ``: false,
	} {
		s := scanner(`"` + in)
		if got := s.surelyCloses(0); got != want {
			t.Errorf("%q: %v", in, got)
		}
	}
}

func TestOddLiteral(t *testing.T) {
	for in, want := range map[string]int{
		"NaN,": 3, "-Infinity}": 9, "inf]": 3, "+inf,": 4, "-nan(ind),": 9, "1.#QNAN,": 7, "-1.#IND ,": 7,
		"None,": ^0, "undefined,": ^0, "01,": ^0, "NaN": ^3,
	} {
		s := scanner(in)
		if got := s.oddLiteral(0); got != want {
			t.Errorf("%q: %d, want %d", in, got, want)
		}
	}
}

func TestSpace(t *testing.T) {
	in := strings.Repeat(" ", 5*input.WindowSize) + "x"
	s := scanner(in)
	i := s.Space(0)
	if s.Buf[i] != 'x' || s.At(i) != 5*input.WindowSize || len(s.Buf) != input.WindowSize+input.Padding {
		t.Errorf("at %d, window of %d", s.At(i), len(s.Buf))
	}
	if !s.Has(s.Space(0), "x") || s.Has(s.N, "x") || s.Has(s.N+1, "x") {
		t.Error("has")
	}
}
