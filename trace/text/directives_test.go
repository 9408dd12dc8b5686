package text

import (
	"reflect"
	"testing"

	"github.com/gaprof/gaprof/trace"
)

// Each line sets its own part of the trace and nothing else.
func TestMeta(t *testing.T) {
	for _, c := range []struct {
		in   string
		want trace.Meta
	}{
		{"", trace.Meta{Format: "text"}},
		{"recording", trace.Meta{Format: "text"}},
		{"recording format=kineto", trace.Meta{Format: "kineto"}},
		{"recording base=-5 dropped=2 events=9", trace.Meta{Format: "text", BaseTime: -5, Dropped: 2, EventsInFile: 9}},
		{`recording name="a b" # named`, trace.Meta{Format: "text", TraceName: "a b"}},
		{
			"recording window_start=1.5us window_end=2ms",
			trace.Meta{Format: "text", WindowStart: 1500, WindowEnd: 2_000_000},
		},
		{"device 0 H100", trace.Meta{Format: "text", Devices: []trace.Device{{Name: "H100"}}}},
		{
			`device 1 "MI 300" memory=5`,
			trace.Meta{Format: "text", Devices: []trace.Device{{ID: 1, Name: "MI 300", MemoryBytes: 5}}},
		},
		{"extra a=7", trace.Meta{Format: "text", Extra: []trace.Extra{{Key: "a", JSON: "7"}}}},
		{"extra a=007", trace.Meta{Format: "text", Extra: []trace.Extra{{Key: "a", JSON: "007"}}}},
		{
			`extra "a b"={"c": [1, 2]}`,
			trace.Meta{Format: "text", Extra: []trace.Extra{{Key: "a b", JSON: `{"c": [1, 2]}`}}},
		},
		{`extra a=json"\"text\""`, trace.Meta{Format: "text", Extra: []trace.Extra{{Key: "a", JSON: `"text"`}}}},
		{"distributed", trace.Meta{Format: "text", Distributed: &trace.Distributed{}}},
		{"distributed rank=3 world_size=8 backend=nccl", trace.Meta{
			Format: "text", Distributed: &trace.Distributed{Backend: "nccl", Rank: 3, WorldSize: 8}}},
		{"distributed\ngroup 0 ranks=5\ngroup \"\" size=2 desc=\"a b\" ranks=0,1,-2", trace.Meta{
			Format: "text", Distributed: &trace.Distributed{Groups: []trace.ProcessGroup{
				{Name: "0", Size: 1, Ranks: []int64{5}},
				{Name: "", Desc: "a b", Size: 2, Ranks: []int64{0, 1, -2}}}}}},
	} {
		if got := mustRead(t, c.in).Meta(); !reflect.DeepEqual(*got, c.want) {
			t.Errorf("%s\n got %+v\nwant %+v", c.in, *got, c.want)
		}
	}
}

func TestTrackNames(t *testing.T) {
	tr := mustRead(t, `
process 1 name=first
thread 1/2 name="a thread" process=python labels=CPU   # the last name counts
0/7 0 +1 kernel k
process 0 labels="GPU 0" sort=5000000
thread 0/7 sort=-7
1/10 0 +1 - a
1/9 0 +1 - a
spans/x 0 +1 - a`)
	want := []trace.Track{
		{
			PID:         "0",
			TID:         "7",
			ProcessTags: "GPU 0",
			ProcessSort: 5000000,
			ThreadSort:  -7,
			First:       0,
			N:           1,
			Activity:    true,
		},
		{PID: "1", TID: "2", ProcessName: "python", ProcessTags: "CPU", ThreadName: "a thread"},
		{PID: "1", TID: "9", ProcessName: "python", ProcessTags: "CPU", First: 1, N: 1},
		{PID: "1", TID: "10", ProcessName: "python", ProcessTags: "CPU", First: 2, N: 1},
		{PID: "spans", TID: "x", First: 3, N: 1},
	}
	if got := tr.Tracks(); !reflect.DeepEqual(got, want) {
		t.Errorf("\n got %+v\nwant %+v", got, want)
	}
}

// Aliases name different arguments, and none that has a column or is a directive.
func TestAliases(t *testing.T) {
	keys := make(map[trace.Key]bool)
	for _, a := range aliases {
		if keys[a.key] || a.name == "corr" || a.name == "ext" {
			t.Errorf("alias %s", a.name)
		}
		keys[a.key] = true
	}
	if len(keyAliases) != len(aliases) || len(aliasKeys) != len(aliases) {
		t.Error("two aliases of one name")
	}
}
