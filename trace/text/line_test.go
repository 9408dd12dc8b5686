package text

import (
	"strings"
	"testing"

	"github.com/gaprof/gaprof/trace"
)

func TestWords(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"   \t ", ""},
		{"# all comment", ""},
		{"a b", "a|b"},
		{"  a\t\tb  ", "a|b"},
		{"a # b", "a"},
		{"a #b", "a"},
		{"a#b", "a#b"},
		{`"a b" c`, "a b|c"},
		{`"" c`, "|c"},
		{`"#" c`, "#|c"},
		{`"\x41\u00e9\n"`, "Aé\n"},
		{`a"b`, `a"b`},
		{`\n`, `\n`},
		{"`raw text`", "`raw|text`"},
	} {
		l := line{c.in}
		var got []string
		for l.more() {
			s, err := l.word("word")
			if err != nil {
				t.Errorf("%q: %v", c.in, err)
				break
			}
			got = append(got, s)
		}
		if strings.Join(got, "|") != c.want {
			t.Errorf("%q: got %q, want %q", c.in, got, c.want)
		}
	}
}

func TestTracks(t *testing.T) {
	for _, c := range []struct{ in, pid, tid, rest string }{
		{"1/2 x", "1", "2", " x"},
		{"1/", "1", "", ""},
		{"/2", "", "2", ""},
		{"a/b/c x", "a", "b/c", " x"},
		{`"a b"/"c d" x`, "a b", "c d", " x"},
		{`"a/b"/c`, "a/b", "c", ""},
		{`""/""`, "", "", ""},
		{"-1/spans", "-1", "spans", ""},
	} {
		l := line{c.in}
		pid, tid, err := l.track()
		if err != nil || pid != c.pid || tid != c.tid || l.rest != c.rest {
			t.Errorf("%q: %q, %q, rest %q, error %v", c.in, pid, tid, l.rest, err)
		}
	}
}

func TestValues(t *testing.T) {
	for _, c := range []struct {
		in   string
		want value
		rest string
	}{
		{"7", value{trace.Int, 7, "7"}, ""},
		{"-7 x", value{trace.Int, -7, "-7"}, " x"},
		{"9223372036854775808", value{trace.JSON, 0, "9223372036854775808"}, ""},
		{"1.5", value{trace.JSON, 0, "1.5"}, ""},
		{"1e9", value{trace.JSON, 0, "1e9"}, ""},
		{"true", value{trace.JSON, 0, "true"}, ""},
		{"null", value{trace.JSON, 0, "null"}, ""},
		{"nullable", value{trace.Text, 0, "nullable"}, ""},
		{"NaN", value{trace.Text, 0, "NaN"}, ""},
		{"0x10", value{trace.Text, 0, "0x10"}, ""},
		{"0,1,2", value{trace.Text, 0, "0,1,2"}, ""},
		{`"7"`, value{trace.Text, 0, "7"}, ""},
		{`"a b" x`, value{trace.Text, 0, "a b"}, " x"},
		{"[] x", value{trace.JSON, 0, "[]"}, " x"},
		{"[1, [2, 3]] x", value{trace.JSON, 0, "[1, [2, 3]]"}, " x"},
		{`{"a b": "}\"]"} x`, value{trace.JSON, 0, `{"a b": "}\"]"}`}, " x"},
		{`json"7" x`, value{trace.JSON, 0, "7"}, " x"},
		{`json"{\n}"`, value{trace.JSON, 0, "{\n}"}, ""},
		{"json", value{trace.Text, 0, "json"}, ""},
	} {
		l := line{c.in}
		got, err := l.value()
		if err != nil || got != c.want || l.rest != c.rest {
			t.Errorf("%q: got %+v, rest %q, error %v", c.in, got, l.rest, err)
		}
	}
}

func TestValueErrors(t *testing.T) {
	for _, in := range []string{
		"", " x", `"a`, `"a"b`, `json"a`, "[", "[1", "[1]]", "{", `{a: 1}`, `["]`, "[1}", `[1]x`,
	} {
		l := line{in}
		if v, err := l.value(); err == nil {
			t.Errorf("%q: read as %+v", in, v)
		}
	}
}

// A value that is written is read as it was, whatever its text.
func FuzzValue(f *testing.F) {
	for _, s := range []string{
		"", "a", "7", "+7", "-0", "1.5", "true", "[1, 2]", "[", "#", `"`, "\n", "\xff", `json"x"`, "a b",
	} {
		f.Add(s, true)
		f.Add(s, false)
	}
	f.Fuzz(func(t *testing.T, s string, isText bool) {
		v := value{kind: trace.JSON, str: s}
		if isText {
			v.kind = trace.Text
		}
		written := string(appendValue(nil, v))
		l := line{written + " next"}
		got, err := l.value()
		if err != nil || got != v || l.rest != " next" || strings.ContainsAny(written, "\r\n") {
			t.Errorf("%+v written as %q, read as %+v, rest %q, error %v", v, written, got, l.rest, err)
		}
	})
}
