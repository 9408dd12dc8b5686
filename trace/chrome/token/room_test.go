package token

import (
	"strings"
	"testing"

	"github.com/gaprof/gaprof/trace/chrome/input"
)

// TestListsTakeNoRoom: lists and objects are passed without memory of their own, however deep.
func TestListsTakeNoRoom(t *testing.T) {
	text := `[[1,[2,{"a":[3,{"b":[]}]}]],` + strings.Repeat(`[`, 200) + strings.Repeat(`]`, 200) + `]`
	s := &Scanner{Window: input.NewWindow(strings.NewReader(text))}
	s.Fill()
	read := func() {
		if v, next := s.Value(0, 0); next != len(text) || v.Kind != List || v.Damaged || len(s.Notes) > 0 {
			t.Fatalf("%+v to %d of %d", v, next, len(text))
		}
	}
	read()
	if n := testing.AllocsPerRun(20, read); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestDepthOfValues: a value is deep where it is nested beyond the limit, and only then.
func TestDepthOfValues(t *testing.T) {
	for _, pair := range []string{"[]", `{}`} {
		for n, want := range map[int]Kind{1: List, maxDepth: List, maxDepth + 1: Deep, maxDepth + 5: Deep} {
			open, last := pair[:1], pair[:1]
			if pair == "{}" {
				open = `{"a":`
			}
			text := strings.Repeat(open, n-1) + last + strings.Repeat(pair[1:], n)
			s := &Scanner{Window: input.NewWindow(strings.NewReader(text))}
			s.Window.Buf = make([]byte, len(text)+input.Padding)
			s.Fill()
			v, next := s.Value(0, 0)
			if v.Kind != want || next != len(text) || (len(s.Notes) > 0) != (want == Deep) {
				t.Errorf("%d levels of %s: kind %d to %d of %d, %d notes", n, pair, v.Kind, next, len(text),
					len(s.Notes))
			}
		}
	}
}

// TestJudgedWithRoom: a doubtful quote or escape is judged only where enough follows it, or nothing.
func TestJudgedWithRoom(t *testing.T) {
	for _, text := range []string{`a"b", "k": 1`, `a\q", "k": 1`, `a", "k": 1`} {
		for behind, want := range map[int]bool{Lookahead + 20: true, 0: false, Lookahead - 20: false} {
			s := scanner(text + strings.Repeat(" ", behind))
			s.EOF = false
			if end := s.carefulString(0, '}'); (end >= 0) != want {
				t.Errorf("%s with %d bytes behind it: %d", text, behind, end)
			}
			s.EOF, s.Notes = true, nil
			if end := s.carefulString(0, '}'); end != strings.LastIndex(text, `",`) {
				t.Errorf("%s at the end: %d", text, end)
			}
		}
	}
}

// TestEmptyKeys: an empty key is a key.
func TestEmptyKeys(t *testing.T) {
	for in, want := range map[string]bool{`"": 1`: true, `"" 1`: false, `"":`: true, ``: true, `1`: false} {
		s := scanner(in)
		if got := s.keyAt(0); got != want {
			t.Errorf("%s: %v", in, got)
		}
	}
}
