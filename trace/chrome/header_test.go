package chrome

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/chrome/input"
	"github.com/gaprof/gaprof/trace/chrome/token"
)

// TestHeader: entries before the events, whole and damaged: what is kept of them, what is noted,
// and which of them only Kineto writes. The events are read whatever stands there.
func TestHeader(t *testing.T) {
	for _, c := range []struct{ entries, extra, problems, format string }{
		{``, "", "", "chrome"},
		{`"x":"y","n":null,"t":true,"o":{"a" : [1, 2]},"d":1.50,`, `x="y" n=null t=true o={"a":[1,2]} d=1.50`, "", "chrome"},
		{`"e\u00e9":"\u00e9",`, `eé="\u00e9"`, "", "chrome"},
		{`"a":"x"y",`, `a="x"`, "broken_event:1@8", "chrome"},
		{`"a":NaN,`, "a=null", "non_finite_number:1@5", "chrome"},
		{`"a":!,`, "", "broken_event:1@1", "chrome"},
		{`"b":2,"a":!,`, "b=2", "broken_event:1@6", "chrome"},
		{`"a":1 "b":2,`, "a=1 b=2", "missing_comma:1@7", "chrome"},
		{`"a":1,,`, "a=1", "extra_comma:1@7", "chrome"},
		{`,"a":1,`, "a=1", "extra_comma:1@1", "chrome"},
		{`"a":[1,],"b":3,`, "b=3", "extra_comma:1@8", "chrome"},
		{`"a":{"b":!},`, "", "broken_event:1@1", "chrome"},
		{`"a":"\q",`, "", "bad_escape:1@6", "chrome"},
		{`"a":"traceEvents":[`, `a="traceEvents"`, "broken_event:1@18", "chrome"},
		{`"traceEvents":5,`, "traceEvents=5", "", "chrome"},
		{`"traceEvents":!,"traceEvents" : {},"traceEvents",`, "", "broken_event:1@1", "chrome"},
		{`"displayTimeUnit":"ns",`, "", "", "chrome"},
		{`"traceName":5,`, "traceName=5", "", "chrome"},
		{`"traceName":"x",`, "", "", "chrome"},
		{`"schemaVersion":1,`, "", "", "kineto"},
		{`"baseTimeNanoseconds":"x",`, `baseTimeNanoseconds="x"`, "", "kineto"},
		{`"baseTimeNanoseconds":"17",`, "", "", "kineto"},
		{`"baseTimeNanoseconds":[1],`, "baseTimeNanoseconds=[1]", "", "kineto"},
		{`"distributedInfo":{"rank":0},`, `distributedInfo={"rank":0}`, "", "kineto"},
		{`"distributedInfo":[],`, "distributedInfo=[]", "", "kineto"},
		{`"deviceProperties":5,`, "deviceProperties=5", "", "kineto"},
		{`"deep":` + strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001) + `,"a":1,`, "a=1", "deep_nesting:1@8", "chrome"},
		{`"ERROR":["Dropped 0 activity records"],`, `ERROR=["Dropped 0 activity records"]`, "", "chrome"},
		{`"INFO":["Exceeded max GPU buffer count"],`, `INFO=["Exceeded max GPU buffer count"]`, "dropped_device_events:1@8", "chrome"},
		{`"WARNING":["a Dropped 1 activity records.","Dropped 2 activities"],`,
			`WARNING=["a Dropped 1 activity records.","Dropped 2 activities"]`, "dropped_device_events:1@11", "chrome"},
		{`"OTHER":["Dropped 3 activity records"],`, `OTHER=["Dropped 3 activity records"]`, "", "chrome"},
	} {
		got := readOne(t, "{"+c.entries+`"traceEvents":[`+ev+`]}`)
		var extra []string
		for _, e := range got.Meta().Extra {
			extra = append(extra, e.Key+"="+e.JSON)
		}
		if dump(got) != evRow || strings.Join(extra, " ") != c.extra || problems(got) != c.problems || got.Meta().Format != c.format {
			t.Errorf("%.200s: %s%s\n%s\n%s", c.entries, dump(got), extra, problems(got), got.Meta().Format)
		}
	}
}

// TestHeaderValues: what the model holds of a header, in other forms than Kineto's own.
func TestHeaderValues(t *testing.T) {
	for _, c := range []struct{ entry, want string }{
		{`"baseTimeNanoseconds":"17"`, "17 [] <nil>"},
		{`"baseTimeNanoseconds":-5`, "-5 [] <nil>"},
		{`"baseTimeNanoseconds":1.5`, "0 [] <nil>"},
		{`"deviceProperties":[{"id":"3","name":7,"totalGlobalMem":"12"},{}]`, "0 [{3  12} {0  0}] <nil>"},
		{`"deviceProperties":{"id":3}`, "0 [] <nil>"},
		{`"distributedInfo":{"world_size":8}`, "0 [] <nil>"},
		{`"distributedInfo":{"rank":"2","world_size":"8","backend":5}`, "0 [] &{ 2 8 []}"},
		{`"distributedInfo":{"rank":1.5,"pg_config":{"a":1}}`, "0 [] &{ 0 0 []}"},
		{`"distributedInfo":{"rank":1,"pg_config":[5,{"pg_name":3,"pg_size":"2","ranks":["4",5]},{"ranks":"x"},null]}`,
			"0 [] &{ 1 0 [{3  2 [4 5]} {  0 []}]}"},
	} {
		m := readOne(t, "{"+c.entry+`,"traceEvents":[]}`).Meta()
		got := fmt.Sprint(m.BaseTime, " ", m.Devices, " ", m.Distributed)
		if m.Distributed == nil {
			got = fmt.Sprint(m.BaseTime, " ", m.Devices, " <nil>")
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.entry, got, c.want)
		}
	}
}

// TestLongHeader: an entry of more bytes than are kept is told and left out, one of as many is
// kept; what stands before and behind it is read, and an entry beyond the reach is damage.
func TestLongHeader(t *testing.T) {
	for n, want := range map[int]string{maxExtra - 2: "", maxExtra - 1: "long_string:1@15"} {
		in := `{"b":1,"long":"` + strings.Repeat("x", n) + `","a":2,"traceEvents":[` + ev + `]}`
		got := readOne(t, in)
		keys := ""
		for _, e := range got.Meta().Extra {
			keys += e.Key + " "
		}
		if dump(got) != evRow || problems(got) != want || (keys == "b long a ") != (want == "") || !strings.HasSuffix(keys, "a ") {
			t.Errorf("%d bytes: %s%s, entries %s", n, dump(got), problems(got), keys)
		}
	}
	for _, n := range []int{1 << 16, 1 << 20} {
		in := `{"b":1,"long":"` + strings.Repeat("x", n) + `","traceEvents":[` + ev + `]}`
		traces, err := Read(strings.NewReader(in), Options{Reach: 300_000})
		want := ""
		if n > 300_000 {
			want = "broken_event:1@6"
		}
		if err != nil || dump(traces[0]) != evRow || problems(traces[0]) != want {
			t.Errorf("%d bytes within a reach of 300,000: %v, %s", n, err, problems(traces[0]))
		}
	}
}

// TestReach: how far one event may go is what the caller says, and never more than the limit.
func TestReach(t *testing.T) {
	long := `{"ph":"X","name":"` + strings.Repeat("n", 700_000) + `","pid":1,"tid":2,"ts":0,"dur":1},`
	for reach, rows := range map[int]int{0: 2, 1: 1, 300_000: 1, 1 << 20: 2, 1 << 40: 2} {
		traces, err := Read(strings.NewReader("["+long+ev+"]"), Options{Reach: reach})
		if err != nil || traces[0].Len() != rows {
			t.Errorf("a reach of %d: %v, %d rows", reach, err, traces[0].Len())
		}
	}
}

// TestBehindTheList: damage after the events is told, and takes nothing from them.
func TestBehindTheList(t *testing.T) {
	for _, c := range []struct{ behind, problems string }{
		{`}`, ""}, {`,"a":1}`, ""}, {`,"a":!}`, "trailing_data:1@69"}, {`,"a":"x`, "truncated:1@69"}, {``, "truncated:1@69"},
		{`,`, "truncated:1@69"}, {`,"a"`, "truncated:1@69"}, {` x`, "trailing_data:1@69"},
		{`,"a":!` + strings.Repeat("x", 2*input.WindowSize), "trailing_data:1@69"},
		{`}` + strings.Repeat("\n", 2*input.WindowSize), ""},
	} {
		got := readOne(t, `{"traceEvents":[`+ev+`]`+c.behind)
		if dump(got) != evRow || problems(got) != c.problems {
			t.Errorf("%.40s: %s%s", c.behind, dump(got), problems(got))
		}
	}
}

// TestFarDamage: from damage of any length the reader finds to the next event, wherever windows
// end within it.
func TestFarDamage(t *testing.T) {
	const w = input.WindowSize
	for _, n := range []int{100, token.Lookahead, w - 200, w - 100, w, w + token.Lookahead, 3 * w} {
		for _, fill := range []string{"x", " ", "{", "]", `"`, "\\", `{"`, `},{"a":`} {
			garbage := strings.Repeat(fill, n/len(fill))
			got := readOne(t, "["+ev+`,{"ph":"X","name":!`+garbage+`},`+next+"]")
			if dump(got) != evRow+nextRow || problems(got) != "broken_event:1@54" {
				t.Errorf("%d bytes of %q: %s%s", n, fill, dump(got), problems(got))
			}
			if fill == `"` || fill == "\\" || fill == " " {
				continue
			}
			got = readOne(t, "["+ev+`,{"ph":"X","name":!`+garbage)
			if p := problems(got); dump(got) != evRow || p != "broken_event:1@54" && (p != "truncated:1@54" || n > 2*token.Lookahead) {
				t.Errorf("cut, %d bytes of %q: %s%s", n, fill, dump(got), p)
			}
		}
	}
}

// TestDamageAtBorders: what becomes of damage does not depend on where windows end.
func TestDamageAtBorders(t *testing.T) {
	for _, damaged := range []string{
		`{"ph":"X","name":"f("a", "b")","pid":1,"tid":2,"ts":0,"dur":1},`,
		`{"ph":"X","name":"C:\dir\","pid":1,"tid":2,"ts":0,"dur":1},`,
		`{"ph":"X","name":"x","q":[1,,2 3,NaN,{"a":1,}],"pid":1,"tid":2,"ts":0,"dur":1},`,
		`{"ph":"X","name":"q","args":{"s":"a` + "\n\xff" + `\u12"},"pid":1,"tid":2,"ts":0,"dur":1} `,
		`{"ph":"X","name":!},{"ph":"X","name":"x","pid":1,"tid":2,"ts":0,"dur":1},`,
		`{"a":1},7,[{"ph":"X","ts":1}],{"ph":"X","name":"x","pid":1,"tid":2,"ts":0},`,
	} {
		want := readOne(t, "["+damaged+ev+"]")
		for _, before := range []int{
			1, 2, 10, 25, 40, 60, 100, token.Lookahead - 60, token.Lookahead - 5, token.Lookahead, token.Lookahead + 30, 16<<10 - 60, 16 << 10,
			16<<10 + 60,
		} {
			n := input.WindowSize - before
			got := readOne(t, "["+strings.Repeat(" ", n)+damaged+ev+strings.Repeat(","+next, 1000)+"]")
			tail := strings.Repeat(nextRow, 1000)
			if dump(got) != dump(want)+tail || moved(problems(want), int64(n)) != problems(got) {
				t.Errorf("%d bytes before the end of a window: %q\n%.400s%s\nwant\n%s%s", before, damaged, dump(got), problems(got), dump(want), problems(want))
			}
		}
	}
}

// moved is problems with places so many bytes further on.
func moved(problems string, n int64) string {
	var list []string
	for p := range strings.FieldsSeq(problems) {
		name, place, _ := strings.Cut(p, "@")
		var at int64
		if _, err := fmt.Sscan(place, &at); err == nil && at >= 0 {
			at += n
		}
		list = append(list, fmt.Sprint(name, "@", at))
	}
	return strings.Join(list, " ")
}

// TestStrictSaysTheFirst: of several kinds of damage strict reading names the one that stands
// first in the file, and one without a place only where there is no other.
func TestStrictSaysTheFirst(t *testing.T) {
	type damage struct {
		code trace.Code
		at   int64
	}
	for _, c := range []struct {
		list []damage
		at   int64 // -1: none
		code trace.Code
	}{
		{nil, -1, ""},
		{[]damage{{trace.LineDelimited, 3}, {trace.ByteOrderMark, 0}}, -1, ""},
		{[]damage{{trace.BadUTF8, 7}, {trace.BadEscape, 5}, {trace.ExtraComma, 6}}, 5, trace.BadEscape},
		{[]damage{{trace.UnpairedBegin, -1}, {trace.BadUTF8, 0}}, 0, trace.BadUTF8},
		{[]damage{{trace.UnpairedBegin, -1}, {trace.BadUTF8, 9}}, 9, trace.BadUTF8},
		{[]damage{{trace.BadUTF8, 9}, {trace.UnpairedBegin, -1}, {trace.BadEscape, 0}}, 0, trace.BadEscape},
		{[]damage{{trace.LineDelimited, 1}, {trace.BadUTF8, 9}}, 9, trace.BadUTF8},
		{[]damage{{trace.BadUTF8, 0}, {trace.BadEscape, 5}}, 0, trace.BadUTF8},
		{[]damage{{trace.UnpairedBegin, -1}}, 0, trace.UnpairedBegin},
	} {
		b := trace.NewBuilder()
		for _, d := range c.list {
			b.Problem(d.code, d.at, "")
		}
		_, err := build([]*document{{b: b, kineto: true}}, Options{Strict: true, File: "f"})
		var format *trace.FormatError
		if errors.As(err, &format) != (c.at >= 0) {
			t.Errorf("%v: %v", c.list, err)
		} else if c.at >= 0 && (format.Offset != c.at || format.File != "f" || !strings.HasPrefix(format.Reason, c.code.Info().Meaning)) {
			t.Errorf("%v: %v", c.list, err)
		}
	}
}

// TestWindowOfTheProfiler: its own window is that of all spans that say so, in any order.
func TestWindowOfTheProfiler(t *testing.T) {
	for _, c := range []struct {
		spans [][2]int
		want  [2]int64
	}{
		{[][2]int{{5, 3}}, [2]int64{5000, 8000}},
		{[][2]int{{5, 3}, {7, 4}, {6, 1}}, [2]int64{5000, 11000}},
		{[][2]int{{7, 4}, {5, 3}}, [2]int64{5000, 11000}},
		{[][2]int{{5, 9}, {6, 1}}, [2]int64{5000, 14000}},
		{[][2]int{{0, 5}, {3, 4}}, [2]int64{0, 7000}},
		{[][2]int{{-4, 4}, {3, 4}}, [2]int64{-4000, 7000}},
		{[][2]int{{5, -3}}, [2]int64{5000, 5000}},
		{nil, [2]int64{}},
	} {
		text := `[{"ph":"X","cat":"kernel","name":"k","ts":1,"dur":100}`
		for _, s := range c.spans {
			text += fmt.Sprintf(`,{"ph":"X","cat":"Trace","name":"PyTorch Profiler (0)","pid":"Spans","tid":"p","ts":%d,"dur":%d}`, s[0], s[1])
		}
		checkChunks(t, []byte(text+"]"), Options{}, 60, 200)
		if m := readOne(t, text+"]").Meta(); [2]int64{m.WindowStart, m.WindowEnd} != c.want {
			t.Errorf("%v: %d to %d, want %d", c.spans, m.WindowStart, m.WindowEnd, c.want)
		}
	}
}

// TestNoEventsInChunks: a list of what is no event is refused, by whomever it is read.
func TestNoEventsInChunks(t *testing.T) {
	text := []byte("[" + strings.Repeat(`{"a":1},`, 3000) + "{}]")
	checkChunks(t, text, Options{}, 50, 1000, 9000)
	if _, err := Read(strings.NewReader(string(text)), Options{}); err == nil {
		t.Error("it is a trace")
	}
}
