package scan

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// at is a place where a scan ends, or where it says that a rule is broken.
func at(n int) string {
	if n < 0 {
		return fmt.Sprintf("broken at %d", ^n)
	}
	return fmt.Sprintf("ends at %d", n)
}

func TestString(t *testing.T) {
	for _, c := range []struct {
		in      string
		want    int
		escaped bool
	}{
		{`"`, 0, false},
		{`a"`, 1, false},
		{`1234567"`, 7, false},
		{`12345678"`, 8, false},
		{`123456789012345678"x`, 18, false},
		{`\""`, 2, true},
		{`a\\"`, 3, true},
		{`\b\f\n\r\t\/"`, 12, true},
		{`\u00e9\uD83d"`, 12, true},
		{`é"`, 2, false},
		{`1234567😀"`, 11, false},
		{"\x7f\"", 1, false},
		{`\x"`, ^0, true},
		{`ab\u12g4"`, ^2, true},
		{"a\nb\"", ^1, false},
		{"abcdefgh\x1f\"", ^8, false},
		{"a\xff\"", ^1, false},
		{"\xc0\x80\"", ^0, false},
		{"\xed\xa0\x80\"", ^0, false}, // half of a pair in UTF-8
		{"ab\xc3\"", ^2, false},
		{`abc`, ^3, false},
		{`abc\`, ^4, true},
		{`abc\u1`, ^6, true},
		{``, ^0, false},
	} {
		end, escaped := String(padded(c.in), 0)
		if end != c.want || escaped != c.escaped {
			t.Errorf("%q: %s, escaped %v; want %s, %v", c.in, at(end), escaped, at(c.want), c.escaped)
		}
	}
}

// TestStringPlaces: the same wherever the string begins within a word.
func TestStringPlaces(t *testing.T) {
	for before := range 9 {
		for length := range 20 {
			text := strings.Repeat("é", before) + strings.Repeat("x", length) + `"` + "\x01\xff"
			start := len("é") * before
			if end, _ := String(padded(text), start); end != start+length {
				t.Errorf("%d before, %d long: %s", before, length, at(end))
			}
		}
	}
}

func TestSpecial(t *testing.T) {
	for c := range 256 {
		word := []byte("aaaaaaaa")
		for k := range 8 {
			word[k] = byte(c)
			first := special(Load(word, 0)) & (0x80 << (8 * k))
			want := c == '"' || c == '\\' || c < ' '
			if (first != 0) != want {
				t.Errorf("byte %#x at %d", c, k)
			}
			word[k] = 'a'
		}
	}
}

func TestNumber(t *testing.T) {
	for in, want := range map[string]int{
		"0": 1, "-0": 2, "7,": 1, "10]": 2, "-12.5": 5, "0.0": 3, "1e5": 3, "1E+05": 5,
		"1.5e-3}": 6, "123456789012345678901": 21,
		"00": 1, "01": 1, // the rest is not part of the number, and breaks the next rule
		"": ^0, "-": ^1, "+1": ^0, ".5": ^0, "1.": ^2, "1.x": ^2, "1e": ^2, "1e+": ^3, "-a": ^1, "NaN": ^0,
	} {
		if got := Number(padded(in), 0); got != want {
			t.Errorf("%q: %s, want %s", in, at(got), at(want))
		}
	}
}

func TestLiteral(t *testing.T) {
	for in, want := range map[string]int{
		"true": 4, "false,": 5, "null}": 4, "tru": ^3, "nul1": ^3, "n": ^1, "fALSE": ^1,
	} {
		if got := Literal(padded(in), 0); got != want {
			t.Errorf("%q: %s, want %s", in, at(got), at(want))
		}
	}
}

func TestSkipSpace(t *testing.T) {
	for n := range 40 {
		for _, space := range []string{" ", "\n", "\t", "\r", "\n    ", "\r\n\t"} {
			in := strings.Repeat(space, n) + "x"
			if got := SkipSpace(padded(in), 0); got != len(in)-1 {
				t.Errorf("%q: %d", in, got)
			}
		}
	}
	for _, in := range []string{"", "\v", "\x00", "\u00a0"} {
		if got := SkipSpace(padded(in), 0); got != 0 {
			t.Errorf("%q is space", in)
		}
	}
}

func TestUnescape(t *testing.T) {
	for _, c := range []struct {
		in, want string
		lone     int
	}{
		{``, "", 0},
		{`plain é`, "plain é", 0},
		{`\"\\\/\b\f\n\r\t`, "\"\\/\b\f\n\r\t", 0},
		{`\ta\nb\rc\bd\fe\/f\\g\"h\u0041i`, "\ta\nb\rc\bd\fe/f\\g\"hAi", 0},
		{`\u0041\u00e9\u20AC`, "Aé€", 0},
		{`\ud83d\ude00`, "😀", 0},
		{`\ud83d`, "\uFFFD", 1},
		{`\ud83dx`, "\uFFFDx", 1},
		{`\ud83d\n`, "\uFFFD\n", 1},
		{`\ud83d\u0041`, "\uFFFDA", 1},
		{`\ude00\ud83d`, "\uFFFD\uFFFD", 2},
		{`\ud83d\ud83d\ude00`, "\uFFFD😀", 1},
		{`\q\`, `\q\`, 0},
		{`\u12`, `\u12`, 0},
		{`\u12g4`, `\u12g4`, 0},
		{"a\xffb\xc3", "a\uFFFDb\uFFFD", 0},
		{`\u0000`, "\x00", 0},
		{`\uFFFD`, "\uFFFD", 0},
	} {
		got, lone := Unescape(nil, []byte(c.in))
		if string(got) != c.want || lone != c.lone || !utf8.Valid(got) {
			t.Errorf("%q: %q, %d alone; want %q, %d", c.in, got, lone, c.want, c.lone)
		}
	}
}

// TestCompact: white space goes between tokens and stays in strings, and so do escapes.
func TestCompact(t *testing.T) {
	for in, want := range map[string]string{
		"": "", " ": "", " 1": "1", "[ 1,\t2 ]\r\n": "[1,2]", `{ "a b" : "c\" d" }`: `{"a b":"c\" d"}`,
		`["\\", " "]`: `["\\"," "]`, `"a`: `"a`, `"a\`: `"a\`, "\n\"\n\"": "\"\n\"",
	} {
		if got := string(Compact([]byte("x"), []byte(in))); got != "x"+want {
			t.Errorf("%q: %q, want %q", in, got, "x"+want)
		}
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		in    string
		limit int
		want  string
	}{{"abc", 3, "abc"}, {"abc", 2, "ab"}, {"aé", 2, "a"}, {"😀", 3, ""}, {"", 0, ""}} {
		if got := Cut([]byte(c.in), c.limit); string(got) != c.want {
			t.Errorf("cut(%q, %d) = %q", c.in, c.limit, got)
		}
	}
}

func TestDigits8(t *testing.T) {
	for n := range 10 {
		text := "123456789"[:n] + "x0000000000"
		v, got := digits8(Load([]byte(text), 0))
		want := uint64(0)
		for _, c := range text[:min(n, 8)] {
			want = want*10 + uint64(c-'0')
		}
		if got != min(n, 8) || v != want {
			t.Errorf("%d digits: %d of %d", n, v, got)
		}
	}
	for c := range 256 {
		text := []byte{'1', byte(c), '5', '5', '5', '5', '5', '5'}
		if _, n := digits8(Load(text, 0)); (n == 1) == (c >= '0' && c <= '9') {
			t.Errorf("byte %#x: %d digits", c, n)
		}
	}
}
