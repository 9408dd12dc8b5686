package chrome

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/chrome/scan"
)

func TestCompactAndSpaced(t *testing.T) {
	for _, c := range []struct{ in, compact, spaced string }{
		{`1`, `1`, `1`},
		{` [ 1 , 2 ] `, `[1,2]`, `[1, 2]`},
		{"{\n\t\"a b\" : \"c : d , e\"\r\n}", `{"a b":"c : d , e"}`, `{"a b": "c : d , e"}`},
		{`["\"", "\\", " "]`, `["\"","\\"," "]`, `["\"", "\\", " "]`},
	} {
		got := scan.Compact(nil, []byte(c.in))
		if string(got) != c.compact {
			t.Errorf("compact(%q) = %q", c.in, got)
		}
		if s := spaced(nil, c.compact); string(s) != c.spaced || string(scan.Compact(nil, s)) != c.compact {
			t.Errorf("spaced(%q) = %q", c.compact, s)
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

// TestHopsAreLearned: the second event of a kind is read by hops alone, and says
// the same as the first.
func TestHopsAreLearned(t *testing.T) {
	event := `{"ph":"X", "cat":"cpu_op", "name":"n%d", "pid":1, "tid":2, "ts":%d.000, "dur":3, "args":{"External id":%d, "device":0, "stream":7, "q":5}}`
	var in strings.Builder
	for i := range 50 {
		fmt.Fprintf(&in, event+",", i, i, i+1)
	}
	d := newReader(strings.NewReader("["+in.String()+"{}]"), Options{}, 0)
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
	d := newReader(strings.NewReader("["+in.String()+"{}]"), Options{}, 0)
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
