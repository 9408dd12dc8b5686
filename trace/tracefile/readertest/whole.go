package readertest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/gaprof/gaprof/trace"
)

// testWhole: what is read is the canonical trace, without any problem, every time.
func (f *file) testWhole(t report) {
	for range 2 {
		traces, err := f.Read(f.name, f.content, true)
		if err != nil || len(traces) != 1 {
			t.Fatalf("%d traces, error %v", len(traces), err)
		}
		tr := traces[0]
		for _, p := range tr.Problems() {
			t.Errorf("%s: %s (%d times)", p.Code, p.Message(), p.Count)
		}
		want, got := f.without(Events()), f.without(EventsOf(tr))
		for i := range min(len(want), len(got)) {
			if w, g := fmt.Sprintf("%+v", want[i]), fmt.Sprintf("%+v", got[i]); w != g {
				t.Fatalf("event %d is\n%s\nwant\n%s", i, g, w)
			}
		}
		if len(want) != len(got) {
			t.Errorf("%d events, want %d", len(got), len(want))
		}
		f.checkTracks(t, tr)
		f.checkMeta(t, tr.Meta())
	}
}

// EventsOf are the events of a trace.
func EventsOf(t *trace.Trace) []Event {
	c, list := t.Columns(), make([]Event, t.Len())
	for i := range list {
		e := t.Event(i)
		list[i] = Event{
			PID: e.Track().PID, TID: e.Track().TID, Start: e.Start(), Dur: e.Dur(), Phase: e.Phase(),
			Cat: t.CatName(e.Cat()), Name: e.Name(), Corr: e.Corr(), External: e.External(),
			Args: argsOf(t, e), Parent: int(c.Parent[i]),
		}
	}
	return list
}

func argsOf(t *trace.Trace, e trace.Event) map[string]string {
	var args map[string]string
	for _, a := range e.AppendArgs(nil) {
		if args == nil {
			args = make(map[string]string)
		}
		key, text := t.KeyName(a.Key), e.TextOf(a)
		switch a.Kind {
		case trace.Int:
			args[key] = Int(a.Num)
		case trace.Text:
			args[key] = Text(text)
		default:
			var b bytes.Buffer
			if json.Compact(&b, []byte(text)) == nil {
				text = b.String()
			}
			args[key] = JSON(text)
		}
	}
	return args
}

func (f *file) lacks(p Part) bool { return f.Lacks[p] != "" }

// without leaves out of events what the format lacks.
func (f *file) without(events []Event) []Event {
	var list []Event
	for _, e := range events {
		switch {
		case f.lacks(Window) && e.Cat == "Trace",
			f.lacks(Flows) && (e.Phase == trace.FlowStart || e.Phase == trace.FlowEnd),
			f.lacks(Instants) && e.Phase == trace.Instant, f.lacks(Counters) && e.Phase == trace.Counter:
			continue
		}
		if f.lacks(ExternalIDs) {
			e.External = 0
		}
		if f.lacks(Arguments) {
			e.Args = nil
		}
		list = append(list, e)
	}
	return list
}

func (f *file) checkTracks(t report, tr *trace.Trace) {
	want, got := Tracks(), slices.Clone(tr.Tracks())
	if f.lacks(Window) {
		want = want[:len(want)-1]
	}
	for i := range got {
		got[i].First, got[i].N, got[i].ProcessSort, got[i].ThreadSort = 0, 0, 0, 0
		if f.lacks(Names) {
			got[i].ProcessName, got[i].ProcessTags, got[i].ThreadName = "", "", ""
		}
	}
	for i := range want {
		if f.lacks(Names) {
			want[i].ProcessName, want[i].ProcessTags, want[i].ThreadName = "", "", ""
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("tracks are\n%+v\nwant\n%+v", got, want)
	}
}

func (f *file) checkMeta(t report, m *trace.Meta) {
	want := Meta()
	if m.Format == "" || m.EventsInFile < int64(len(f.without(Events()))) {
		t.Errorf("format %q, %d events in the file", m.Format, m.EventsInFile)
	}
	for _, c := range []struct {
		part      Part
		got, want any
	}{
		{Devices, m.Devices, want.Devices},
		{Distributed, m.Distributed, want.Distributed},
		{Window, [2]int64{m.WindowStart, m.WindowEnd}, [2]int64{want.WindowStart, want.WindowEnd}},
		{BaseTime, m.BaseTime, want.BaseTime},
	} {
		got, _ := json.Marshal(c.got)
		if want, _ := json.Marshal(c.want); !f.lacks(c.part) && string(got) != string(want) {
			t.Errorf("%s: %s, want %s", c.part, got, want)
		}
	}
}
