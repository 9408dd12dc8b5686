package chrome

import (
	"os"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/trace"
)

// TestWritten: a whole file, as it is written.
func TestWritten(t *testing.T) {
	b := trace.NewBuilder()
	id := func(s string) trace.StringID { return b.Intern([]byte(s)) }
	m := b.Meta()
	m.Format, m.BaseTime, m.TraceName, m.Host = "kineto", 1759300074000000000, "/tmp/a \"b\"", "gpu17"
	m.Devices = []trace.Device{{ID: 0, Name: "H100", MemoryBytes: 5}, {ID: 1, Name: "H\n", MemoryBytes: 6}}
	m.Distributed = &trace.Distributed{Backend: "nccl", Rank: 3, WorldSize: 8, Groups: []trace.ProcessGroup{
		{Name: "0", Desc: "default_pg", Size: 2, Ranks: []int64{0, 1}}, {Name: "mesh", Size: 1},
	}}
	m.Extra = []trace.Extra{{Key: "with_stack", JSON: "1"}, {Key: "o", JSON: `{"a":[1,2],"b":"c:d,e"}`}}
	gpu, host := b.Track(id("0"), id("7")), b.Track(id("4711"), id("main"))
	b.NameProcess(id("0"), "python")
	b.TagProcess(id("0"), "GPU 0")
	b.SortProcess(id("0"), 5)
	b.NameThread(gpu, "stream 7")
	b.SortThread(gpu, -2)
	b.NameThread(host, "thread")
	text := func(key, value string) trace.Arg {
		return trace.Arg{Key: b.Key([]byte(key)), Kind: trace.Text, Str: id(value)}
	}
	rows := []trace.Row{
		{Track: gpu, Phase: trace.Complete, Cat: trace.CatKernel, Name: id("k"), Start: 5000, Dur: 1500, Corr: 9, External: 4,
			Args: []trace.Arg{{Key: trace.KeyStream, Num: 7}, text("dtype", "float"), {Key: trace.KeyGrid, Kind: trace.JSON, Str: id("[1,2]")}}},
		{Track: gpu, Phase: trace.FlowEnd, Cat: trace.CatLaunchFlow, Name: id("ac2g"), Start: 5000, Corr: 9},
		{Track: gpu, Phase: trace.Instant, Name: id("everywhere"), Start: 6000},
		{Track: gpu, Phase: trace.Instant, Cat: trace.CatCPUOp, Name: id("here"), Start: 7000, External: 3},
		{Track: host, Phase: trace.FlowStart, Name: id("named"), Start: 1, Args: []trace.Arg{text("id", "x y"), text("q", "r")}},
		{Track: host, Phase: 'b', Name: id("scoped"), Start: 2, Args: []trace.Arg{text("id", `{"local":"0x1"}`)}},
		{Track: host, Phase: trace.Counter, Name: id("mem"), Start: -1500, Dur: 7, Corr: 8, Args: []trace.Arg{{Key: trace.KeyBytes, Num: -1}}},
	}
	for _, r := range rows {
		r.Offset = -1
		b.Add(&r)
	}
	want, err := os.ReadFile("testdata/written.json")
	if err != nil {
		t.Fatal(err)
	}
	if got := written(t, b.Build()); got != string(want) {
		t.Errorf("wrote\n%s\nnot as in testdata/written.json: %s", got, difference(got, string(want)))
	}
}

// TestWrittenIDs: ids of flows are numbers where they were, also 0.
func TestWrittenIDs(t *testing.T) {
	for id, want := range map[string]string{
		"0": `"id": 0,`, "7": `"id": 7,`, `"9"`: `"id": 9,`, `"0x1f"`: `"id": 31,`, `"a"`: `"id": "a",`, "1.5": `"id": "1.5",`, "-3": `"id": -3,`,
	} {
		if got := written(t, readOne(t, `[{"ph":"f","id":`+id+`,"ts":2,"args":{"q":1}}]`)); !strings.Contains(got, want) {
			t.Errorf("%s: no %s in %s", id, want, got)
		}
	}
}

// TestWrittenOnce: what a header has of its own is not written a second time, and a trace of
// another writer is not made one of Kineto's.
func TestWrittenOnce(t *testing.T) {
	b := trace.NewBuilder()
	m := b.Meta()
	m.Format, m.Host, m.Devices, m.Distributed = "chrome", "gpu17", []trace.Device{{ID: 4}}, &trace.Distributed{Rank: 3}
	for _, key := range []string{"deviceProperties", "distributedInfo", "hostname"} {
		m.Extra = append(m.Extra, trace.Extra{Key: key, JSON: "0"})
	}
	const want = `{
  "deviceProperties": 0,
  "distributedInfo": 0,
  "hostname": 0,
  "displayTimeUnit": "ms",
  "traceEvents": [
  ]
}
`
	if got := written(t, b.Build()); got != want {
		t.Errorf("wrote %s", got)
	}
}
