package scan

import (
	"strconv"
	"strings"
	"testing"
)

// TestBroken: only complements of places are broken.
func TestBroken(t *testing.T) {
	for place, want := range map[int]bool{0: false, 1: false, 1 << 40: false, ^0: true, ^1: true, ^(1 << 40): true} {
		if Broken(place) != want {
			t.Errorf("%d: %v", place, !want)
		}
	}
}

// TestFewMicros: one to four digits, a point and three digits are read as one word, and nothing
// else is, whatever stands around them.
func TestFewMicros(t *testing.T) {
	whole := []string{"0", "1", "7", "9", "00", "01", "10", "42", "99", "100", "512", "999", "1000", "4096", "9999",
		"10000", "12345", "0123", "", "-1", "1a"}
	after := []string{".000", ".001", ".010", ".100", ".999", ".42", ".", "", ".1a3", ".12/", ".:12", "/123", ",123",
		".1234"}
	for _, w := range whole {
		for _, a := range after {
			for _, follows := range []string{",", "}", "e", "5", "\x00"} {
				text := w + a
				if strings.HasSuffix(follows, "5") && len(a) < 4 {
					continue // another number
				}
				ns, end, ok := FewMicros(padded("99."+text+follows), 3)
				plain := a[:min(len(a), 4)]
				want := len(w) >= 1 && len(w) <= 4 && len(plain) == 4 && plain[0] == '.' && isDigits(w+plain[1:]) &&
					(w[0] != '0' || len(w) == 1)
				if ok != want {
					t.Errorf("%q: %v", text+follows, ok)
				}
				v, _ := strconv.ParseInt(w+plain[min(1, len(plain)):], 10, 64)
				if ok && (ns != v || end != 3+len(w)+4) {
					t.Errorf("%q: %d to %d, want %d to %d", text+follows, ns, end, v, 3+len(w)+4)
				}
			}
		}
	}
}

func isDigits(s string) bool { return strings.Trim(s, "0123456789") == "" }

// TestEveryDigit: a digit counts at each place of integers and times of each length.
func TestEveryDigit(t *testing.T) {
	for n := 1; n <= 15; n++ {
		for at := range n {
			for _, base := range []string{"1", "9"} {
				digits := []byte(strings.Repeat(base, n))
				digits[at] = '7'
				want, _ := strconv.ParseInt(string(digits), 10, 64)
				v, end, ok := Integer(padded(string(digits)+","), 0)
				if !ok || v != want || end != n {
					t.Errorf("%s: %d to %d, %v", digits, v, end, ok)
				}
				if v, end, ok = Integer(padded("-"+string(digits)+"]"), 0); !ok || v != -want || end != n+1 {
					t.Errorf("-%s: %d to %d, %v", digits, v, end, ok)
				}
				for _, c := range []string{"", ".608", ".080"} {
					ns, end, ok := Micros(padded(string(digits)+c+"}"), 0)
					part, _ := strconv.ParseInt("0"+strings.TrimPrefix(c, "."), 10, 64)
					if !ok || ns != want*1000+part || end != n+len(c) {
						t.Errorf("%s%s: %d to %d, %v", digits, c, ns, end, ok)
					}
				}
				if d := Digits(padded(string(digits)+"x"), 0); d != min(n, 8) {
					t.Errorf("%s: %d digits", digits, d)
				}
			}
		}
	}
	for _, text := range []string{"1234567890123456", "12345678901234567", "1234567890123456.789"} {
		if _, _, ok := Integer(padded(text+","), 0); ok {
			t.Errorf("%s is read as an integer of 15 digits", text)
		}
		if _, _, ok := Micros(padded(text+","), 0); ok {
			t.Errorf("%s is read as a time of 15 digits", text)
		}
	}
}

// TestWhatFollows: a number is none where it goes on, or may.
func TestWhatFollows(t *testing.T) {
	for c := range 256 {
		follows := string([]byte{byte(c)}) + "1,"
		digit := c >= '0' && c <= '9'
		wrong := c == '.' || c == 'e' || c == 'E' || c == 0
		for _, text := range []string{"7", "123456789", "-5"} {
			v, _, ok := Integer(padded(text+follows), 0)
			if want, _ := strconv.ParseInt(text, 10, 64); !digit && (ok == wrong || ok && v != want) {
				t.Errorf("%q: %d, %v", text+follows, v, ok)
			}
		}
		for _, text := range []string{"1.500", "12345.678", "12345"} {
			_, _, ok := Micros(padded(text+follows), 0)
			goesOn := digit && text != "12345" || c != '.' && wrong
			if goesOn && ok || !digit && !wrong && !ok {
				t.Errorf("%q: %v", text+follows, ok)
			}
		}
	}
}

// TestEscapes: which escapes there are, and where an illegal one breaks the rules.
func TestEscapes(t *testing.T) {
	for c := range 256 {
		want := 0
		if strings.IndexByte(`"\/bfnrt`, byte(c)) >= 0 {
			want = 2
		}
		text := []byte(`\` + string([]byte{byte(c)}) + "zzzz")
		if got := EscapeLen(text, 0); got != want {
			t.Errorf("%q: %d bytes", text, got)
		}
		digit := c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
		for k := range 4 {
			text := []byte(`x\u00e0"`)
			text[3+k] = byte(c)
			want, end := 6, 7
			if !digit {
				want, end = 0, ^1
			}
			if c == 0 {
				end = ^(3 + k)
			}
			if got := EscapeLen(text, 1); got != want {
				t.Errorf("%q: %d bytes", text, got)
			}
			if got, escaped := String(padded(string(text)), 0); got != end || !escaped {
				t.Errorf("%q: %s, want %s", text, at(got), at(end))
			}
			v, _ := strconv.ParseUint(string(text[3:7]), 16, 32)
			if r, size := escape(text[1:]); digit && (r != rune(v) || size != 6) || !digit && (r != '\\' || size != 1) {
				t.Errorf("%q: %q, %d bytes", text, r, size)
			}
		}
	}
	for n := range 6 { // an escape that ends too soon is its backslash
		if r, size := escape([]byte(`\u00e0`)[:n]); r != '\\' || size != 1 {
			t.Errorf("%d bytes of an escape: %q, %d", n, r, size)
		}
	}
}

// TestScaled: rounding, limits and signs of numbers taken apart.
func TestScaled(t *testing.T) {
	for _, c := range []struct {
		text  string
		shift int
		want  int64
		ok    bool
	}{
		{"0", 3, 0, true}, {"-0", 0, 0, true}, {"0.4", 0, 0, true}, {"0.5", 0, 1, true}, {"-0.5", 0, -1, true},
		{"0.05", 0, 0, true},
		{"0.95", 1, 10, true}, {"123", -2, 1, true}, {"155", -2, 2, true}, {"55", -2, 1, true}, {"45", -2, 0, true},
		{"99", -3, 0, true},
		{"9223372036854775807", 0, 1<<63 - 1, true}, {"9223372036854775807.4", 0, 1<<63 - 1, true},
		{"9223372036854775807.5", 0, 0, false}, {"18446744073709551616", 0, 0, false}, {"9999999999999999999", 0, 0,
			false},
		{"99999999999999999999", 0, 0, false}, {"-9223372036854775807", 0, -1<<63 + 1, true}, {"1e18", 0, 1e18, true},
		{"1e18", 1, 0, false},
		{"1e+2", 0, 100, true}, {"1E-2", 2, 1, true}, {"100e-2", 0, 1, true}, {"0.001e3", 0, 1, true}, {"0.000", 3, 0,
			true},
		{"1e20", 0, 0, false}, {"0e20", 0, 0, true}, {"1e00000000000000000000000000000005", 0, 100000, true},
		{"1e-99999999999999999999999", 0, 0, true}, {"1e99999999999999999999999", 0, 0, false},
	} {
		if got, ok := ParseDecimal([]byte(c.text), []byte("scratch")).Scaled(c.shift); ok != c.ok || ok &&
			got != c.want {
			t.Errorf("%s by %d: %d, %v, want %d, %v", c.text, c.shift, got, ok, c.want, c.ok)
		}
	}
}
