package chrome

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gaprof/gaprof/internal/tracegen"
	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/chrome/input"
)

// onCores makes a test run as on a machine of n cores.
func onCores(t *testing.T, n int) {
	t.Helper()
	old := runtime.GOMAXPROCS(n)
	t.Cleanup(func() { runtime.GOMAXPROCS(old) })
}

// TestWorkers: how many read ahead and in what pieces, by the length of what is left.
func TestWorkers(t *testing.T) {
	const mib = 1 << 20
	for _, c := range []struct {
		cores     int
		size, pos int64
		workers   int
		chunk     int64
	}{
		{4, 4 * mib, 0, 4, mib},
		{4, 4*mib - 1, 0, 0, mib},
		{4, 4 * mib, 1, 0, mib},
		{4, 5 * mib, mib, 4, mib},
		{2, 64 * mib, 0, 2, mib},
		{1, 64 * mib, 0, 1, mib},
		{4, 256 * mib, 0, 4, 4 * mib},
		{4, 512 * mib, 0, 4, 8 * mib},
		{4, 1 << 40, 0, 4, 8 * mib},
		{64, 1 << 40, 0, 8, 8 * mib},
		{4, 0, 0, 0, mib},
	} {
		onCores(t, c.cores)
		d := &reader{opts: Options{Size: c.size}}
		if workers, chunk := d.workers(c.pos); workers != c.workers || chunk != c.chunk {
			t.Errorf("%+v: %d workers, chunks of %d bytes", c, workers, chunk)
		}
	}
}

// TestWorkersOfStreams: of a text that is read ahead as many workers as decompression can feed,
// if as much is left as they are worth.
func TestWorkersOfStreams(t *testing.T) {
	again := func() (io.Reader, error) { return nil, errBroken }
	for _, c := range []struct {
		cores   int
		o       Options
		ahead   bool
		workers int
	}{
		{2, Options{Again: again, SizeHint: 4 << 20}, true, 2},
		{3, Options{Again: again, SizeHint: 1 << 40}, true, 3},
		{64, Options{Again: again, SizeHint: 1 << 40}, true, 4},
		{4, Options{Again: again, SizeHint: 4<<20 - 1}, true, 0},
		{4, Options{Again: again}, true, 0},
		{1, Options{Again: again, SizeHint: 1 << 40}, false, 0},
		{1, Options{Again: again, chunk: 10}, true, 2},
		{4, Options{Again: again, Alone: true, SizeHint: 1 << 40}, false, 0},
		{4, Options{SizeHint: 1 << 40}, false, 0},
	} {
		onCores(t, c.cores)
		d := newReader(strings.NewReader("[]"), c.o, maxValue)
		end := d.readAhead()
		if d.source.IsReadAhead() != c.ahead {
			t.Errorf("%+v: read ahead %v", c, !c.ahead)
		} else if workers, size := d.workers(0); c.ahead && (workers != c.workers || c.o.chunk == 0 && size != 1<<20) {
			t.Errorf("%+v: %d workers, %d bytes", c, workers, size)
		}
		end()
	}
}

// TestPoolsAreFormed: workers read a list ahead where its bytes can be had at any place, it is
// long enough, and nothing speaks against it; where nobody took anything over, none
// are asked for the lists that follow.
func TestPoolsAreFormed(t *testing.T) {
	text := "[" + strings.Repeat(ev+",", 200) + ev + "]"
	at := func(o Options) Options {
		o.At, o.Size = strings.NewReader(text), int64(len(text))
		return o
	}
	for _, c := range []struct {
		what string
		o    Options
		in   place
		err  error
		want bool
	}{
		{"a list", at(Options{chunk: 100}), inList, nil, true},
		{"one in an object", at(Options{chunk: 100}), inObject, nil, true},
		{"too short", at(Options{}), inList, nil, false},
		{"alone", at(Options{chunk: 100, Alone: true}), inList, nil, false},
		{"lines", at(Options{chunk: 100}), inLines, nil, false},
		{"a stream", Options{chunk: 100}, inList, nil, false},
		{"broken", at(Options{chunk: 100}), inList, errBroken, false},
	} {
		d := newReader(strings.NewReader(text), c.o, maxValue)
		d.Fill()
		d.begin(0)
		d.Err = c.err
		end := d.formPool(1, c.in)
		if formed := d.pool != nil; formed != c.want {
			t.Errorf("%s: formed %v", c.what, formed)
		}
		alone := d.alone
		end()
		if d.pool != nil || d.alone != (alone || c.want) {
			t.Errorf("%s: afterwards alone %v", c.what, d.alone)
		}
	}
}

// TestAlone: one core reads alone, and where the caller says so.
func TestAlone(t *testing.T) {
	for _, c := range []struct {
		cores int
		o     Options
		want  bool
	}{
		{1, Options{}, true}, {2, Options{}, false}, {2, Options{Alone: true}, true}, {1, Options{chunk: 5}, false},
		{2, Options{chunk: 5}, false},
	} {
		onCores(t, c.cores)
		if d := newReader(strings.NewReader(""), c.o, maxValue); d.alone != c.want {
			t.Errorf("%+v: alone %v", c, d.alone)
		}
	}
}

// TestRoom: columns get room for what the rest of the input will hold, by what is known of
// it, and a quarter more; not for what is claimed far beyond what was seen.
func TestRoom(t *testing.T) {
	const mib = 1 << 20
	for _, c := range []struct {
		what                        string
		hint, start                 int64
		reserved, read, known, rows int64
		want                        int64
	}{
		{"too little was seen", 100 * mib, 0, 0, 2*input.WindowSize - 1, 4000, 4000, 0},
		{"just enough", 4 * input.WindowSize, 0, 0, 2 * input.WindowSize, 4000, 4000, 9000},
		{"a hundred times as much to come", 101 * mib, 0, 0, mib, 4000, 4000, 504_000},
		{"of a document that begins later", 102 * mib, mib, 0, mib, 4000, 4000, 504_000},
		{"asked for more than is known", 101 * mib, 0, 0, mib, 4000, 5000, 505_000},
		{"no hint", 0, 0, 0, mib, 4000, 4000, 6000},
		{"a wrong one", mib, 0, 0, mib, 4000, 4000, 6000},
		{"a mad one", 1 << 50, 0, 0, mib, 4000, 4000, 4000 + 255*5000},
		{"there is room", 101 * mib, 0, 4000, mib, 4000, 4000, 4000},
		{"not quite", 0, 0, 3999, mib, 4000, 4000, 6000},
		{"grows by halves", mib + 1, 0, 3999, mib, 4000, 4000, 5998},
	} {
		d := newReader(strings.NewReader(""), Options{SizeHint: c.hint}, maxValue)
		d.begin(0)
		d.start, d.reserved = c.start, c.reserved
		d.makeRoom(c.read, c.known, c.rows)
		if d.reserved != c.want {
			t.Errorf("%s: room for %d rows, want %d", c.what, d.reserved, c.want)
		}
	}
}

// TestRoomOfTraces: room is made before columns are full, and not for much more than comes.
func TestRoomOfTraces(t *testing.T) {
	text := generated(t, tracegen.AsIs, 3_000_000)
	for _, o := range []Options{{}, {At: bytes.NewReader(text), Size: int64(len(text)), chunk: 100_000}} {
		o.SizeHint = int64(len(text))
		d := newReader(bytes.NewReader(text), o, maxValue)
		d.alone = o.chunk == 0
		if _, err := d.first(); err != nil {
			t.Fatal(err)
		}
		if rows := int64(d.b.Len()); d.reserved < rows || d.reserved > rows*2 {
			t.Errorf("chunks of %d: room for %d rows of %d", o.chunk, d.reserved, rows)
		}
	}
}

// endless is a list of events that are all different; it counts what was read.
type endless struct {
	n    int
	read int64
	rest []byte
}

func (e *endless) Read(p []byte) (int, error) {
	if e.read > 64<<20 {
		return 0, io.EOF
	}
	if len(e.rest) == 0 {
		e.n++
		e.rest = fmt.Appendf(e.rest, `{"ph":"X","name":"the name of operator %d","pid":1,"tid":1,"ts":%d,"dur":1},`, e.n, e.n)
		if e.n == 1 {
			e.rest = append([]byte("["), e.rest...)
		}
	}
	n := copy(p, e.rest)
	e.rest, e.read = e.rest[n:], e.read+int64(n)
	return n, nil
}

// readCounter counts what is read of a text.
type readCounter struct {
	io.Reader
	io.ReaderAt
	n atomic.Int64
}

func (c *readCounter) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n.Add(int64(n))
	return n, err
}

func (c *readCounter) ReadAt(p []byte, at int64) (int, error) {
	n, err := c.ReaderAt.ReadAt(p, at)
	c.n.Add(int64(n))
	return n, err
}

// TestRefusedSoon: where reading takes more memory than the caller allows it ends there, and
// says what the caller said.
func TestRefusedSoon(t *testing.T) {
	refusal := errors.New("too much")
	const limit = 4 << 20
	tables := func(bytes int64) error {
		if bytes > limit {
			return refusal
		}
		return nil
	}
	src := &endless{}
	if _, err := Read(src, Options{Tables: tables, Alone: true}); !errors.Is(err, refusal) || src.read > 4*limit {
		t.Errorf("%d bytes were read: %v", src.read, err)
	}
	text, _ := io.ReadAll(&endless{})
	at := &readCounter{ReaderAt: bytes.NewReader(text)}
	o := Options{Tables: tables, At: at, Size: int64(len(text)), chunk: 200_000}
	first := &readCounter{Reader: bytes.NewReader(text)}
	if _, err := Read(first, o); !errors.Is(err, refusal) || at.n.Load()+first.n.Load() > 8*limit {
		t.Errorf("%d bytes were read of %d: %v", at.n.Load()+first.n.Load(), len(text), err)
	}
	small := strings.Repeat("["+ev+"]\n", 1000)
	if _, err := Read(strings.NewReader(small), Options{Tables: tables}); !errors.Is(err, refusal) {
		t.Errorf("many small ones: %v", err) // each has tables of its own
	}
	if _, err := Read(strings.NewReader(small[:80]), Options{Tables: tables}); err != nil {
		t.Errorf("one small one: %v", err)
	}
}

// TestMemory: what the limit is asked is what is finished, what is being read, and what building
// or reading needs beside it; and once refused is refused.
func TestMemory(t *testing.T) {
	b := trace.NewBuilder()
	b.Add(&trace.Row{Phase: trace.Complete, Dur: 1, Offset: -1})
	var asked []int64
	limit := func(bytes int64) error {
		asked = append(asked, bytes)
		if len(asked) > 3 {
			return errBroken
		}
		return nil
	}
	var m memory
	if m.isRefused(nil, b, 1<<40) {
		t.Error("refused by nobody")
	}
	m.isRefused(limit, b, 0)
	m.isRefused(limit, b, b.BuildBytes()+5)
	m.finished.add(b)
	refused := m.isRefused(limit, b, 0)
	if refused || !m.isRefused(limit, b, 0) || !m.isRefused(limit, b, 0) || !m.isRefused(nil, b, 0) || m.refused != errBroken {
		t.Errorf("%v", m.refused)
	}
	one, more := b.Bytes(), b.BuildBytes()
	if want := []int64{one + more, one + more + 5, 2 * (one + more), 2 * (one + more)}; fmt.Sprint(asked) != fmt.Sprint(want) {
		t.Errorf("asked for %d, want %d", asked, want)
	}
}

// TestMostIsRecalled: what the reader of a whole trace and its workers read by the rules, beside
// the loop over events that repeat, is little.
func TestMostIsRecalled(t *testing.T) {
	for _, shape := range []tracegen.Shape{tracegen.AsIs, tracegen.Compact, tracegen.Stacks, tracegen.Names} {
		text := generated(t, shape, 1_500_000)
		for _, o := range []Options{
			{Alone: true}, {At: bytes.NewReader(text), Size: int64(len(text)), chunk: 200_000},
			{At: bytes.NewReader(text), Size: int64(len(text)), Map: inMemory(text), Alone: true},
		} {
			d := newReader(bytes.NewReader(text), o, maxValue)
			if _, err := d.first(); err != nil {
				t.Fatal(err)
			}
			workers := int64(1)
			if o.chunk > 0 {
				workers += max(2, int64(runtime.GOMAXPROCS(0))) // each learns for itself
			}
			if d.Counts.ByRules > 35*workers || d.Counts.Events < 3500 {
				t.Errorf("%s, chunks of %d: %+v", shape, o.chunk, d.Counts)
			}
		}
	}
}
