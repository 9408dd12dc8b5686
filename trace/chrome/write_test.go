package chrome

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/internal/tracegen"
	"github.com/gaprof/gaprof/trace"
)

func written(tb testing.TB, t *trace.Trace) string {
	tb.Helper()
	var b bytes.Buffer
	if err := Write(&b, t); err != nil {
		tb.Fatal(err)
	}
	return b.String()
}

// checkRoundTrip writes t, reads it back and writes it again: the same trace
// without a problem, and the same bytes.
func checkRoundTrip(tb testing.TB, t *trace.Trace) {
	tb.Helper()
	first := written(tb, t)
	if !json.Valid([]byte(first)) {
		tb.Fatalf("no valid JSON: %s", clip(first))
	}
	back := readOne(tb, first)
	for _, p := range back.Problems() {
		if p.Code != trace.DroppedDevice && p.Code != trace.LongString {
			tb.Errorf("reading back: %s %s", p.Code, p.Message())
		}
	}
	if want, got := dumpAll(t), dumpAll(back); want != got {
		tb.Errorf("read back another trace:\n%s\nwant\n%s", difference(got, want), difference(want, got))
	}
	if second := written(tb, back); second != first {
		tb.Errorf("written again:\n%s\nwant\n%s", difference(second, first), difference(first, second))
	}
}

// difference is the first line of a that b does not have at that place.
func difference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range x {
		if i >= len(y) || x[i] != y[i] {
			return fmt.Sprintf("line %d: %s", i+1, x[i])
		}
	}
	return "(nothing more)"
}

func TestRoundTrip(t *testing.T) {
	for _, shape := range tracegen.Shapes() {
		checkRoundTrip(t, readOne(t, string(generated(t, shape, 100_000))))
	}
	for _, in := range []string{
		`[]`,
		`{"traceEvents":[],"x":{"a":[1, 2],"b":"c: d, e"}}`,
		`[{"ph":"B","name":"a","ts":1},{"ph":"E","ts":5,"args":{"x":[1,{"y":2}]}},{"ph":"E","pid":9,"ts":5}]`,
		`[{"ph":"s","id":"x y","ts":1,"args":{"id":5}},{"ph":"f","id":0,"ts":2}]`,
		`[{"ph":"s","id":7,"ts":1,"args":{"id":"x"}},{"ph":"f","id":7,"ts":2,"args":{"id":"{}"}}]`,
		within("\"name\":\"a\\u0000\\ud83d\\ude00\\ud83d\\\"\\\\\\n\xff\""),
		`[{"ph":"X","name":"a","pid":"0x1","tid":"-0","ts":-1.0005,"dur":0.0001,"args":{"q":1e5,"r":true,"s":null,"t":"12","u":""}}]`,
	} {
		checkRoundTrip(t, readOne(t, in))
	}
}

// TestRoundTripOfAnyTrace: traces that no file ever held.
func TestRoundTripOfAnyTrace(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	texts := []string{"", "a", "12", "-0", "007", "é\u2028😀", "\x00\x1f\x7f", `q"\/`, "Optimizer.step#AdamW.step", "\xff"}
	pick := func() string { return texts[rng.IntN(len(texts))] }
	for range 300 {
		b := trace.NewBuilder()
		for range rng.IntN(20) {
			row := trace.Row{
				Start: rng.Int64N(1 << 40), Dur: rng.Int64N(1 << 20), Name: b.Intern([]byte(pick())), Phase: trace.Complete,
				Cat:   b.Cat([]byte([]string{"", "kernel", "cpu_op", "my cat"}[rng.IntN(4)])),
				Track: b.Track(b.Intern([]byte(pick())), b.Intern([]byte(pick()))), External: rng.Int64N(3) - 1, Offset: -1,
			}
			if rng.IntN(4) == 0 {
				row.Phase, row.Dur = []trace.Phase{'i', 's', 'f', 'C', 'b'}[rng.IntN(5)], 0
			}
			if rng.IntN(2) == 0 {
				row.Corr = rng.Int64()
			}
			row.Args = anyArgs(b, rng, pick)
			b.Add(&row)
		}
		m := b.Meta()
		m.Format, m.BaseTime, m.TraceName = []string{"kineto", "chrome"}[rng.IntN(2)], rng.Int64N(2)*math.MaxInt64, pick()
		checkWritten(t, b.Build())
	}
}

// checkWritten is checkRoundTrip for a trace whose texts need not be UTF-8, and
// whose format and window a reader finds out for itself.
func checkWritten(tb testing.TB, t *trace.Trace) {
	tb.Helper()
	back := readOne(tb, written(tb, t))
	want := strings.ToValidUTF8(strings.ReplaceAll(dump(t), `\xff`, "\uFFFD"), "\uFFFD")
	if got := dump(back); got != want && !strings.Contains(want, "\uFFFD") {
		tb.Errorf("read back another trace:\n%s\nwant\n%s", difference(got, want), difference(want, got))
	}
	checkRoundTrip(tb, back)
}

func anyArgs(b *trace.Builder, rng *rand.Rand, pick func() string) []trace.Arg {
	var args []trace.Arg
	for _, key := range []string{"stream", "Input Dims", "k\"ey", ""}[:rng.IntN(5)] {
		a := trace.Arg{Key: b.Key([]byte(key)), Kind: trace.Int, Num: rng.Int64() - rng.Int64()}
		switch rng.IntN(3) {
		case 0:
			a.Kind, a.Num, a.Str = trace.Text, 0, b.Intern([]byte("t"+pick()))
		case 1:
			a.Kind, a.Num, a.Str = trace.JSON, 0, b.Intern([]byte(`[1,{"a":"b, c"},null]`))
		}
		args = append(args, a)
	}
	return args
}

// TestWriteForOthers: what programs that read Kineto's files look for literally.
func TestWriteForOthers(t *testing.T) {
	b := trace.NewBuilder()
	pid, tid := b.Intern([]byte("0")), b.Intern([]byte("7"))
	m := b.Meta()
	m.Devices = []trace.Device{{ID: 0, Name: "H100", MemoryBytes: 5}}
	m.Distributed = &trace.Distributed{Backend: "nccl", Rank: 3, WorldSize: 8, Groups: []trace.ProcessGroup{{Name: "0", Desc: "d", Size: 2, Ranks: []int64{0, 1}}}}
	b.NameProcess(pid, "gaprof")
	b.Add(&trace.Row{Phase: trace.FlowEnd, Cat: trace.CatLaunchFlow, Name: b.Intern([]byte("ac2g")), Track: b.Track(pid, tid), Start: 1_234_005, Corr: 9})
	text := written(t, b.Build())
	if !regexp.MustCompile(`"rank":\s+3\b`).MatchString(text) {
		t.Error("no rank with a space before it")
	}
	if strings.Index(text, `"distributedInfo"`) > strings.Index(text, `"traceEvents"`) {
		t.Error("the header stands behind the events")
	}
	want := `{"ph": "f", "id": 9, "cat": "ac2g", "name": "ac2g", "pid": 0, "tid": 7, "ts": 1234.005, "bp": "e"}`
	if !strings.Contains(text, want) {
		t.Errorf("no %s in\n%s", want, text)
	}
	checkRoundTrip(t, readOne(t, text))
}

func TestWriteError(t *testing.T) {
	want := errors.New("full")
	if err := Write(broken{want}, readOne(t, "["+ev+"]")); !errors.Is(err, want) {
		t.Errorf("got %v", err)
	}
}

type broken struct{ err error }

func (b broken) Write([]byte) (int, error) { return 0, b.err }
