package chrome

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/trace"
)

// asked reads text as an analysis does: without the arguments that nobody asks for.
func asked(t *testing.T, text string) *trace.Trace {
	t.Helper()
	traces, err := Read(strings.NewReader(text), Options{})
	if err != nil || len(traces) != 1 {
		t.Fatalf("%d traces, %v", len(traces), err)
	}
	return traces[0]
}

// TestArgumentsOf2026: what Kineto writes with collectives, waits and parts of graphs, in
// the shapes that it and the tools after it give them. An id beyond int64 is kept as text.
func TestArgumentsOf2026(t *testing.T) {
	const event = `[{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":1,"args":{%s}}]`
	for _, c := range []struct{ args, want string }{
		{`"Seq":12,"Comms Id":1234567890123456789`, "Seq=0:12 Comms Id=0:1234567890123456789"},
		{`"seq_num":12,"Comms Id":18446744073709551615`, "seq_num=0:12 Comms Id=2:18446744073709551615"},
		{`"Seq":"12","Comms Id":"18446744073709551615"`, "Seq=0:12 Comms Id=1:18446744073709551615"},
		{`"Comms Id":null,"Seq":[1],"graph id":{"a":1}`, `Comms Id=2:null Seq=2:[1] graph id=2:{"a":1}`},
		{`"Comms Id":1e19,"Seq":true`, "Comms Id=2:1e19 Seq=2:true"},
		{`"graph id":0,"graph node id":0,"priority":0`, ""},
		{`"graph id":3,"graph node id":12884901899,"priority":-5`, "graph id=0:3 graph node id=0:12884901899"},
		{`"graph id":"0"`, ""},
		{`"graph id":-1`, "graph id=0:-1"},
		{`"module_fqn":"layers.0.attention.wq","autograd_phase":"backward","name":"phase A","original_stream":9`,
			"module_fqn=1:layers.0.attention.wq autograd_phase=1:backward name=1:phase A"},
		{`"module_fqn":7,"name":null`, "module_fqn=0:7 name=2:null"},
		{`"wait_on_stream":-1,"wait_on_cuda_event_record_corr_id":-1,"wait_on_cuda_event_id":7777`,
			"wait_on_stream=0:-1 wait_on_cuda_event_record_corr_id=0:-1"},
		{`"Process Group Name":"0","Process Group Description":"mesh_dp","Is asynchronized op":true`,
			"Process Group Name=0:0 Process Group Description=1:mesh_dp"},
	} {
		// Twice in one file: by the rules, then by what was learned of the first.
		one := fmt.Sprintf(event, c.args)
		twice := strings.TrimSuffix(one, "]") + "," + strings.TrimPrefix(one, "[")
		line := strings.TrimRight("X kernel \"k\" 0/7 1000+1000 "+c.want, " ") + "\n"
		if got := dump(asked(t, twice)); got != line+line {
			t.Errorf("%s: got %q, want %q twice", c.args, got, line)
		}
	}
}

// TestArgumentTwice: of a key that occurs twice the last value counts, also 0 for no graph.
func TestArgumentTwice(t *testing.T) {
	got := asked(t, `[{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":1,"args":{"Comms Id":5,"Comms Id":6}}]`)
	if d := dump(got); !strings.Contains(d, "Comms Id=0:6") || !strings.Contains(problems(got), "duplicate_key") {
		t.Errorf("%s, %s", d, problems(got))
	}
}

// TestEverythingIsKept: what no analysis asks for is in the trace where all of it is asked
// for, and comes out again as it went in.
func TestEverythingIsKept(t *testing.T) {
	const kernel = `"args":{"device":0,"stream":7,"graph id":0,"graph node id":12884901899,"priority":-5,` +
		`"grid":[132,1,1],"block":[256,1,1],"channel":3,"channel_type":0}`
	in := `{"host_name":"gpu17","traceEvents":[` +
		`{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":1,` + kernel + `},` +
		`{"ph":"C","name":"SM active (%)","pid":"GPU 0 Counters","ts":1.5,"args":{"":80.5}},` +
		`{"ph":"C","name":"bytes","pid":0,"tid":0,"ts":1.5,"args":{"read":5,"written":6}}]}`
	first := readOne(t, in)
	var out bytes.Buffer
	if err := Write(&out, first); err != nil {
		t.Fatal(err)
	}
	second := readOne(t, out.String())
	if a, b := dumpAll(first), dumpAll(second); a != b {
		t.Errorf("read\n%swritten and read again\n%s", a, b)
	}
	for _, want := range []string{
		"graph id=0:0 graph node id=0:12884901899 priority=0:-5 grid=2:[132,1,1] block=2:[256,1,1]",
		`C  "SM active (%)" GPU 0 Counters/ 1500+0 =2:80.5`, "read=0:5 written=0:6",
	} {
		if d := dump(second); !strings.Contains(d, want) {
			t.Errorf("%q is not in\n%s", want, d)
		}
	}
	for _, track := range second.Tracks() {
		if track.Activity != (track.TID == "7") {
			t.Errorf("%+v", track)
		}
	}
}

// TestHost: the machine, under the name that Kineto gives it.
func TestHost(t *testing.T) {
	for header, want := range map[string]string{
		`"host_name":"gpu17.cluster",`: "gpu17.cluster",
		`"hostname":"a\u00e9",`:        "aé",
		`"host_name":17,`:              "",
		`"host_name":null,`:            "",
		`"host_name":["a"],`:           "",
		``:                             "",
	} {
		got := asked(t, "{"+header+`"traceEvents":[{"ph":"X","name":"a","ts":1,"dur":1}]}`)
		if got.Meta().Host != want {
			t.Errorf("%s: %q", header, got.Meta().Host)
		}
	}
}
