package readertest

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/gaprof/gaprof/trace"
)

// testEmpty: of nothing there is no trace, but an error.
func (f *file) testEmpty(t report) {
	for _, strict := range []bool{false, true} {
		if traces, err := f.Read(f.name, nil, strict); err == nil || len(traces) > 0 {
			t.Errorf("%d traces, error %v", len(traces), err)
		}
	}
}

// testCut: wherever a file ends early, what is read is a part of the whole, and where
// that is less than the whole it is said.
func (f *file) testCut(t report) {
	step := max(len(f.content)/200, 1)
	for n := 1; n < len(f.content) && !t.Failed(); n += step {
		traces, err := f.Read(f.name, f.content[:n], false)
		if err != nil {
			f.checkRefusal(t, n, err)
			continue
		}
		f.checkCut(t, n, traces)
	}
}

// checkCut looks at what was read of the first n bytes.
func (f *file) checkCut(t report, n int, traces []*trace.Trace) {
	events, problems := 0, int64(0)
	for _, tr := range traces {
		read, foreign := f.compare(tr, PairedName) // its begin may stand without its end
		if len(foreign) > 1 || len(foreign) == 1 && !f.NoEnd {
			t.Errorf("cut at %d: %s", n, foreign)
		}
		events += read
		problems += counted(tr)
	}
	if events < f.whole(PairedName) && !f.NoEnd && problems == 0 {
		t.Errorf("cut at %d: %d events and no problem", n, events)
	}
	if _, err := f.Read(f.name, f.content[:n], true); problems > 0 && err == nil {
		t.Errorf("cut at %d: strict takes what is damaged", n)
	}
}

// counted is how many problems of a trace are damage of its file.
func counted(tr *trace.Trace) (n int64) {
	for _, p := range tr.Problems() {
		if p.Code.Info().Strict {
			n += p.Count
		}
	}
	return n
}

// checkRefusal: an error that comes of the text says where.
func (f *file) checkRefusal(t report, n int, err error) {
	var at *trace.FormatError
	if errors.As(err, &at) && (at.Offset < 0 || at.Offset > int64(n) || at.Reason == "") {
		t.Errorf("of %d bytes: %+v", n, at)
	}
}

// compare returns how many events of the whole are in tr, and those of tr that are not in
// the whole, or not so often. Events whose names begin with but do not count. Parents may
// be missing, and are not looked at.
func (f *file) compare(tr *trace.Trace, but string) (read int, foreign []string) {
	left := f.counts(f.without(Events()), but)
	for e, n := range f.counts(f.without(EventsOf(tr)), but) {
		read += min(n, left[e])
		if n > left[e] {
			foreign = append(foreign, e)
		}
	}
	return read, foreign
}

// whole is how many events there are whose names do not begin with but.
func (f *file) whole(but string) (n int) {
	for m := range maps.Values(f.counts(f.without(Events()), but)) {
		n += m
	}
	return n
}

// counts are events as text, how often each is there, without those whose names begin
// with but.
func (f *file) counts(events []Event, but string) map[string]int {
	n := make(map[string]int)
	for _, e := range events {
		if but == "" || !strings.HasPrefix(e.Name, but) {
			e.Parent = 0
			n[fmt.Sprintf("%+v", e)]++
		}
	}
	return n
}

// testDamage: damage is counted at its place or refused there, and touches nothing else.
func (f *file) testDamage(t report, d Damage) {
	if n := strings.Count(string(f.content), d.Old); n != 1 {
		t.Fatalf("%q stands %d times in %s", d.Old, n, f.name)
	}
	e := edit{
		content: bytes.Replace(f.content, []byte(d.Old), []byte(d.New), 1),
		place:   int64(bytes.Index(f.content, []byte(d.Old))),
	}
	f.checkStrict(t, d, e)
	traces, err := f.Read(f.name, e.content, false)
	switch {
	case d.Code == "":
		if at, ok := placeOf(err); !ok || !e.isNear(at) {
			t.Errorf("error %v, the edit is at %d", err, e.place)
		}
	case err != nil || len(traces) != 1:
		t.Fatalf("%d traces, error %v", len(traces), err)
	default:
		f.checkDamage(t, d, e, traces[0])
	}
}

// edit is a file with one damage at a place.
type edit struct {
	content []byte
	place   int64
}

// isNear reports whether an offset may be that of the damage: events are not that long.
func (e edit) isNear(at int64) bool { return at >= e.place-1_000 && at <= e.place+1_000 }

// placeOf is the offset of an error that comes of the text; ok is false for any other.
func placeOf(err error) (at int64, ok bool) {
	var format *trace.FormatError
	if ok = errors.As(err, &format); ok {
		at = format.Offset
	}
	return at, ok
}

// checkStrict: damage of the input is refused where that is asked for, at its place or,
// where it has none, at 0.
func (f *file) checkStrict(t report, d Damage, e edit) {
	_, err := f.Read(f.name, e.content, true)
	at, refused := placeOf(err)
	if refused != (d.Code == "" || d.Code.Info().Strict) {
		t.Errorf("strict: error %v", err)
	} else if refused && at != 0 && !e.isNear(at) {
		t.Errorf("strict: error %v, the edit is at %d", err, e.place)
	}
}

// checkDamage: the damage is the only problem, and all other events are as they were.
func (f *file) checkDamage(t report, d Damage, e edit, tr *trace.Trace) {
	problems := tr.Problems()
	if len(problems) != 1 || problems[0].Code != d.Code || problems[0].Count != 1 {
		t.Errorf("problems %+v, want one %s", problems, d.Code)
	} else if at := problems[0].Offset; at >= 0 && !e.isNear(at) {
		t.Errorf("%s at %d, the edit is at %d", d.Code, at, e.place)
	}
	if read, foreign := f.compare(tr, d.Event); read != f.whole(d.Event) || len(foreign) > 0 {
		t.Errorf("%d events, want %d; not in the whole: %s", read, f.whole(d.Event), foreign)
	}
}
