package chrome

import (
	"strings"
	"testing"

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
	for in, want := range map[string]string{`"a\`: `"a\`, `"a\":,`: `"a\":,`, `\"a,`: `\"a,`, `{"a":`: `{"a": `} {
		if s := string(spaced([]byte("x"), in)); s != "x"+want {
			t.Errorf("spaced(%q) = %q", in, s)
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

func TestAppendMicro(t *testing.T) {
	for ns, want := range map[int64]string{
		0: "0.000", 1: "0.001", 999: "0.999", 1000: "1.000", 3923968038989372: "3923968038989.372", -1: "-0.001", -1500: "-1.500",
		-1 << 63: "-9223372036854775.808", 1<<63 - 1: "9223372036854775.807",
	} {
		if got := string(appendMicro(nil, ns)); got != want {
			t.Errorf("%d: %s, want %s", ns, got, want)
		}
	}
}

// TestValuesAreOfOneKey: the same text is another thing under another key.
func TestValuesAreOfOneKey(t *testing.T) {
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
