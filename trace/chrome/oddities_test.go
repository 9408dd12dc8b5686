package chrome

import (
	"bytes"
	"strings"
	"testing"
)

// The Trace Event Format says more than Kineto writes. These are its corners, as Chrome
// and Perfetto read them; what a figure could come from is right, what is for viewers
// alone is left out without a problem.

// checkOddity reads events in both forms of the file, alone and by workers, and compares
// rows, times and problems with want, which is dump with a line of problems behind it.
func checkOddity(t *testing.T, events, want string) {
	t.Helper()
	for _, in := range []string{"[" + events + "]", `{"displayTimeUnit":"ns","systemTraceEvents":"SystemTraceData","otherData":{"v":"1"},` +
		`"stackFrames":{"7":{"name":"f","category":"c","parent":"6"}},"samples":[{"cpu":0,"tid":1,"ts":1.5,"name":"cycles","sf":7,"weight":1}],` +
		`"controllerTraceDataKey":"systraceController","powerTraceAsString":"","traceEvents":[` + events + `]}`} {
		got := readOne(t, in)
		list := ""
		for _, p := range got.Problems() {
			list += string(p.Code) + "\n"
		}
		if dump(got)+list != want {
			t.Errorf("%s\ngot\n%swant\n%s", clip(in), dump(got)+list, want)
		}
		checkChunks(t, []byte(in), Options{KeepArgs: true}, 20, 70, 150)
	}
}

func TestBeginEnd(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`{"ph":"B","name":"a","ts":1},{"ph":"B","name":"b","ts":2},{"ph":"E","ts":3},{"ph":"E","ts":5}`, "X  \"a\" / 1000+4000\nX  \"b\" / 2000+1000\n"},
		{`{"ph":"E","ts":5},{"ph":"B","name":"a","ts":1}`, "X  \"a\" / 1000+4000\n"},                          // any order in the file
		{`{"ph":"B","name":"a","ts":1},{"ph":"E","name":"other","cat":"c","ts":2}`, "X  \"a\" / 1000+1000\n"}, // ends have no say
		{`{"ph":"B","ts":1},{"ph":"E","name":"late","ts":2}`, "X  \"late\" / 1000+1000\n"},                    // but where the begin says nothing
		{`{"ph":"B","name":"a","tid":1,"ts":1},{"ph":"B","name":"b","tid":2,"ts":1},{"ph":"E","tid":1,"ts":9},{"ph":"E","tid":2,"ts":3}`, "X  \"a\" /1 1000+8000\nX  \"b\" /2 1000+2000\n"},
		{`{"ph":"B","name":"a","ts":1,"args":{"k":1,"l":2}},{"ph":"E","ts":2,"args":{"k":3,"m":"x"}}`, "X  \"a\" / 1000+1000 k=0:3 l=0:2 m=1:x\n"},
		{`{"ph":"B","name":"a","ts":1,"args":{"correlation":4}},{"ph":"E","ts":2,"args":{"External id":5}}`, "X  \"a\" / 1000+1000 corr=4 ext=5\n"},
		{`{"ph":"B","name":"a","ts":1},{"ph":"E","ts":2,"args":{"k":3}}`, "X  \"a\" / 1000+1000 k=0:3\n"},
		{`{"ph":"B","name":"a","ts":1},{"ph":"X","name":"x","ts":3,"dur":6}`, "X  \"a\" / 1000+8000\nX  \"x\" / 3000+6000\nunpaired_begin_end\n"},
		{`{"ph":"E","ts":1},{"ph":"X","name":"x","ts":3,"dur":6}`, "X  \"x\" / 3000+6000\nunpaired_begin_end\n"},
		{`{"ph":"B","name":"a","ts":3},{"ph":"E","ts":3}`, "X  \"a\" / 3000+0\n"},
	} {
		checkOddity(t, c.in, c.want)
	}
}

func TestIDsOfTheFormat(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`{"ph":"s","id":9223372036854775807,"ts":1}`, "s  \"\" / 1000+0 corr=9223372036854775807\n"},
		{`{"ph":"s","id":9223372036854775808,"ts":1}`, "s  \"\" / 1000+0 id=1:9223372036854775808\n"}, // no other flow's number
		{`{"ph":"s","id":-9223372036854775809,"ts":1}`, "s  \"\" / 1000+0 id=1:-9223372036854775809\n"},
		{`{"ph":"s","id":-9223372036854775808,"ts":1}`, "s  \"\" / 1000+0 corr=-9223372036854775808\n"},
		{`{"ph":"s","id":1e3,"ts":1},{"ph":"s","id":1.5,"ts":2}`, "s  \"\" / 1000+0 id=1:1e3\ns  \"\" / 2000+0 id=1:1.5\n"},
		{`{"ph":"s","id":"0X1f","ts":1},{"ph":"s","id":"007","ts":2},{"ph":"s","id":"0x","ts":3}`, "s  \"\" / 1000+0 corr=31\ns  \"\" / 2000+0 id=1:007\ns  \"\" / 3000+0 id=1:0x\n"},
		{`{"ph":"b","id2":{ "local": "0x12"},"ts":1},{"ph":"e","id2":{"local":"0x12"},"ts":2}`, "b  \"\" / 1000+0 id=1:{\"local\":\"0x12\"}\ne  \"\" / 2000+0 id=1:{\"local\":\"0x12\"}\n"},
		{`{"ph":"n","id2":{"global":7},"ts":1}`, "n  \"\" / 1000+0 id=1:{\"global\":7}\n"},
		{`{"ph":"b","cat":"c","scope":"s","id":1,"ts":1}`, "b c \"\" / 1000+0 corr=1\n"},
		{`{"ph":"s","id":"x","id":5,"ts":1}`, "s  \"\" / 1000+0 corr=5\nduplicate_key\n"}, // the last counts
		{`{"ph":"S","id":1,"ts":1},{"ph":"T","id":1,"ts":2,"args":{"step":"a"}},{"ph":"p","id":1,"ts":3},{"ph":"F","id":1,"ts":4}`,
			"S  \"\" / 1000+0 corr=1\nT  \"\" / 2000+0 corr=1 step=1:a\np  \"\" / 3000+0 corr=1\nF  \"\" / 4000+0 corr=1\n"},
		{`{"ph":"N","id":"0x10","ts":1},{"ph":"O","id":"0x10","ts":2,"args":{"snapshot":{"a":1}}},{"ph":"D","id":"0x10","ts":3}`,
			"N  \"\" / 1000+0 corr=16\nO  \"\" / 2000+0 corr=16 snapshot=2:{\"a\":1}\nD  \"\" / 3000+0 corr=16\n"},
		{`{"ph":"X","bind_id":"0x5","flow_out":true,"ts":1,"dur":1},{"ph":"X","bind_id":"0x5","flow_in":true,"id":9,"ts":3,"dur":1}`, "X  \"\" / 1000+1000\nX  \"\" / 3000+1000\n"},
	} {
		checkOddity(t, c.in, c.want)
	}
}

func TestTimesOfTheFormat(t *testing.T) {
	for in, want := range map[string]string{
		`"ts":"1.5"`: "1500+0", `"ts":" 7 "`: "7000+0", `"ts":1e3`: "1000000+0", `"ts":1.5E-2`: "15+0", `"ts":1E+2`: "100000+0",
		`"ts":1.0005`: "1001+0", `"ts":1.0004999`: "1000+0", `"ts":-1.5`: "-1500+0", `"ts":-0.0005`: "-1+0", `"ts":0`: "0+0", `"ts":12.3`: "12300+0",
		`"ts":9223372036854775.807`: "9223372036854775807+0", `"ts":1759300074000000.123456`: "1759300074000000123+0",
		`"ts":1,"dur":"2.5"`: "1000+2500", `"ts":1,"dur":3,"tts":5,"tdur":2,"tidelta":1,"cname":"good","sf":7,"esf":8,"stack":["a"],"estack":["b"],"use_async_tts":1`: "1000+3000",
		`"s":"g","ts":1`: "1000+0", `"s":"p","ts":1`: "1000+0", `"s":"t","ts":1`: "1000+0", `"s":7,"ts":1`: "1000+0",
	} {
		checkOddity(t, `{"ph":"i",`+in+`}`, "i  \"\" / "+want+"\n")
	}
	for _, in := range []string{`"ts":1e300`, `"ts":9223372036854775.808`} {
		checkOddity(t, `{"ph":"i",`+in+`}`+","+ev, evRow+"number_out_of_range\nevent_without_time\n")
	}
	for _, in := range []string{`"ts":null`, `"ts":"x"`, `"ts":""`, `"ts":[1]`, `"ts":true`, `"tts":1`} {
		checkOddity(t, `{"ph":"i",`+in+`}`+","+ev, evRow+"event_without_time\n")
	}
	checkOddity(t, `{"ph":"X","ts":1},{"ph":"X","ts":2,"dur":null}`, "X  \"\" / 1000+0\nX  \"\" / 2000+0\nmissing_duration\n")
	checkOddity(t, `{"ph":"X","ts":1,"dur":1e300}`, "X  \"\" / 1000+0\nmissing_duration\nnumber_out_of_range\n")
}

func TestPhasesOfTheFormat(t *testing.T) {
	for _, ph := range []string{"P", "v", "V", "c", "(", ")", "C"} {
		checkOddity(t, `{"ph":"`+ph+`","name":"n","ts":1,"id":3}`, ph+"  \"n\" / 1000+0\n")
	}
	for _, ph := range []string{`"xx"`, `""`, `5`, `"é"`, `null`} {
		checkOddity(t, `{"ph":`+ph+`,"ts":1},`+ev, evRow+"not_an_event\n")
	}
	checkOddity(t, `{"ph":"\u0058","ts":1,"dur":1}`, "X  \"\" / 1000+1000\n")
	checkOddity(t, ev+",,"+next+",", evRow+nextRow+"extra_comma\n")
}

// TestMetadataOfTheFormat: names behind the events they name, and of kinds nobody reads.
func TestMetadataOfTheFormat(t *testing.T) {
	got := readOne(t, `[{"ph":"X","name":"k","pid":1,"tid":2,"ts":1,"dur":1},
	{"ph":"M","name":"thread_name","pid":1,"tid":2,"args":{"name":"late"}},{"ph":"M","name":"process_name","pid":1,"args":{"name":"p"}},
	{"ph":"M","name":"process_name","pid":1,"args":{"name":null}},{"ph":"M","name":"thread_name","pid":1,"tid":2},{"ph":"M","name":"thread_name","pid":1,"tid":2,"args":{}},
	{"ph":"M","name":"process_uptime_seconds","pid":1,"args":{"uptime":"5"}},{"ph":"M","name":"trace_buffer_overflowed","pid":1,"args":{"overflowed_at_ts":"5"}},
	{"ph":"M","name":"stackFrames","pid":1,"args":{}},{"ph":"M"},{"ph":"M","name":"process_sort_index","pid":1,"args":{"sort_index":"x"}}]`)
	track := got.Event(0).Track()
	if track.ThreadName != "late" || track.ProcessName != "p" || track.ProcessSort != 0 || problems(got) != "" {
		t.Errorf("%+v %s", track, problems(got))
	}
}

// TestIDsSurvive: an id with a scope is written as it was read.
func TestIDsSurvive(t *testing.T) {
	in := `[{"ph":"b","id2":{"local":"0x12"},"ts":1},{"ph":"b","id":"{broken","ts":2},{"ph":"s","id":9223372036854775808,"ts":3}]`
	var out bytes.Buffer
	first := readOne(t, in)
	if err := Write(&out, first); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), `"id2": {"local": "0x12"}`) || !strings.Contains(out.String(), `"id": "{broken"`) {
		t.Errorf("wrote %s", out.String())
	}
	again := readOne(t, out.String())
	if dump(again) != dump(first) {
		t.Errorf("got\n%swant\n%s", dump(again), dump(first))
	}
}

// TestDepth: a value may be nested as deep as the limit says, and one level deeper is left out.
func TestDepth(t *testing.T) {
	for n, problem := range map[int]string{10_000: "", 10_001: "deep_nesting:1@73"} {
		q := strings.Repeat("[", n) + strings.Repeat("]", n)
		got := readOne(t, `[{"ph":"X","name":"a","pid":1,"tid":2,"ts":1,"dur":2,"args":{"r":"x","q":`+q+`}}]`)
		kept := 2
		if problem != "" {
			kept = 1
		}
		if problems(got) != problem || got.Len() != 1 || len(got.Event(0).Args()) != kept {
			t.Errorf("%d levels: %s, %d arguments", n, problems(got), len(got.Event(0).Args()))
		}
	}
}
