package text

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/trace"
)

var update = flag.Bool("update", false, "write the golden files")

func TestGolden(t *testing.T) {
	in, err := os.ReadFile("testdata/all.in.txt")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := Write(&out, mustRead(t, string(in))); err != nil {
		t.Fatal(err)
	}
	if *update {
		os.WriteFile("testdata/all.golden.txt", out.Bytes(), 0o666)
	}
	want, _ := os.ReadFile("testdata/all.golden.txt")
	if out.String() != string(want) {
		t.Errorf("testdata/all.golden.txt differs (-update writes it), got\n%s", out.String())
	}
}

// contents is all that a Trace says, for comparison.
type contents struct {
	Meta     trace.Meta
	Tracks   []trace.Track
	Problems []trace.Problem
	Events   []string
}

func contentsOf(t *trace.Trace) contents {
	c := contents{*t.Meta(), t.Tracks(), t.Problems(), nil}
	cols := t.Columns()
	for i := range t.Len() {
		e := t.Event(i)
		s := fmt.Sprintf("%s/%s %d %d %q %q %q parent %d corr %d ext %d", e.Track().PID, e.Track().TID, e.Start(),
			e.Dur(), e.Phase(), t.CatName(e.Cat()), e.Name(), cols.Parent[i], e.Corr(), e.External())
		for _, a := range e.Args() {
			s += fmt.Sprintf(" %q=%d:%d:%q", t.KeyName(a.Key), a.Kind, a.Num, t.String(a.Str))
		}
		c.Events = append(c.Events, s)
	}
	return c
}

// checkRoundTrip fails unless a trace survives Write and Read unchanged.
func checkRoundTrip(t *testing.T, tr *trace.Trace) {
	t.Helper()
	var out bytes.Buffer
	if err := Write(&out, tr); err != nil {
		t.Fatal(err)
	}
	back, err := Read(bytes.NewReader(out.Bytes()), "")
	if err != nil {
		t.Fatalf("%v in\n%s", err, out.String())
	}
	got, want := contentsOf(back), contentsOf(tr)
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("written as\n%s\n got %+v\nwant %+v", out.String(), got, want)
	}
	if !Sniff(out.Bytes()) {
		t.Fatal("what Write wrote is not recognised")
	}
}

// Whatever a Builder makes survives being written and read.
func TestRoundTrip(t *testing.T) {
	for seed := range uint64(300) {
		checkRoundTrip(t, randomTrace(rand.New(rand.NewPCG(seed, 1))))
	}
}

func FuzzRead(f *testing.F) {
	in, err := os.ReadFile("testdata/all.in.txt")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(in)
	for s := range strings.Lines(string(in)) {
		f.Add([]byte(s))
	}
	f.Add([]byte("1/1 -9000000000s B - a\n1/1 9000000000s E - a"))
	f.Fuzz(func(t *testing.T, in []byte) {
		tr, err := Read(bytes.NewReader(in), "")
		if err == nil {
			checkRoundTrip(t, tr)
		}
	})
}

func TestWriteError(t *testing.T) {
	r, w := io.Pipe()
	r.CloseWithError(errors.New("disk full"))
	if err := Write(w, mustRead(t, "1/1 0 +1 - a")); err == nil || err.Error() != "disk full" {
		t.Errorf("error %v", err)
	}
}

// randomTrace makes a trace of odd parts.
func randomTrace(r *rand.Rand) *trace.Trace {
	b := trace.NewBuilder()
	m := b.Meta()
	m.Format, m.TraceName, m.BaseTime, m.Host = word(r), word(r), r.Int64N(3)-1, word(r)
	m.Dropped, m.EventsInFile = r.Int64N(2), r.Int64N(9)
	m.WindowStart, m.WindowEnd = number(r), number(r)
	for range r.IntN(3) {
		m.Devices = append(m.Devices, trace.Device{ID: number(r), Name: word(r), MemoryBytes: number(r)})
		m.Extra = append(m.Extra, trace.Extra{Key: word(r), JSON: word(r)})
	}
	if r.IntN(2) == 0 {
		m.Distributed = &trace.Distributed{Backend: word(r), Rank: number(r), WorldSize: number(r)}
		for range r.IntN(3) {
			g := trace.ProcessGroup{Name: word(r), Desc: word(r), Size: 2 + r.Int64N(2), Ranks: []int64{number(r), 1}}
			m.Distributed.Groups = append(m.Distributed.Groups, g)
		}
	}
	for range r.IntN(3) {
		b.Problems(trace.Truncated, r.Int64N(5)+1, r.Int64N(5)-1, word(r))
	}
	for range r.IntN(40) {
		randomEvent(b, r)
	}
	return b.Build()
}

func randomEvent(b *trace.Builder, r *rand.Rand) {
	intern := func() trace.StringID { return b.Intern([]byte(word(r))) }
	pid, tid := intern(), intern()
	track := b.Track(pid, tid)
	switch r.IntN(8) {
	case 0:
		b.NameProcess(pid, word(r))
	case 1:
		b.TagProcess(pid, word(r))
	case 2:
		b.NameThread(track, word(r))
	case 3:
		b.SortProcess(pid, number(r))
	case 4:
		b.SortThread(track, number(r))
	}
	row := trace.Row{Start: number(r), Dur: number(r), Name: intern(), Cat: b.Cat([]byte(word(r))), Track: track}
	row.Phase, row.Corr, row.External = trace.Phase("XXXXXBEifsCb\x00+"[r.IntN(14)]), number(r), number(r)
	for range r.IntN(4) {
		key := trace.Key(r.IntN(22))
		if r.IntN(3) == 0 {
			key = b.Key([]byte(word(r)))
		}
		arg := trace.Arg{Key: key, Kind: trace.Kind(r.IntN(3))}
		if arg.Kind == trace.Int {
			arg.Num = number(r)
		} else {
			arg.Str = intern()
		}
		row.Args = append(row.Args, arg)
	}
	b.Add(&row)
}

// word returns a text that is easy to get wrong.
func word(r *rand.Rand) string {
	words := []string{
		"", "a", "-", "a b", `"`, `\`, "#", "1/2", "/", "device", "=", "a=b", "7", "007", "-0", "1.5", "true", "null",
		"[1, 2]", "[", `{"a": "]"}`, "{\n}", "[1]\r", `json"x"`, "\x00\x1b", "\xff", "\u00a0", "λ", "kernel", "+5",
		"0x1", ",", "\t", "\n",
	}
	return words[r.IntN(len(words))]
}

// number returns an integer near the edges of what text can get wrong.
func number(r *rand.Rand) int64 {
	n := []int64{0, 1, 999, 1000, 1001, 1500, 1 << 40}[r.IntN(7)]
	if r.IntN(4) == 0 {
		return -n
	}
	return n
}
