package chrome

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/chrome/input"
	"github.com/gaprof/gaprof/trace/chrome/token"
)

// TestForms: the same two events in every form that files have.
func TestForms(t *testing.T) {
	for _, c := range []struct{ what, in, problems string }{
		{"list", "[" + ev + "," + next + "]", ""},
		{"object", `{"traceEvents":[` + ev + "," + next + "]}", ""},
		{"entries before and behind", `{"a":{"b":[1]},"traceEvents":[` + ev + "," + next + `],"z":"y"}`, ""},
		{"space everywhere", " {\r\n\t\"traceEvents\" : [ " + ev + " , " + next + " ] } \n", ""},
		{"byte-order mark", mark + "[" + ev + "," + next + "]", "byte_order_mark:1@0"},
		{"lines", ev + "\n" + next + "\n", "line_delimited:1@0"},
		{"lines behind a byte-order mark", mark + ev + "\n" + next, "byte_order_mark:1@0 line_delimited:1@3"},
		{"lines with commas", ev + ",\n" + next, "line_delimited:1@0"},
		{"list twice under the key", `{"traceEvents":[` + ev + `],"traceEvents":[` + next + "]}", "duplicate_key:1@71"},
		{"escaped key", `{"trace\u0045vents":[` + ev + "," + next + "]}", ""},
	} {
		got := readOne(t, c.in)
		if dump(got) != evRow+nextRow || problems(got) != c.problems {
			t.Errorf("%s: %q\n%s%s", c.what, c.in, dump(got), problems(got))
		}
	}
}

func TestSeveralDocuments(t *testing.T) {
	object := `{"distributedInfo":{"rank":%d},"traceEvents":[%s]}`
	for _, in := range []string{
		"[" + ev + "][" + next + "]",
		fmt.Sprintf(object, 0, ev) + "\n" + fmt.Sprintf(object, 1, next),
	} {
		got := readAll(t, in)
		if len(got) != 2 || dump(got[0]) != evRow || dump(got[1]) != nextRow {
			t.Fatalf("%q: %d traces", in, len(got))
		}
		if p := problems(got[0]); p != "several_documents:1@0" {
			t.Errorf("first of %q: %s", in, p)
		}
		if p := problems(got[1]); !strings.HasPrefix(p, "several_documents:1@") || strings.HasSuffix(p, "@0") {
			t.Errorf("second of %q: %s", in, p)
		}
	}
}

func TestEmptyTraces(t *testing.T) {
	for _, in := range []string{`[]`, `{"traceEvents":[]}`, `{"traceEvents": [ ] , "a":1}`, `[{}]`} {
		if got := readOne(t, in); got.Len() != 0 || problems(got) != "" {
			t.Errorf("%q: %s", in, problems(got))
		}
	}
}

func TestPhasesAndIDs(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`"ph":"s","id":7`, "s  \"\" / 1000+0 corr=7"},
		{`"ph":"t","id":"12"`, "t  \"\" / 1000+0 corr=12"},
		{`"ph":"f","id":"0x1F","bp":"e"`, "f  \"\" / 1000+0 corr=31"},
		{`"ph":"b","id":"worker"`, "b  \"\" / 1000+0 id=1:worker"},
		{`"ph":"b","id":"a \u00e9 b"`, "b  \"\" / 1000+0 id=1:a é b"},
		{`"ph":"n","id":"0xffffffffffffffff"`, "n  \"\" / 1000+0 id=1:0xffffffffffffffff"},
		{`"ph":"e","id":null`, "e  \"\" / 1000+0"},
		{`"ph":"S","id":-3`, "S  \"\" / 1000+0 corr=-3"},
		{`"ph":"X","id":7,"dur":1`, "X  \"\" / 1000+1000"},
		{`"ph":"I"`, "i  \"\" / 1000+0"},
		{`"ph":"R"`, "i  \"\" / 1000+0"},
		{`"ph":"C","name":"mem","args":{"used":5}`, "C  \"mem\" / 1000+0 used=0:5"},
		{`"ph":"i","pid":-1,"tid":"PyTorch Profiler"`, "i  \"\" -1/PyTorch Profiler 1000+0"},
		{`"ph":"i","pid":"","tid":1.5`, "i  \"\" /1.5 1000+0"},
		{`"ph":"i","pid":null,"tid":[1]`, "i  \"\" /[1] 1000+0"},
		{`"ph":"i","pid":-0`, "i  \"\" -0/ 1000+0"},
		{`"args":{"External id":3,"correlation":"4"},"ph":"i","name":"x"`, "i  \"x\" / 1000+0 corr=4 ext=3"},
		{`"ph":"i","cat":"unknown,cuda_runtime,kernel"`, "i cuda_runtime \"\" / 1000+0"},
		{`"ph":"i","cat":"foo,bar"`, "i foo \"\" / 1000+0"},
		{`"ph":"i","cat":"Kernel"`, "i kernel \"\" / 1000+0"},
		{`"ph":"i","cat":null`, "i  \"\" / 1000+0"},
	} {
		if got := dump(readOne(t, `[{"ts":1,`+c.in+`}]`)); got != c.want+"\n" {
			t.Errorf("%s: got %q, want %q", c.in, got, c.want)
		}
	}
}

func TestTracksAndMeta(t *testing.T) {
	got := readOne(t, `{"schemaVersion":1,
	 "deviceProperties":[{"id":0,"name":"H100","totalGlobalMem":85029158912,"numSms":132}],
	 "distributedInfo":{"backend":"nccl","rank":"3","world_size":8,"pg_config":[{"pg_name":"0","pg_desc":"default_pg","pg_size":8,"ranks":[0,1]},
	   {"pg_name":1,"ranks":"[2, 3]"}]},
	 "baseTimeNanoseconds":1759300074000000000, "displayTimeUnit":"ms", "with_stack": 1,
	 "traceEvents":[
	 {"ph":"M","name":"process_name","pid":0,"tid":0,"args":{"name":"python"}},
	 {"ph":"M","name":"process_labels","pid":0,"args":{"labels":"GPU 0"}},
	 {"ph":"M","name":"process_sort_index","pid":0,"args":{"sort_index":5}},
	 {"ph":"M","name":"thread_name","pid":0,"tid":7,"args":{"name":7}},
	 {"ph":"M","name":"thread_sort_index","pid":0,"tid":7,"args":{"sort_index":-2}},
	 {"ph":"M","name":"num_cpus","pid":0,"args":{"number":64}},
	 {"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":5,"dur":1},
	 {"ph":"X","cat":"Trace","name":"PyTorch Profiler (0)","pid":"Spans","tid":"p","ts":1,"dur":10}],
	 "WARNING":["Dropped 12 activity records", "Dropped 3 activity records", "Dropped coins"],
	 "traceName":"x"}`)
	track := got.Event(0).Track()
	if track.ProcessName != "python" || track.ProcessTags != "GPU 0" || track.ProcessSort != 5 ||
		track.ThreadName != "7" || track.ThreadSort != -2 || !track.Activity {
		t.Errorf("track %+v", track)
	}
	m := got.Meta()
	if m.Format != "kineto" || m.BaseTime != 1759300074000000000 || m.TraceName != "x" || m.Dropped != 15 ||
		m.WindowStart != 1000 || m.WindowEnd != 11000 || m.EventsInFile != 8 {
		t.Errorf("meta %+v", m)
	}
	if len(m.Devices) != 1 || m.Devices[0] != (trace.Device{ID: 0, Name: "H100", MemoryBytes: 85029158912}) {
		t.Errorf("devices %+v", m.Devices)
	}
	if d := m.Distributed; d == nil || fmt.Sprint(*d) != "{nccl 3 8 [{0 default_pg 8 [0 1]} {1  0 [2 3]}]}" {
		t.Errorf("distributed %+v", d)
	}
	if got := problems(got); !strings.HasPrefix(got, "dropped_device_events:2@") {
		t.Errorf("problems %s", got)
	}
	if e := m.Extra[2]; e.Key != "with_stack" || e.JSON != "1" {
		t.Errorf("extra %+v", m.Extra)
	}
}

// TestOnlyWhatIsAsked: without KeepArgs the arguments that nobody asks for are
// gone, and nothing else.
func TestOnlyWhatIsAsked(t *testing.T) {
	in := `[{"ph":"X","name":"a","ts":1,"dur":1,"args":{"Ev Idx":1,"stream":7,"q":[1],"Input Dims":[[2, 3]],"r":"s","f":1.5}}]`
	got, err := Read(strings.NewReader(in), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if d := dump(got[0]); d != "X  \"a\" / 1000+1000 stream=0:7 Input Dims=2:[[2,3]]\n" {
		t.Errorf("got %s", d)
	}
}

// TestWindow: how the source hands out its bytes, and where the window ends, must
// not be seen in the result.
func TestWindow(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"header":"` + strings.Repeat("h", input.WindowSize+100) + `","traceEvents":[`)
	for i := range 6000 {
		fmt.Fprintf(&b, `{"ph":"X","name":"n%d","pid":1,"tid":%d,"ts":%d.%03d,"dur":1,"args":{"stream":%d,"bytes":%d}},`, i%50, i%3, i, i%1000, i%5, i*i)
		if i%1000 == 7 {
			b.WriteString(strings.Repeat(" ", 3*input.WindowSize))
		}
		if i%1500 == 9 {
			fmt.Fprintf(&b, `{"ph":"X","name":"%s","pid":1,"tid":9,"ts":5,"dur":1,"q":NaN},`, strings.Repeat("long ", input.WindowSize/3))
		}
	}
	in := b.String() + ev + "]}"
	want := dump(readOne(t, in))
	for _, r := range []io.Reader{
		iotest.HalfReader(strings.NewReader(in)),
		iotest.DataErrReader(strings.NewReader(in)),
		&stutter{r: strings.NewReader(in), n: 4093},
	} {
		got, err := Read(r, Options{KeepArgs: true})
		if err != nil {
			t.Fatal(err)
		}
		if dump(got[0]) != want {
			t.Fatalf("%T: another result", r)
		}
		if p := problems(got[0]); !strings.HasPrefix(p, "non_finite_number:4@") || strings.Contains(p, "broken") {
			t.Errorf("%T: %s", r, p)
		}
	}
	if rows := strings.Count(want, "\n"); rows != 6005 {
		t.Errorf("%d rows", rows)
	}
}

// stutter gives few bytes at a time, now and then none.
type stutter struct {
	r     io.Reader
	n     int
	empty bool
}

func (s *stutter) Read(p []byte) (int, error) {
	if s.empty = !s.empty; s.empty {
		return 0, nil
	}
	return s.r.Read(p[:min(len(p), s.n)])
}

// TestHuge: what is far too long or deep is read, cut or left out, and counted.
func TestHuge(t *testing.T) {
	for _, c := range []struct{ what, in, problems string }{
		{"name of 50 MB", `[{"ph":"X","ts":1,"dur":1,"name":"` + strings.Repeat("n", 50<<20) + `"},` + ev + "]", "long_string:1@34"},
		{"lists 100,000 deep", `[{"ph":"X","ts":1,"dur":1,"args":{"q":` + strings.Repeat("[", 1e5) + strings.Repeat("]", 1e5) + "}}," + ev + "]", "deep_nesting:1@38"},
		{"objects 100,000 deep", `[{"ph":"X","ts":1,"dur":1,"q":` + strings.Repeat(`{"a":`, 1e5) + "1" + strings.Repeat("}", 1e5) + "}," + ev + "]", "deep_nesting:1@30"},
	} {
		got := readOne(t, c.in)
		if got.Len() != 2 || problems(got) != c.problems {
			t.Errorf("%s: %d rows, %s", c.what, got.Len(), problems(got))
		}
		for i := range got.Len() {
			if n := len(got.Event(i).Name()); n > token.MaxText {
				t.Errorf("%s: a name of %d bytes", c.what, n)
			}
		}
	}
}

// TestLinear: input made to be read again and again takes no more than a small
// multiple of the time of its kind; a quadratic reader would not end here.
func TestLinear(t *testing.T) {
	const n = 1 << 20
	for _, in := range []string{
		"[" + strings.Repeat(`{"a":[`, n),
		"[" + strings.Repeat(`{"a":`, n),
		"[" + strings.Repeat(`{"`, n),
		"[" + strings.Repeat(`}{"a":"`, n),
		"[" + strings.Repeat("[", n),
		"[" + ev + strings.Repeat(`,{"ph":"X","args":{"q":[`, n/4),
		"[" + ev + `,{"name":"` + strings.Repeat(`" `, n),
		"[" + ev + `,{"name":"` + strings.Repeat(`\`, n),
		`{"traceEvents":[` + ev + `]` + strings.Repeat(`,"a"`, n),
		strings.Repeat(`{"traceEvents":`, n/4),
		strings.Repeat(`"traceEvents"`, n/4),
		`{"a":!` + strings.Repeat(`"traceEvents"   `, n/4),
		strings.Repeat("{", n),
		strings.Repeat("[", n),
	} {
		traces, err := Read(strings.NewReader(in), Options{})
		if err == nil && len(traces[0].Problems()) == 0 {
			t.Errorf("%.40q: read without a problem", in)
		}
	}
}

// TestMany: a file of many small traces is read in time, too.
func TestMany(t *testing.T) {
	in := strings.Repeat("["+ev+"]\n", 2000)
	if got := readAll(t, in); len(got) != 2000 {
		t.Errorf("%d traces", len(got))
	}
}

func TestSniff(t *testing.T) {
	for head, want := range map[string]bool{
		"{": true, " \n[": true, mark + "{": true, "": false, "x": false, "\x1f\x8b": false, mark: false,
	} {
		if Sniff([]byte(head)) != want {
			t.Errorf("Sniff(%q) is %v", head, !want)
		}
	}
}

// TestXLA: the stream rows of a file without Kineto's categories are activity, the
// rows derived from them are not.
func TestXLA(t *testing.T) {
	in := `{"displayTimeUnit":"ns","metadata":{"highres-ticks":true},"traceEvents":[
	{"ph":"M","pid":1,"name":"process_name","args":{"name":"/device:GPU:0"}},
	{"ph":"M","pid":1,"tid":20,"name":"thread_name","args":{"name":"Stream #20(Compute)"}},
	{"ph":"M","pid":1,"tid":21,"name":"thread_name","args":{"name":"XLA Ops"}},
	{"ph":"M","pid":9,"name":"process_name","args":{"name":"/host:CPU"}},
	{"ph":"X","pid":1,"tid":20,"ts":5,"dur":2,"name":"fusion_3","args":{"correlation_id":"12","hlo_op":"fusion.3"}},
	{"ph":"X","pid":1,"tid":20,"ts":8,"dur":2,"name":"MemcpyD2H"},
	{"ph":"X","pid":1,"tid":20,"ts":11,"dur":2,"name":"Memset 4B"},
	{"ph":"X","pid":1,"tid":21,"ts":5,"dur":2,"name":"fusion.3"},
	{"ph":"X","pid":9,"tid":3,"ts":1,"dur":1,"name":"cuLaunchKernel","args":{"correlation_id":12}},
	{"ph":"X","pid":9,"tid":3,"ts":3,"dur":1,"name":"$model.py:10 step"},{}]}`
	got, err := Read(strings.NewReader(in), Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := "X kernel \"fusion_3\" 1/20 5000+2000 corr=12\nX gpu_memcpy \"MemcpyD2H\" 1/20 8000+2000\n" +
		"X gpu_memset \"Memset 4B\" 1/20 11000+2000\nX  \"fusion.3\" 1/21 5000+2000\n" +
		"X cuda_runtime \"cuLaunchKernel\" 9/3 1000+1000 corr=12\nX  \"$model.py:10 step\" 9/3 3000+1000\n"
	if dump(got[0]) != want || problems(got[0]) != "" || !got[0].Tracks()[0].Activity {
		t.Errorf("got\n%s%s", dump(got[0]), problems(got[0]))
	}
	kineto := strings.Replace(in, `"name":"fusion_3"`, `"cat":"cpu_op","name":"fusion_3"`, 1)
	if got, _ = Read(bytes.NewReader([]byte(kineto)), Options{}); strings.Contains(dump(got[0]), "gpu_memcpy") {
		t.Error("a file with Kineto's categories was adapted")
	}
}

// TestArgsOfOneEvent: what an event has for arguments says nothing of the next one.
func TestArgsOfOneEvent(t *testing.T) {
	list := ""
	for _, args := range []string{"null", `{"stream":7}`, `"text"`, `{"stream":7}`, "5", `{"stream":7}`} {
		list += `,{"ph":"X","name":"k","ts":1,"dur":2,"pid":0,"tid":7,"args":` + args + "}"
	}
	tr := readOne(t, "["+list[1:]+"]")
	for i := range tr.Len() {
		if v, ok := tr.Event(i).ArgInt(trace.KeyStream); ok != (i%2 == 1) || ok && v != 7 {
			t.Errorf("event %d: stream %d, %v", i, v, ok)
		}
	}
}
