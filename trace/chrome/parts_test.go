package chrome

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gaprof/gaprof/trace"
)

// at is a place where a scan ends, or where it says that a rule is broken.
func at(n int) string {
	if n < 0 {
		return fmt.Sprintf("broken at %d", ^n)
	}
	return fmt.Sprintf("ends at %d", n)
}

func TestScanString(t *testing.T) {
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
		end, escaped := scanString(padded(c.in), 0)
		if end != c.want || escaped != c.escaped {
			t.Errorf("%q: %s, escaped %v; want %s, %v", c.in, at(end), escaped, at(c.want), c.escaped)
		}
	}
}

// TestScanStringPlaces: the same wherever the string begins within a word.
func TestScanStringPlaces(t *testing.T) {
	for before := range 9 {
		for length := range 20 {
			text := strings.Repeat("é", before) + strings.Repeat("x", length) + `"` + "\x01\xff"
			start := len("é") * before
			if end, _ := scanString(padded(text), start); end != start+length {
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
			first := special(load(word, 0)) & (0x80 << (8 * k))
			want := c == '"' || c == '\\' || c < ' '
			if (first != 0) != want {
				t.Errorf("byte %#x at %d", c, k)
			}
			word[k] = 'a'
		}
	}
}

func TestScanNumber(t *testing.T) {
	for in, want := range map[string]int{
		"0": 1, "-0": 2, "7,": 1, "10]": 2, "-12.5": 5, "0.0": 3, "1e5": 3, "1E+05": 5, "1.5e-3}": 6, "123456789012345678901": 21,
		"00": 1, "01": 1, // the rest is not part of the number, and breaks the next rule
		"": ^0, "-": ^1, "+1": ^0, ".5": ^0, "1.": ^2, "1.x": ^2, "1e": ^2, "1e+": ^3, "-a": ^1, "NaN": ^0,
	} {
		if got := scanNumber(padded(in), 0); got != want {
			t.Errorf("%q: %s, want %s", in, at(got), at(want))
		}
	}
}

func TestScanLiteral(t *testing.T) {
	for in, want := range map[string]int{
		"true": 4, "false,": 5, "null}": 4, "tru": ^3, "nul1": ^3, "n": ^1, "fALSE": ^1,
	} {
		if got := scanLiteral(padded(in), 0); got != want {
			t.Errorf("%q: %s, want %s", in, at(got), at(want))
		}
	}
}

func TestSkipSpace(t *testing.T) {
	for n := range 40 {
		for _, space := range []string{" ", "\n", "\t", "\r", "\n    ", "\r\n\t"} {
			in := strings.Repeat(space, n) + "x"
			if got := skipSpace(padded(in), 0); got != len(in)-1 {
				t.Errorf("%q: %d", in, got)
			}
		}
	}
	for _, in := range []string{"", "\v", "\x00", "\u00a0"} {
		if got := skipSpace(padded(in), 0); got != 0 {
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
		got, lone := unescape(nil, []byte(c.in))
		if string(got) != c.want || lone != c.lone || !utf8.Valid(got) {
			t.Errorf("%q: %q, %d alone; want %q, %d", c.in, got, lone, c.want, c.lone)
		}
	}
}

func TestCompactAndSpaced(t *testing.T) {
	for _, c := range []struct{ in, compact, spaced string }{
		{`1`, `1`, `1`},
		{` [ 1 , 2 ] `, `[1,2]`, `[1, 2]`},
		{"{\n\t\"a b\" : \"c : d , e\"\r\n}", `{"a b":"c : d , e"}`, `{"a b": "c : d , e"}`},
		{`["\"", "\\", " "]`, `["\"","\\"," "]`, `["\"", "\\", " "]`},
	} {
		got := compact(nil, []byte(c.in))
		if string(got) != c.compact {
			t.Errorf("compact(%q) = %q", c.in, got)
		}
		if s := spaced(nil, c.compact); string(s) != c.spaced || string(compact(nil, s)) != c.compact {
			t.Errorf("spaced(%q) = %q", c.compact, s)
		}
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		in    string
		limit int
		want  string
	}{{"abc", 3, "abc"}, {"abc", 2, "ab"}, {"aé", 2, "a"}, {"😀", 3, ""}, {"", 0, ""}} {
		if got := cut([]byte(c.in), c.limit); string(got) != c.want {
			t.Errorf("cut(%q, %d) = %q", c.in, c.limit, got)
		}
	}
}

func TestAppendQuoted(t *testing.T) {
	for in, want := range map[string]string{
		"": `""`, `a"b\c`: `"a\"b\\c"`, "\n\t\r\x00\x1f": `"\n\t\r\u0000\u001f"`, "é\u2028😀\x7f": `"é\u2028😀\u007f"`, "a\xff": `"a\ufffd"`,
		"\u009b\u202e\U000e0041 ##[x]": `"\u009b\u202e\udb40\udc41 #\u0023[x]"`,
	} {
		if got := appendQuoted(nil, in); string(got) != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}

func TestMicroText(t *testing.T) {
	for ns, want := range map[int64]string{
		0: "0.000", 1: "0.001", 999: "0.999", 1000: "1.000", 3923968038989372: "3923968038989.372", -1: "-0.001", -1500: "-1.500",
		-1 << 63: "-9223372036854775.808", 1<<63 - 1: "9223372036854775.807",
	} {
		if got := microText(ns); got != want {
			t.Errorf("%d: %s, want %s", ns, got, want)
		}
	}
}

func TestParseID(t *testing.T) {
	for in, want := range map[string]int64{"0": 0, "12": 12, "-3": -3, "0x1f": 31, "0XFF": 255, "0x7fffffffffffffff": 1<<63 - 1} {
		if got, ok := parseID([]byte(in)); !ok || got != want {
			t.Errorf("%s: %d, %v", in, got, ok)
		}
	}
	for _, in := range []string{"", "x", "0x", "0xg", "0x8000000000000000", "0x" + strings.Repeat("f", 30), strings.Repeat("1", 100), "1.5", "007", "0x-1", "0x+1"} {
		if got, ok := parseID([]byte(in)); ok {
			t.Errorf("%q: %d", in, got)
		}
	}
}

func TestDigits8(t *testing.T) {
	for n := range 10 {
		text := "123456789"[:n] + "x0000000000"
		v, got := digits8(load([]byte(text), 0))
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
		if _, n := digits8(load(text, 0)); (n == 1) == (c >= '0' && c <= '9') {
			t.Errorf("byte %#x: %d digits", c, n)
		}
	}
}

// TestWindowSlides: what is kept stands at the front, padding behind it is zero,
// offsets go on.
func TestWindowSlides(t *testing.T) {
	data := make([]byte, 3*windowSize)
	for i := range data {
		data[i] = byte(i*7 + i>>8)
	}
	w := newWindow(bytes.NewReader(data))
	w.fill()
	check := func(what string) {
		t.Helper()
		if !bytes.Equal(w.buf[:w.n], data[w.base:w.base+int64(w.n)]) {
			t.Errorf("%s: other bytes", what)
		}
		if !bytes.Equal(w.buf[w.n:w.n+padding], make([]byte, padding)) {
			t.Errorf("%s: no padding", what)
		}
	}
	check("first")
	w.slide(windowSize - 100)
	check("slide")
	if w.base != windowSize-100 || w.n != windowSize || w.at(5) != windowSize-95 {
		t.Errorf("base %d, %d bytes", w.base, w.n)
	}
	w.slide(0)
	if check("growth"); w.n != len(w.buf)-padding && !w.eof || w.n < windowSize+1000 {
		t.Errorf("%d bytes after growth", w.n)
	}
	for !w.eof {
		w.slide(w.n / 2)
		check("rest")
	}
	if w.base+int64(w.n) != int64(len(data)) || w.err != nil {
		t.Errorf("ends at %d, %v", w.base+int64(w.n), w.err)
	}
}

func TestWindowErrors(t *testing.T) {
	w := newWindow(&failing{"abc", io.ErrUnexpectedEOF})
	if w.fill(); !w.eof || w.n != 3 || w.err != io.ErrUnexpectedEOF {
		t.Errorf("%d bytes, %v", w.n, w.err)
	}
	w = newWindow(&failing{"", nil})
	if w.fill(); !w.eof || w.err != io.ErrNoProgress {
		t.Errorf("a source that gives nothing: %v", w.err)
	}
}

func TestWindowSpace(t *testing.T) {
	in := strings.Repeat(" ", 5*windowSize) + "x"
	w := newWindow(strings.NewReader(in))
	w.fill()
	if i := w.space(0); w.buf[i] != 'x' || w.at(i) != 5*windowSize || len(w.buf) != windowSize+padding {
		t.Errorf("at %d, window of %d", w.at(i), len(w.buf))
	}
	if !w.has(w.space(0), "x") || w.has(w.n, "x") || w.has(w.n+1, "x") {
		t.Error("has")
	}
}

// TestHopsAreLearned: the second event of a kind is read by hops alone, and says
// the same as the first.
func TestHopsAreLearned(t *testing.T) {
	event := `{"ph":"X", "cat":"cpu_op", "name":"n%d", "pid":1, "tid":2, "ts":%d.000, "dur":3, "args":{"External id":%d, "device":0, "stream":7, "q":5}}`
	var in strings.Builder
	for i := range 50 {
		fmt.Fprintf(&in, event+",", i, i, i+1)
	}
	d := &reader{window: newWindow(strings.NewReader("[" + in.String() + "{}]"))}
	doc, err := d.first()
	if err != nil {
		t.Fatal(err)
	}
	if len(d.hops) > 12 {
		t.Errorf("%d hops for one kind of event", len(d.hops))
	}
	got := doc.b.Build()
	for i := range 50 {
		e := got.Event(i)
		stream, _ := e.ArgInt(trace.KeyStream)
		device, ok := e.ArgInt(trace.KeyDevice)
		if e.Name() != fmt.Sprintf("n%d", i) || e.Start() != int64(i)*1000 || e.External() != int64(i+1) || stream != 7 || device != 0 || !ok ||
			e.Cat() != trace.CatCPUOp || e.Phase() != trace.Complete || e.Track().PID != "1" || e.Track().TID != "2" {
			t.Fatalf("row %d: %s", i, dump(got))
		}
	}
}

// TestHopsAreBounded: keys that never come again do not fill the memory, and do
// not change what is read.
func TestHopsAreBounded(t *testing.T) {
	var in strings.Builder
	const n = 3 * maxHops
	for i := range n {
		fmt.Fprintf(&in, `{"ph":"X","key%d":1,"name":"n","pid":%d,"tid":1,"ts":%d,"dur":1,"args":{"bytes":[%d],"k%d":[%d]}},`, i, i%5000, i, i, i, i)
	}
	d := &reader{window: newWindow(strings.NewReader("[" + in.String() + "{}]"))}
	doc, err := d.first()
	if err != nil {
		t.Fatal(err)
	}
	if len(d.hops) > maxHops || len(d.memos.all) > maxMemos {
		t.Errorf("%d hops, %d values", len(d.hops), len(d.memos.all))
	}
	got := doc.b.Build()
	if got.Len() != n || len(got.Problems()) != 0 {
		t.Fatalf("%d rows, %s", got.Len(), problems(got))
	}
	for i := range n {
		e := got.Event(i)
		if want := fmt.Sprintf("[%d]", e.Start()/1000); e.ArgText(trace.KeyBytes) != want {
			t.Fatalf("row %d: %s, want %s", i, e.ArgText(trace.KeyBytes), want)
		}
	}
}

// TestMemosAreOfOneKey: the same text is another thing under another key.
func TestMemosAreOfOneKey(t *testing.T) {
	var in strings.Builder
	for range 5 {
		in.WriteString(`{"ph":"X","name":"n","ts":1,"dur":1,"args":{"":"x","dtype":"x","Input Dims":[1],"Input type":[1],"q":[1]}},`)
	}
	for _, keep := range []bool{false, true} {
		traces, err := Read(strings.NewReader("["+in.String()+"{}]"), Options{KeepArgs: keep})
		if err != nil {
			t.Fatal(err)
		}
		want := "X  \"n\" / 1000+1000 dtype=1:x Input Dims=2:[1] Input type=2:[1]\n"
		if keep {
			want = "X  \"n\" / 1000+1000 =1:x dtype=1:x Input Dims=2:[1] Input type=2:[1] q=2:[1]\n"
		}
		if got := dump(traces[0]); got != strings.Repeat(want, 5) {
			t.Errorf("keep %v: %s", keep, got)
		}
	}
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
		{`}, {`, '}', true}, {`}]`, '}', true}, {`}x`, '}', false}, {`}`, '}', true}, {` "k": 1`, '}', true}, {` "k", 1`, '}', false},
		{`, 1`, ']', true}, {`]`, ']', true}, {`}`, ']', false},
		{``, '}', true}, {``, ']', true},
	} {
		d := &reader{window: newWindow(strings.NewReader(`"` + c.in))}
		d.fill()
		if got := d.closes(0, c.what); got != c.want {
			t.Errorf("%q in %c: %v", c.in, c.what, got)
		}
	}
}

func TestSurelyCloses(t *testing.T) {
	for in, want := range map[string]bool{
		`, "k": 1`: true, `},{"ph"`: true, `}},{"ph"`: true, `}]}`: true, `}`: true,
		`, \"k\": 1`: false, `}, {\"`: false, `}"`: false, ` x`: false, `]`: false, `, 1`: false, ``: false,
	} {
		d := &reader{window: newWindow(strings.NewReader(`"` + in))}
		d.fill()
		if got := d.surelyCloses(0); got != want {
			t.Errorf("%q: %v", in, got)
		}
	}
}

func TestOddLiteral(t *testing.T) {
	for in, want := range map[string]int{
		"NaN,": 3, "-Infinity}": 9, "inf]": 3, "+inf,": 4, "-nan(ind),": 9, "1.#QNAN,": 7, "-1.#IND ,": 7,
		"None,": ^0, "undefined,": ^0, "01,": ^0, "NaN": ^3,
	} {
		d := &reader{window: newWindow(strings.NewReader(in)), mode: careful}
		d.fill()
		if got := d.oddLiteral(0); got != want {
			t.Errorf("%q: %s, want %s", in, at(got), at(want))
		}
	}
}
