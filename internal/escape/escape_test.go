package escape

import (
	"bytes"
	"encoding/json"
	"testing"
)

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
		{"\u200b\u2066\ufeff\U000e0041", `\u200b\u2066\ufeff\U000e0041`},
		{"# one ##[error] ###", `# one #\x23[error] #\x23\x23`},
	} {
		if got := Control(c.in); got != c.want {
			t.Errorf("%q: got %q, want %q", c.in, got, c.want)
		}
	}
}

func TestLines(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"at::add", "at::add"},
		{"::error::x", `\x3a:error::x`},
		{"a\n  ::error::x\n::\n", "a\n  \\x3a:error::x\n\\x3a:\n"},
		{"\u00a0\u3000::x", "\u00a0\u3000\\x3a:x"},
		{": :x\n:x", ": :x\n:x"},
	} {
		if got := Lines(c.in); got != c.want {
			t.Errorf("%q: got %q, want %q", c.in, got, c.want)
		}
	}
}

func TestCell(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"a=b", "a=b"},
		{"=1+1", "'=1+1"},
		{"-5", "-5"},
		{"+5", "+5"},
		{"-5.5", "'-5.5"},
		{"-2+3", "'-2+3"},
		{"@SUM(1)", "'@SUM(1)"},
		{"\uff1d1", "'\uff1d1"},
		{"\t=1", `\t=1`},
		{"\r=1", `\r=1`},
	} {
		if got := Cell(c.in); got != c.want {
			t.Errorf("%q: got %q, want %q", c.in, got, c.want)
		}
	}
}

// Values stay what they were, and the text shows nothing that a terminal obeys.
func TestJSON(t *testing.T) {
	for _, s := range []string{
		"", "plain", "λ 名前", "\x1b[2J\x7f\u009b", "\u202e\u2028\u200b\ufeff", "\U000e0041 \U0001f600",
		"##[error]x ###", "\uFFFD", `a\"b`,
	} {
		var text bytes.Buffer
		e := json.NewEncoder(JSONWriter(&text))
		e.SetEscapeHTML(false)
		e.SetIndent("", "\t")
		if err := e.Encode(map[string]string{s: s}); err != nil {
			t.Fatal(err)
		}
		var back map[string]string
		if err := json.Unmarshal(text.Bytes(), &back); err != nil || back[s] != s {
			t.Errorf("%q: read back as %q, %v", s, back, err)
		}
		for _, r := range text.String() {
			if r != '\n' && r != '\t' && r != '\uFFFD' && hidden(r) {
				t.Errorf("%q: %U stands in %q", s, r, text.String())
			}
		}
		if bytes.Contains(text.Bytes(), []byte("##")) {
			t.Errorf("%q: a command stands in %q", s, text.String())
		}
	}
	if got := string(JSON([]byte("\"\xff\""))); got != `"\ufffd"` {
		t.Errorf("invalid UTF-8: %q", got)
	}
}
