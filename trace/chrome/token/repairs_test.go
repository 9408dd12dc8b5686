package token

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/trace/chrome/input"
)

// valueOf reads the value at the beginning of a text, which may go on.
func valueOf(text string, mode Mode) string {
	s := &Scanner{Window: input.NewWindow(strings.NewReader(text)), Mode: mode}
	s.Fill()
	v, next := s.Value(0, '}')
	if next < 0 {
		return fmt.Sprint("broken at ", ^next)
	}
	notes := ""
	for _, n := range s.Notes {
		notes += fmt.Sprintf(" %s@%d", n.Code, n.At)
	}
	return fmt.Sprintf("%d %q%s", v.Kind, text[v.Start:v.End], notes)
}

// TestValues: every kind of value by both rules, and what is said of those that are none.
func TestValues(t *testing.T) {
	const (
		broken = "broken at "
		comma  = " missing_comma@"
		extra  = " extra_comma@"
	)
	for _, test := range []struct{ in, strict, careful string }{
		{`12,`, `NUM "12"`, `NUM "12"`},
		{`[1,2]`, `LIST "[1,2]"`, `LIST "[1,2]"`},
		{`[1 2]`, broken + "3", `LIST "[1 2]"` + comma + "3"},
		{`[1 -2]`, broken + "3", `LIST "[1 -2]"` + comma + "3"},
		{`[1 0]`, broken + "3", `LIST "[1 0]"` + comma + "3"},
		{`[1 9]`, broken + "3", `LIST "[1 9]"` + comma + "3"},
		{`[1 "a"]`, broken + "3", `LIST "[1 \"a\"]"` + comma + "3"},
		{`[1 [2]]`, broken + "3", `LIST "[1 [2]]"` + comma + "3"},
		{`[1 {"a":2}]`, broken + "3", `LIST "[1 {\"a\":2}]"` + comma + "3"},
		{`[1 :2]`, broken + "3", broken + "3"},
		{`[1 /2]`, broken + "3", broken + "3"},
		{`[1 x]`, broken + "3", broken + "3"},
		{`[1 }`, broken + "3", broken + "3"},
		{`[1 (]`, broken + "3", broken + "3"},
		{`{"a":1 "b":2}`, broken + "7", `LIST "{\"a\":1 \"b\":2}"` + comma + "7"},
		{`{"a":1 2:3}`, broken + "7", broken + "7"},
		{`{"a":1 [2]}`, broken + "7", broken + "7"},
		{`{"a":1 {"b":2}}`, broken + "7", broken + "7"},
		{`{"a" 1}`, broken + "5", broken + "7"},
		{`{a:1}`, broken + "1", broken + "1"},
		{`{,}`, broken + "1", `LIST "{,}"` + extra + "1" + extra + "2"},
		{`[,1]`, broken + "1", `LIST "[,1]"` + extra + "1"},
		{`[1,,2]`, broken + "3", `LIST "[1,,2]"` + extra + "3"},
		{`[1,]`, broken + "3", `LIST "[1,]"` + extra + "3"},
		{`[]`, `LIST "[]"`, `LIST "[]"`},
		{`{}`, `LIST "{}"`, `LIST "{}"`},
		{`[[],{}]`, `LIST "[[],{}]"`, `LIST "[[],{}]"`},
		{`true,`, `BOOL "true"`, `BOOL "true"`},
		{`false,`, `BOOL "false"`, `BOOL "false"`},
		{`null,`, `NULL "null"`, `NULL "null"`},
		{`nul,`, broken + "3", broken + "0"},
		{`NaN,`, broken + "0", `NULL "NaN" non_finite_number@0`},
		{`+inf,`, broken + "0", `NULL "+inf" non_finite_number@0`},
		{`-1.#QNAN,`, broken + "3", `NULL "-1.#QNAN" non_finite_number@0`},
		{`nan(snan),`, broken + "1", `NULL "nan(snan)" non_finite_number@0`},
		{`nan_,`, broken + "1", broken + "0"},
		{`nan0,`, broken + "1", broken + "0"},
		{`nan9,`, broken + "1", broken + "0"},
		{`nana,`, broken + "1", broken + "0"},
		{`nanz,`, broken + "1", broken + "0"},
		{`nanZ,`, broken + "1", broken + "0"},
		{`nan.,`, broken + "1", broken + "0"},
		{`nan+,`, broken + "1", broken + "0"},
		{"nan\u00e9,", broken + "1", broken + "0"},
		{`nan:,`, broken + "1", `NULL "nan" non_finite_number@0`},
		{`nan/,`, broken + "1", `NULL "nan" non_finite_number@0`},
		{"nan`,", broken + "1", `NULL "nan" non_finite_number@0`},
		{`nan{,`, broken + "1", `NULL "nan" non_finite_number@0`},
		{`"a\"b",`, `TEXT "a\\\"b"`, `TEXT "a\\\"b"`},
		{`"a\qb",`, broken + "2", `TEXT "a\\qb" bad_escape@2`},
		{`"a\`, broken + "3", broken + "3"},
		{`"a`, broken + "2", broken + "2"},
		{`12`, `NUM "12"`, `NUM "12"`},
		{`;`, broken + "0", broken + "0"},
	} {
		for mode, want := range map[Mode]string{Strict: test.strict, Careful: test.careful} {
			for name, kind := range map[string]Kind{"NUM": Number, "LIST": List, "BOOL": Bool, "NULL": Null,
				"TEXT": Text} {
				if rest, ok := strings.CutPrefix(want, name+" "); ok {
					want = fmt.Sprint(kind, " ", rest)
				}
			}
			if got := valueOf(test.in, mode); got != want {
				t.Errorf("%s by rules %d: %s, want %s", test.in, mode, got, want)
			}
		}
	}
}

// TestCutValues: a value that reaches to the end of the window is judged once more has been read,
// and one that ends the text is whole.
func TestCutValues(t *testing.T) {
	s := &Scanner{Window: input.NewWindow(strings.NewReader("12" + strings.Repeat("3", 2*input.WindowSize))),
		Mode: Strict}
	s.Fill()
	if _, next := s.Value(0, '}'); next >= 0 || ^next < s.N {
		t.Errorf("a number that may go on ends at %d of %d", next, s.N)
	}
	for at, want := range map[int]int{s.N - 1: s.N - 1, s.N: ^s.N, s.N + 1: ^(s.N + 1), -5: -5} {
		if got := s.Closed(at); got != want {
			t.Errorf("%d: %d, want %d", at, got, want)
		}
	}
	if PastQuote(0) != 1 || PastQuote(-3) != -3 || PastQuote(7) != 8 {
		t.Error("behind a quote")
	}
}

// TestKeys: a key is a string with a colon after it, and one that is cut may be.
func TestKeys(t *testing.T) {
	for in, want := range map[string]bool{
		`"k":`: true, `"k" :`: true, `"":`: true, `"k",`: false, `"k"`: true, `"k" `: true, `k:`: false, ``: true,
		`"` + strings.Repeat("k", longestKey-1) + `":`: true, `"` + strings.Repeat("k", longestKey) + `":`: false,
		`"` + strings.Repeat("k", longestKey-1): true, `"` + strings.Repeat("k", longestKey): true,
		`"` + strings.Repeat("k", longestKey+1): false,
	} {
		if got := scanner(in).keyAt(0); got != want {
			t.Errorf("%.20q of %d: %v", in, len(in), got)
		}
	}
}
