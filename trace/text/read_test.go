package text

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/gaprof/gaprof/trace"
)

func mustRead(t *testing.T, s string) *trace.Trace {
	t.Helper()
	tr, err := Read(strings.NewReader(s), "")
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// Odd events are written back in the one canonical way.
func TestEvents(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`1/1 0 +0 - ""`, `1/1 0 +0 - ""`},
		{`1/1 0 X - a`, `1/1 0 +0 - a`},
		{`1/1 5 i - a`, `1/1 5 i - a`},
		{`1/1 5 i+3 - a`, `1/1 5 i+3 - a`},
		{`1/1 5 0x2b - a`, `1/1 5 0x2b - a`},
		{`1/1 5 0x00+1 - a`, `1/1 5 0x0+1 - a`},
		{"\t1/1\t5\t+1\t-\ta\t# why\r", `1/1 5 +1 - a`},
		{`1/1 -1500 +1ms - ProfilerStep#3`, `1/1 -1.5us +1000us - ProfilerStep#3`},
		{`1/1 0.5us +1.250ms - a`, `1/1 500 +1250us - a`},
		{`1/1 9223372036854775807 +0 - a`, `1/1 9223372036854775.807us +0 - a`},
		{`1/1 -9223372036854775808 +0 - a`, `1/1 -9223372036854775.808us +0 - a`},
		{`1/1 1 +1 "-" "-"`, `1/1 1 +1 "-" "-"`},
		{`1/1 1 +1 Kernel a`, `1/1 1 +1 kernel a`},
		{`"CPU functions"/"a/b" 1 +1 - a`, `"CPU functions"/"a/b" 1 +1 - a`},
		{`""/"" 1 +1 - a`, `""/"" 1 +1 - a`},
		{`"device"/1 1 +1 - a`, `device/1 1 +1 - a`},
		{`1/1 1 +1 - "tab\there \x1b[31m \xff"`, `1/1 1 +1 - "tab\there \x1b[31m \xff"`},
		{`1/1 1 +1 - λ=x seq=1`, `1/1 1 +1 - λ=x seq=1`},
		{`1/1 1 +1 - a ext=2 seq=-3 corr=7`, `1/1 1 +1 - a corr=7 ext=2 seq=-3`},
		{
			`1/1 1 +1 - a group="0" group=0 group=x group="x y" group=""`,
			`1/1 1 +1 - a group="0" group=0 group=x group="x y" group=""`,
		},
		{`1/1 1 +1 - a dims=[[1, 2], []] type=["a b]","\""]`, `1/1 1 +1 - a dims=[[1, 2], []] type=["a b]","\""]`},
		{
			`1/1 1 +1 - a "x y"={"a": 1} "corr"=5 "1"=1.5 "t"=true "n"=null`,
			`1/1 1 +1 - a "x y"={"a": 1} "corr"=5 "1"=1.5 "t"=true "n"=null`,
		},
		{
			`1/1 1 +1 - a "x"="true" "x"="1.5" "x"="[1]" "x"="-7"`,
			`1/1 1 +1 - a "x"="true" "x"="1.5" "x"="[1]" "x"="-7"`,
		},
		{`1/1 1 +1 - a "x"=json"[NaN" "x"=json"[1]" "x"=json"7"`, `1/1 1 +1 - a "x"=json"[NaN" "x"=[1] "x"=json"7"`},
		{`1/1 1 +1 - a seq=99999999999999999999`, `1/1 1 +1 - a seq=99999999999999999999`},
	} {
		var out strings.Builder
		if err := Write(&out, mustRead(t, c.in)); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		if got := squeeze(lines[len(lines)-1]); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.in, got, c.want)
		}
	}
}

// squeeze takes the padding of the columns out.
func squeeze(s string) string {
	head, tail, _ := strings.Cut(s, " ")
	for range 4 {
		word, rest, _ := strings.Cut(strings.TrimLeft(tail, " "), " ")
		if strings.HasPrefix(head, `"CPU`) && strings.HasPrefix(word, `functions`) {
			return s[:len(`"CPU functions"/"a/b"`)] + squeeze("x " + rest)[1:]
		}
		head, tail = head+" "+word, rest
	}
	return strings.TrimRight(head+" "+tail, " ")
}

func TestErrors(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"x", `line 1: expected process/thread, found "x"`},
		{"\n\n1/1", "byte 2: line 3: start is missing"},
		{"1/1 soon", `"soon" is not a time`},
		{"1/1 1.5", "not a whole number of ns"},
		{"1/1 1.0005us", "not a whole number of ns"},
		{"1/1 1e3", "is not a time"},
		{"1/1 .5us", "is not a time"},
		{"1/1 +5", "is not a time"},
		{"1/1 9999999999s", "too long"},
		{"1/1 1", "duration or phase is missing"},
		{"1/1 1 5us", `expected +duration or a phase letter, found "5us"`},
		{"1/1 1 0xfff", "phase"},
		{"1/1 1 + - a", "is not a time"},
		{"1/1 1 +1", "category is missing"},
		{"1/1 1 +1 cpu_op # name", "name is missing"},
		{`1/1 1 +1 - "a`, "a quote is not closed"},
		{`1/1 1 +1 - "a"b`, `no space after name "a"`},
		{`1/1 1 +1 - "\q"`, "an escape"},
		{"1/1 1 +1 - a b", `expected key=value, found "b"`},
		{"1/1 1 +1 - a sqe=1", `unknown argument sqe; write "sqe"=... if it is meant`},
		{"1/1 1 +1 - a seq=", "seq: value is missing"},
		{"1/1 1 +1 - a corr=x", `corr: "x" is not an integer`},
		{"1/1 1 +1 - a dims=[1", `dims: "[1" is not JSON`},
		{"1/1 1 +1 - a dims=[1]2", `no space before "2"`},
		{`1/1 1 +1 - a group="a"b`, `no space before "b"`},
		{"device", "device number is missing"},
		{"device x y", `"x" is not an integer`},
		{"device 0 y size=1", `unknown key "size"; there are memory`},
		{"distributed rank=x", `rank: "x" is not an integer`},
		{"distributed\ndistributed", "a second distributed line"},
		{"group 0", "a group needs a distributed line before it"},
		{"distributed\ngroup 0 ranks=1,x", `ranks: "x" is not an integer`},
		{"extra a=b", `a: "b" is not JSON`},
		{"extra", "key=value is missing"},
		{"problem nonsense", `unknown problem "nonsense"`},
		{"problem truncated count=0", "count is not 1 to"},
		{"process", "process is missing"},
		{"thread 1", "expected process/thread"},
	} {
		_, err := Read(strings.NewReader(c.in), "f.txt")
		var format *trace.FormatError
		if !errors.As(err, &format) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: error %v, want %s", c.in, err, c.want)
		}
	}
}

func TestReadError(t *testing.T) {
	in := io.MultiReader(strings.NewReader("1/1 0 +1 - a\n"), iotest.ErrReader(io.ErrUnexpectedEOF))
	if _, err := Read(in, "f.txt"); !errors.Is(err, io.ErrUnexpectedEOF) || !strings.HasPrefix(err.Error(), "f.txt: ") {
		t.Errorf("error %v", err)
	}
}

// Damage in an event is repaired and counted by the Builder, so that rules about
// damage can be tested in text.
func TestRepairs(t *testing.T) {
	tr := mustRead(t, "1/1 5 +-1us - a\n1/1 6 X - b\n1/1 7 E - c\nproblem truncated count=2 offset=9 detail=here")
	got := make(map[trace.Code]int64)
	for _, p := range tr.Problems() {
		got[p.Code] = p.Count
	}
	want := map[trace.Code]int64{
		trace.NegativeDuration: 1,
		trace.MissingDuration:  1,
		trace.UnpairedBegin:    1,
		trace.Truncated:        2,
	}
	for code, n := range want {
		if got[code] != n {
			t.Errorf("%s counted %d times, want %d", code, got[code], n)
		}
	}
}

func TestSniff(t *testing.T) {
	for _, c := range []struct {
		in   string
		want bool
	}{
		{"", false},
		{"\n\n", false},
		{"# anything", true},
		{"\n  # anything", true},
		{"device 0 x", true},
		{"100/100 10us +5us", true},
		{`"CPU functions"/1 10us +5us`, true},
		{"100/100 soon", false},
		{"hello world", false},
		{"/usr/bin/env python", false},
		{`{"traceEvents": []}`, false},
		{"[]", false},
		{"1/1 0\x00", false},
		{"\x89PNG\r\n\x1a\n", false},
	} {
		if got := Sniff([]byte(c.in)); got != c.want {
			t.Errorf("%q: %v", c.in, got)
		}
	}
}
