package overlay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/gaprof/gaprof/analyze/report"
)

func TestMerge(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{`[]`, `[E]`},
		{` [ ]`, ` [E ]`},
		{`[1]`, "[E,\n1]"},
		{`[1`, "[E,\n1"}, // cut: left as it is
		{`{"traceEvents":[1,2]}`, "{\"traceEvents\":[E,\n1,2]}"},
		{`{"traceEvents" : [ ] }`, `{"traceEvents" : [E ] }`},
		{
			"\xef\xbb\xbf{\"a\":{\"traceEvents\":[7]},\"traceEvents\":[1]}",
			"\xef\xbb\xbf{\"a\":{\"traceEvents\":[7]},\"traceEvents\":[E,\n1]}",
		},
		{
			`{"a":"\"traceEvents\":[","traceEvents":[1],"z":1}`,
			"{\"a\":\"\\\"traceEvents\\\":[\",\"traceEvents\":[E,\n1],\"z\":1}",
		},
		{`{"a":1}`, ""}, {``, ""}, {`x`, ""}, {`"x"`, ""}, {`{"traceEvents":{}}`, ""}, {`{"a":`, ""},
	} {
		var b bytes.Buffer
		ok, err := Merge(&b, iotest.OneByteReader(strings.NewReader(test.in)), []byte("E"))
		if err != nil || ok != (test.want != "") || b.String() != test.want {
			t.Errorf("%s: %q, %v, %v; want %q", test.in, b.String(), ok, err, test.want)
		}
	}
	broken := errors.New("broken")
	if _, err := Merge(io.Discard, iotest.ErrReader(broken), nil); !errors.Is(err, broken) {
		t.Errorf("an error of reading becomes %v", err)
	}
}

// Long traces pass through whole.
func TestMergeLong(t *testing.T) {
	in := "[" + strings.Repeat("1,", mostHead) + "2]"
	var b strings.Builder
	if ok, err := Merge(&b, strings.NewReader(in), []byte("0")); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if b.String() != "[0,\n"+in[1:] {
		t.Error("the trace is another one")
	}
}

func sample() *report.Report {
	ns := func(n int64) *int64 { return &n }
	return &report.Report{
		Steps: []report.Step{
			{Rank: 1, Device: "0", Index: 0, Kind: "A", Start: ns(1000), Duration: ns(1500)},
			{Rank: 1, Device: "1", Index: 0, Kind: "A", Start: ns(1000), Duration: ns(1500)},
			{Rank: 1, Device: "0", Index: 1, Kind: "A"},
		},
		Findings: []report.Finding{
			{Rule: "XX001", Severity: report.Warn, Message: "m\x1b", Fix: "f", Cost: ns(7),
				Change: &report.Change{Before: "b", After: "a"}, Evidence: []report.Evidence{
					{Rank: 1, Name: "late", Track: "1/2", Start: 3000, Duration: 5},
					{Rank: 1, Name: "first", Track: "1/2", Start: -1001, Duration: 2000},
					{Rank: 1, Name: "beside", Track: "1/3", Start: 0, Duration: 10},
					{Rank: 0, Name: "other", Track: "1/2", Start: 1, Duration: 1},
				}},
			{Rule: "XX002", Severity: report.Note, Message: "no evidence"},
		},
	}
}

// Slices of a thread never overlap, times are exact, and only what is of the rank is there.
func TestEvents(t *testing.T) {
	var events []struct {
		Ph, Name string
		Tid      int
		Ts, Dur  json.Number
		Args     map[string]any
	}
	if err := json.Unmarshal([]byte("["+string(Events(sample(), 1))+"]"), &events); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, e := range events {
		switch {
		case e.Ph == "X":
			lines = append(lines, fmt.Sprint("slice ", e.Tid, " ", e.Name, " ", e.Ts, " ", e.Dur))
		case e.Name == "thread_name":
			lines = append(lines, fmt.Sprint("track ", e.Tid, " ", e.Args["name"]))
		}
	}
	want := `track 1 steps of the device
slice 1 step 0 (A) 1.000 1.500
track 2 XX001 warn: m` + "\x1b" + `
slice 2 XX001 first -1.001 2.000
track 3 XX001 warn: m` + "\x1b" + `
slice 3 XX001 beside 0.000 0.010
slice 2 XX001 late 3.000 0.005`
	if got := strings.Join(lines, "\n"); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if Events(sample(), 5) != nil {
		t.Error("a rank of which nothing is said has events")
	}
}
