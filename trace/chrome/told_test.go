package chrome

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/chrome/input"
	"github.com/gaprof/gaprof/trace/chrome/token"
)

// TestDamageIsToldOnce: what is damaged is counted as often as it is there, however often its entry was read.
func TestDamageIsToldOnce(t *testing.T) {
	long := strings.Repeat("x", 3*input.WindowSize) // read again when the window has slid
	for header, want := range map[string]string{
		`"a":["` + "\xff" + `"]`:                        "bad_utf8:1",
		`"a":["` + "\xff" + `",NaN]`:                    "bad_utf8:1 non_finite_number:1",
		`"a":["` + "\xff" + `",NaN,NaN]`:                "bad_utf8:1 non_finite_number:2",
		`"` + "\xff" + `":NaN`:                          "bad_utf8:1 non_finite_number:1",
		`"a":NaN,"b":NaN`:                               "non_finite_number:2",
		`"a":["` + "\xff" + `",NaN],"b":"` + "\xff\"":   "bad_utf8:2 non_finite_number:1",
		`"a":["\x",NaN],"b":["\x"]`:                     "bad_escape:2 non_finite_number:1",
		`"a":["` + "\xff" + `","` + long + `"]`:         "bad_utf8:1",
		`"a":["` + "\xff" + `",NaN,"` + long + `",NaN]`: "bad_utf8:1 non_finite_number:2",
	} {
		got := readOne(t, "{"+header+`,"traceEvents":[`+ev+"]}")
		counts := map[string]int64{}
		for _, p := range got.Problems() {
			counts[string(p.Code)] += p.Count
		}
		list := strings.Trim(fmt.Sprint(counts), "map[]")
		if dump(got) != evRow || list != want {
			t.Errorf("%.60q: %s, want %s, %s", header, list, want, dump(got))
		}
	}
}

// TestMarkOfTheFirst: a byte-order mark is one of the file, which its first trace tells.
func TestMarkOfTheFirst(t *testing.T) {
	got := readAll(t, mark+"["+ev+"]\n["+ev+"]")
	if len(got) != 2 || !strings.Contains(problems(got[0]), "byte_order_mark:1@0") ||
		strings.Contains(problems(got[1]), "byte_order_mark") {
		t.Errorf("%d traces: %s, then %s", len(got), problems(got[0]), problems(got[1]))
	}
}

// TestBrokenHeaderIsNotHeld: the search for the list of events holds no more of the text than a window.
func TestBrokenHeaderIsNotHeld(t *testing.T) {
	in := `{"a":!` + strings.Repeat("x", 20*input.WindowSize)
	for _, text := range []string{in, in + `"traceEvents":[` + ev + "]}"} {
		d := newReader(strings.NewReader(text), Options{}, maxValue)
		_, err := d.first()
		if (err == nil) != (text != in) || len(d.Buf) > 4*input.WindowSize {
			t.Errorf("%d bytes are held of %d: %v", len(d.Buf), len(text), err)
		}
		d.close()
	}
}

// TestProcessesAreNamedOnce: each process is named before its first track, whether it has one or more.
func TestProcessesAreNamedOnce(t *testing.T) {
	b := trace.NewBuilder()
	id := func(s string) trace.StringID { return b.Intern([]byte(s)) }
	for pid := range 4 {
		p := id(fmt.Sprint(pid))
		b.NameProcess(p, fmt.Sprint("process ", pid))
		b.TagProcess(p, fmt.Sprint("labels ", pid))
		b.SortProcess(p, int64(pid)+3)
		for tid := range 1 + pid%3 {
			b.NameThread(b.Track(p, id(fmt.Sprint(tid))), fmt.Sprint("thread ", pid, tid))
			b.SortThread(b.Track(p, id(fmt.Sprint(tid))), int64(tid)+1)
		}
	}
	made := b.Build()
	text := written(t, made)
	for pid := range 4 {
		for _, name := range []string{"process ", "labels "} {
			if n := strings.Count(text, fmt.Sprintf(`"%s%d"`, name, pid)); n != 1 {
				t.Errorf("%s%d stands there %d times", name, pid, n)
			}
		}
	}
	checkRoundTrip(t, readOne(t, text))
	if a, b := fmt.Sprintf("%+v", made.Tracks()), fmt.Sprintf("%+v", readOne(t, text).Tracks()); a != b {
		t.Errorf("tracks were\n%s\nand are\n%s", a, b)
	}
}

// TestNextEventAtBorders: behind a broken event the next one is found wherever windows end.
func TestNextEventAtBorders(t *testing.T) {
	for k := range 96 {
		n := input.WindowSize - 40 + k%48
		if k >= 48 {
			n -= token.Lookahead // where the window slides
		}
		in := `[{"ph":!` + strings.Repeat("x", n) + "," + ev + strings.Repeat(" ", 2*input.WindowSize) + "]"
		got, err := Read(strings.NewReader(in), Options{KeepArgs: true})
		if err != nil || len(got) != 1 || dump(got[0]) != evRow || problems(got[0]) != "broken_event:1@1" {
			t.Fatalf("%d bytes: %v, %s%s", n, err, dump(got[0]), problems(got[0]))
		}
	}
}

// TestDroppedInAllLogs: what was lost is the sum of what all entries of the profiler's log say.
func TestDroppedInAllLogs(t *testing.T) {
	got := readOne(t, `{"INFO":["Dropped 2 activity records"],"WARNING":["Dropped 12 activity records"],`+
		`"ERROR":["Dropped 5 activity records"],"traceEvents":[`+ev+"]}")
	counted := int64(0)
	for _, p := range got.Problems() {
		counted += p.Count
	}
	if got.Meta().Dropped != 19 || counted != 3 {
		t.Errorf("%d were lost by %d lines", got.Meta().Dropped, counted)
	}
}
