package chrome

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/trace"
)

// ev is a whole event, for the tests to put around and into.
const ev = `{"ph":"X","name":"a","pid":1,"tid":2,"ts":1,"dur":2}`

// next is another one.
const next = `{"ph":"X","name":"b","pid":1,"tid":2,"ts":3,"dur":1}`

const (
	evRow   = "X  \"a\" 1/2 1000+2000\n"
	nextRow = "X  \"b\" 1/2 3000+1000\n"
)

// within puts one event with these members after a name between two others.
func within(members string) string {
	return `[{"ph":"X","pid":1,"tid":2,"ts":0,"dur":1,` + members + `},` + ev + `]`
}

// TestDamage: text in, rows and problems out. Each case is one kind of damage.
func TestDamage(t *testing.T) {
	const row = "X  %s 1/2 0+1000\n" + evRow
	name := func(quoted string) string { return strings.Replace(row, "%s", quoted, 1) }
	for _, c := range []struct{ what, in, rows, problems string }{
		{"nothing wrong", within(`"name":"x"`), name(`"x"`), ""},
		{"illegal escape", within(`"name":"C:\qsers\x"`), name(`"C:\\qsers\\x"`), "bad_escape:1@52"},
		{"cut escape", within(`"name":"\u12"`), name(`"\\u12"`), "bad_escape:1@50"},
		{"path that ends with a backslash", within(`"name":"C:\\dir\"`), name(`"C:\\dir\\"`), "bad_escape:1@57"},
		{"surrogate pair", within(`"name":"\ud83d\ude00"`), name(`"😀"`), ""},
		{"first half alone", within(`"name":"\ud83dx"`), name("\"\uFFFDx\""), "lone_surrogate:1@50"},
		{"second half alone", within(`"name":"\ude00"`), name("\"\uFFFD\""), "lone_surrogate:1@50"},
		{"two first halves", within(`"name":"\ud83d\ud83d"`), name("\"\uFFFD\uFFFD\""), "lone_surrogate:1@50"},
		{"invalid UTF-8", within("\"name\":\"a\xffb\""), name("\"a\uFFFDb\""), "bad_utf8:1@51"},
		{"overlong UTF-8 in a key", within("\"k\xc0\x80\":1,\"name\":\"x\""), name(`"x"`), "bad_utf8:1@44"},
		{"raw newline", within("\"name\":\"a\nb\nc\""), name(`"a\nb\nc"`), "raw_control_character:1@51"},
		{"raw NUL", within("\"name\":\"a\x00b\""), name(`"a\x00b"`), "raw_control_character:1@51"},
		{"quotes in a name", within(`"name":"f("a", "b")"`), name(`"f(\"a\", \"b\")"`), "unescaped_quote:4@52"},
		{"quote before a brace in a name", within(`"name":"x{"y"}z"`), name(`"x{\"y\"}z"`), "unescaped_quote:2@52"},
		{"missing comma after a string", within(`"name":"x" "cat":"k"`), strings.Replace(name(`"x"`), "X  ", "X k ", 1), "missing_comma:1@53"},
		{"missing comma after a number", within(`"name":"x","id":5 "bp":1`), name(`"x"`), "missing_comma:1@60"},
		{"two commas", within(`"name":"x",,"id":5`), name(`"x"`), "extra_comma:1@53"},
		{"comma before a brace", within(`"name":"x",`), name(`"x"`), "extra_comma:1@53"},
		{"commas in a list", within(`"name":"x","q":[1,,2,]`), name(`"x"`), "extra_comma:2@60"},
		{"missing comma in a list", within(`"name":"x","q":[1 2]`), name(`"x"`), "missing_comma:1@60"},
		{"NaN", within(`"name":"x","q":NaN,"r":[-Infinity,inf,nan(ind)]`), name(`"x"`), "non_finite_number:4@57"},
		{"key twice", within(`"name":"y","name":"x"`), name(`"x"`), "duplicate_key:1@60"},
		{"no name", within(`"q":null`), name(`""`), ""},
		{"name is a number", within(`"name":12`), name(`"12"`), ""},
		{"escaped key", within(`"n\u0061me":"x"`), name(`"x"`), ""},
		{"nested values in a key nobody knows", within(`"name":"x","q":{"a":[{"b":[]},{}]}`), name(`"x"`), ""},

		{"missing comma between events", "[" + ev + next + "]", evRow + nextRow, "missing_comma:1@53"},
		{"two commas between events", "[" + ev + ",," + next + "]", evRow + nextRow, "extra_comma:1@54"},
		{"comma first", "[," + ev + "]", evRow, "extra_comma:1@1"},
		{"comma last", "[" + ev + ",]", evRow, "extra_comma:1@54"},
		{"list not closed", "[" + ev + "," + next, evRow + nextRow, "unclosed_array:1@106"},
		{"cut behind a comma", "[" + ev + ",", evRow, "truncated:1@54"},
		{"cut in an event", "[" + ev + `,{"ph":"X","na`, evRow, "truncated:1@54"},
		{"object cut in an event", `{"traceEvents":[` + ev + `,{"ph":"X","na`, evRow, "truncated:1@69"},
		{"object cut behind the list", `{"traceEvents":[` + ev + `]`, evRow, "truncated:1@69"},
		{"object cut in its last entry", `{"traceEvents":[` + ev + `],"traceName":"x`, evRow, "truncated:1@69"},
		{"entry without a phase", `[{"a":1},` + ev + "]", evRow, "not_an_event:1@1"},
		{"entries that are no objects", `[1,"x",null,[` + next + `],` + ev + "]", evRow, "not_an_event:4@1"},
		{"empty entry", "[" + ev + ",{}]", evRow, ""},

		{"broken in the middle", "[" + ev + `,{"ph":"X","name":!},` + next + "]", evRow + nextRow, "broken_event:1@54"},
		{"broken, and no brace", "[" + ev + `,{"ph":"X","name":"q",` + next + "]", evRow + nextRow, "broken_event:1@54"},
		{"broken, list in it not closed", "[" + ev + `,{"ph":"X","args":{"q":[1,2},` + next + "]", evRow + nextRow, "broken_event:1@54"},
		{"broken at last", "[" + ev + `,{"ph":"X","name":!}]`, evRow, "broken_event:1@54"},
		{"broken header", `{"a":!,"traceEvents":[` + ev + `]}`, evRow, "broken_event:1@1"},
		{"text behind", "[" + ev + "] x", evRow, "trailing_data:1@55"},
		{"another value behind", "[" + ev + "] {}", evRow, "trailing_data:1@55"},

		{"no time", `[{"ph":"X","name":"q"},` + ev + "]", evRow, "event_without_time:1@1"},
		{"time is null", `[{"ph":"X","ts":null},` + ev + "]", evRow, "event_without_time:1@1"},
		{"time is NaN", `[{"ph":"X","ts":NaN},` + ev + "]", evRow, "non_finite_number:1@16 event_without_time:1@1"},
		{"time beyond int64", `[{"ph":"X","ts":1e17},` + ev + "]", evRow, "number_out_of_range:1@16 event_without_time:1@1"},
		{"time is a word", `[{"ph":"X","ts":"soon"},` + ev + "]", evRow, "event_without_time:1@1"},
		{"end beyond int64", `[{"ph":"X","name":"a","pid":1,"tid":2,"ts":9e15,"dur":9e15}]`, "X  \"a\" 1/2 9000000000000000000+0\n", "number_out_of_range:1@1"},
		{"duration below zero", `[{"ph":"X","name":"a","pid":1,"tid":2,"ts":1,"dur":-1}]`, "X  \"a\" 1/2 1000+0\n", "negative_duration:1@1"},
		{"no duration", `[{"ph":"X","name":"a","pid":1,"tid":2,"ts":1}]`, "X  \"a\" 1/2 1000+0\n", "missing_duration:1@1"},
		{"begin without end", `[{"ph":"B","name":"a","pid":1,"tid":2,"ts":1},` + next + `]`, "X  \"a\" 1/2 1000+3000\n" + nextRow, "unpaired_begin_end:1@-1"},
	} {
		got := readOne(t, c.in)
		if rows := dump(got); rows != c.rows {
			t.Errorf("%s: %s\n got rows\n%s want\n%s", c.what, c.in, rows, c.rows)
		}
		if p := problems(got); p != c.problems {
			t.Errorf("%s: %s\n got problems %q, want %q", c.what, c.in, p, c.problems)
		}
	}
}

func TestDamageInArguments(t *testing.T) {
	for _, c := range []struct{ what, args, want, problems string }{
		{"NaN", `{"bytes":NaN}`, "bytes=2:null", "non_finite_number:1@69"},
		{"list with damage is text", `{"q":[1,NaN]}`, "q=1:[1,NaN]", "non_finite_number:1@68"},
		{"key twice", `{"q":1,"r":2,"q":3}`, "q=0:3 r=0:2", "duplicate_key:1@77"},
		{"correlation is text", `{"correlation":"x"}`, "correlation=1:x", ""},
		{"correlation is quoted", `{"correlation":"7"}`, "corr=7", ""},
		{"beyond int64", `{"q":99999999999999999999}`, "q=2:99999999999999999999", ""},
		{"least int64", `{"q":-9223372036854775808}`, "q=0:-9223372036854775808", ""},
		{"minus zero", `{"q":-0}`, "q=2:-0", ""},
		{"space in a list", "{\"q\":[ 1,\n2, \"a b\" ]}", `q=2:[1,2,"a b"]`, ""},
		{"not an object", `[1]`, "", ""},
		{"null", `null`, "", ""},
		{"empty", `{}`, "", ""},
	} {
		in := `[{"ph":"X","name":"a","pid":1,"tid":2,"ts":1,"dur":2,"args":` + c.args + `}]`
		got := readOne(t, in)
		want := strings.TrimSuffix(evRow, "\n")
		if c.want != "" {
			want += " " + c.want
		}
		if rows := strings.TrimSuffix(dump(got), "\n"); rows != want {
			t.Errorf("%s: got %q, want %q", c.what, rows, want)
		}
		if p := problems(got); p != c.problems {
			t.Errorf("%s: got problems %q, want %q", c.what, p, c.problems)
		}
	}
}

// TestStrict: each damage that is marked so is an error with file, place and reason.
func TestStrict(t *testing.T) {
	text := "[" + ev + `,{"ph":"X","name":NaN,"ts":1,"dur":-1},]`
	_, err := Read(strings.NewReader(text), Options{Strict: true, File: "x.json"})
	var format *trace.FormatError
	if !errors.As(err, &format) || format.File != "x.json" || format.Offset != 54 {
		t.Fatalf("got %v", err)
	}
	if _, err := Read(strings.NewReader("["+ev+"]"), Options{Strict: true}); err != nil {
		t.Errorf("without damage: %v", err)
	}
	if _, err := Read(strings.NewReader(ev+"\n"+next), Options{Strict: true}); err != nil {
		t.Errorf("lines of events are no damage: %v", err)
	}
}

// TestRefused: what is no trace is an error that says what it is instead.
func TestRefused(t *testing.T) {
	for _, c := range []struct {
		in, reason string
		offset     int64
	}{
		{"", "the input is empty", 0},
		{" \n ", "the input is empty", 3},
		{mark, "the input is empty", 3},
		{"\x89PNG\r\n\x1a\n", "a PNG image", 0},
		{"<!DOCTYPE html>", "an HTML or XML page", 0},
		{"\x1f\x8b\x08", "gzip data", 0},
		{"hello", `it begins with "hello"`, 0},
		{"hello, this is not JSON", `it begins with "hello, this is n"`, 0},
		{"\x00\x00\x00\x00", "it begins with", 0},
		{`"text"`, "it begins with", 0},
		{`{"a":1}`, "without an event list", 0},
		{`{}`, "without an event list", 0},
		{`{"traceEvents":5}`, "without an event list", 0},
		{`{"a":`, "broken JSON in the header", 0},
		{`{`, "broken JSON in the header", 0},
		{`[1,2,3]`, "without any trace event", 0},
		{`[{"a":1}]`, "without any trace event", 0},
		{`{"traceEvents":["x"]}`, "without any trace event", 0},
	} {
		_, err := Read(strings.NewReader(c.in), Options{File: "f"})
		var format *trace.FormatError
		if !errors.As(err, &format) {
			t.Errorf("%q: got %v", c.in, err)
			continue
		}
		if !strings.Contains(format.Reason, c.reason) || format.Offset != c.offset || format.File != "f" {
			t.Errorf("%q: got %v", c.in, err)
		}
	}
}

// failing gives its text and then an error.
type failing struct {
	text string
	err  error
}

func (f *failing) Read(p []byte) (int, error) {
	n := copy(p, f.text)
	if f.text = f.text[n:]; n > 0 {
		return n, nil
	}
	return 0, f.err
}

func TestReadError(t *testing.T) {
	for _, c := range []struct{ in, rows, problems string }{
		{"[" + ev + `,{"ph":`, evRow, "truncated:1@54 compression_damage:1@60"},
		{"[" + ev + ",", evRow, "truncated:1@54 compression_damage:1@54"},
		{"[" + ev, evRow, "truncated:1@53 compression_damage:1@53"},
		{"[" + ev + "]", evRow, "compression_damage:1@54"},
		{ev + "\n" + next[:20], evRow, "truncated:1@53 line_delimited:1@0 compression_damage:1@73"},
	} {
		traces, err := Read(&failing{c.in, io.ErrUnexpectedEOF}, Options{})
		if err != nil {
			t.Errorf("%q: %v", c.in, err)
			continue
		}
		if got := dump(traces[0]); got != c.rows {
			t.Errorf("%q: got %s", c.in, got)
		}
		if got := problems(traces[0]); got != c.problems {
			t.Errorf("%q: got %q, want %q", c.in, got, c.problems)
		}
		if d := traces[0].Problems()[len(traces[0].Problems())-1].Detail; d != io.ErrUnexpectedEOF.Error() {
			t.Errorf("%q: detail %q", c.in, d)
		}
	}
	if _, err := Read(&failing{"", io.ErrUnexpectedEOF}, Options{}); err == nil || !strings.Contains(err.Error(), "unexpected EOF") {
		t.Errorf("nothing but an error: got %v", err)
	}
	if _, err := Read(&failing{"", nil}, Options{}); err == nil {
		t.Error("a source that gives nothing, for ever, was read")
	}
}
