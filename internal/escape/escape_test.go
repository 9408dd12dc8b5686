package escape

import "testing"

func TestControl(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"plain λ 名前", "plain λ 名前"},
		{`back\slash 'quote'`, `back\slash 'quote'`},
		{"no-break\u00a0space", "no-break\u00a0space"},
		{"\x1b[31mred", `\x1b[31mred`},
		{"a\nb\tc\r\x00", `a\nb\tc\r\x00`},
		{"\x7f\u0085\u009b", `\x7f\u0085\u009b`},
		{"\xff", `\xff`},
		{"\uFFFD", `\ufffd`},
		{"abc\u202edef\u2028", `abc\u202edef\u2028`},
	} {
		if got := Control(c.in); got != c.want {
			t.Errorf("%q: got %q, want %q", c.in, got, c.want)
		}
	}
}
