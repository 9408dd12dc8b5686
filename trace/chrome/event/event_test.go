package event

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/chrome/input"
	"github.com/gaprof/gaprof/trace/chrome/template"
)

// readEvents reads events separated by commas as the owner of a list does.
func readEvents(t *testing.T, text string) (*Reader, *trace.Trace) {
	t.Helper()
	return readEventsBy(t, text, Options{})
}

// begun is a reader at the beginning of a text, and where its rows go.
func begun(text string, o Options) (*Reader, *trace.Builder) {
	to := trace.NewBuilder()
	r := &Reader{}
	r.Window, r.Reach = input.NewWindow(strings.NewReader(text)), 1<<20
	r.Fill()
	r.Begin(to, o)
	return r, to
}

func readEventsBy(t *testing.T, text string, o Options) (*Reader, *trace.Trace) {
	t.Helper()
	r, to := begun(text, o)
	for i := r.Space(0); i < r.N; i = r.Space(i) {
		if r.N-i < Room && !r.EOF {
			r.Slide(i)
			i = 0
		}
		if r.Buf[i] == ',' {
			i++
			continue
		}
		next, at := r.Repeats(i, math.MaxInt64)
		ok := true
		if at == AtEvent {
			_, next, ok = r.Entry(next)
		}
		if i = next; !ok {
			t.Fatalf("a rule is broken at %d", r.At(i))
		}
	}
	return r, to.Build()
}

// TestFieldsAreLearned: the second event of a kind is read by what was learned of the
// first, and says the same.
func TestFieldsAreLearned(t *testing.T) {
	event := `{"ph":"X", "cat":"cpu_op", "name":"n%d", "pid":1, "tid":2, "ts":%d.000, "dur":3, ` +
		`"args":{"External id":%d, "device":0, "stream":7, "q":5}}`
	var in strings.Builder
	for i := range 50 {
		fmt.Fprintf(&in, event+",", i, i, i+1)
	}
	r, got := readEvents(t, in.String()+"{}")
	if n := r.learned.fields.Len(); n > 12 {
		t.Errorf("%d fields for one kind of event", n)
	}
	for i := range 50 {
		e := got.Event(i)
		stream, _ := e.ArgInt(trace.KeyStream)
		device, ok := e.ArgInt(trace.KeyDevice)
		varies := e.Name() == fmt.Sprintf("n%d", i) && e.Start() == int64(i)*1000 && e.External() == int64(i+1)
		args := stream == 7 && device == 0 && ok
		track := e.Track().PID == "1" && e.Track().TID == "2"
		if !varies || !args || !track || e.Cat() != trace.CatCPUOp || e.Phase() != trace.Complete {
			t.Fatalf("row %d: %c %s %q", i, e.Phase(), got.CatName(e.Cat()), e.Name())
		}
	}
}

// TestFieldsAreBounded: keys that never come again do not fill the memory, and do not
// change what is read.
func TestFieldsAreBounded(t *testing.T) {
	var in strings.Builder
	const n = 3 * template.MaxFields
	for i := range n {
		fmt.Fprintf(&in, `{"ph":"X","key%d":1,"name":"n","pid":%d,"tid":1,"ts":%d,"dur":1,`, i, i%5000, i)
		fmt.Fprintf(&in, `"args":{"bytes":[%d],"k%d":[%d]}},`, i, i, i)
	}
	r, got := readEvents(t, in.String()+"{}")
	if l := &r.learned; l.fields.Len() > template.MaxFields || l.values.Len() > template.MaxValues {
		t.Errorf("%d fields, %d values", l.fields.Len(), l.values.Len())
	}
	if got.Len() != n || len(got.Problems()) != 0 {
		t.Fatalf("%d rows, %v", got.Len(), got.Problems())
	}
	for i := range n {
		e := got.Event(i)
		if want := fmt.Sprintf("[%d]", e.Start()/1000); e.ArgText(trace.KeyBytes) != want {
			t.Fatalf("row %d: %s, want %s", i, e.ArgText(trace.KeyBytes), want)
		}
	}
}

func TestParseID(t *testing.T) {
	for in, want := range map[string]int64{
		"0": 0, "12": 12, "-3": -3, "0x1f": 31, "0x7": 7, "0X0": 0, "0XFF": 255, "0x7fffffffffffffff": 1<<63 - 1,
	} {
		if got, ok := parseID([]byte(in)); !ok || got != want {
			t.Errorf("%s: %d, %v", in, got, ok)
		}
	}
	for _, in := range []string{
		"", "x", "0x", "0xg", "0x8000000000000000", "0x" + strings.Repeat("f", 30), strings.Repeat("1", 100),
		"1.5", "007", "0x-1", "0x+1",
	} {
		if got, ok := parseID([]byte(in)); ok {
			t.Errorf("%q: %d", in, got)
		}
	}
}
