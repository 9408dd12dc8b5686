package pool

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/chrome/event"
	"github.com/gaprof/gaprof/trace/chrome/input"
)

const one = `{"ph":"X","name":"a","pid":1,"tid":2,"ts":1,"dur":2}`

// readerOf is a reader that stands so many bytes before a chunk of text.
func readerOf(text string, from int64) *event.Reader {
	r := &event.Reader{}
	r.Window, r.Reach = input.NewWindow(nil), 1<<20
	r.Begin(trace.NewPartBuilder(), event.Options{})
	source := input.Text{At: strings.NewReader(text), Size: int64(len(text))}
	source.Chunks(1).Open(&r.Window, from, 0)
	return r
}

// TestFindEvent: the first brace of a chunk that follows an event and opens one, however much stands
// before it; one at the end of the chunk is of the next.
func TestFindEvent(t *testing.T) {
	far := strings.Repeat("x", 3*input.WindowSize)
	for _, c := range []struct {
		before, text string
		want         int // place in text, -1 for none
	}{
		{"},", one, 0}, {"} ,\r\n\t ", one, 0}, {"}", "," + one, 1}, {"", "}," + one, 2},
		{"", one, -1},          // nothing before it
		{",", one, -1},         // no event before it
		{"]" + ",", one, -1},   // likewise
		{"}}", one, -1},        // no comma
		{"},", "7," + one, -1}, // not directly before it
		{"},", `{"a":1},` + one, 8},
		{"},", `{"a":{"b":1},"c":2},` + one, 20},
		{"},", "{ 5}," + one, 5},
		{"},", `{"ph":"X","s":"},{","ts":1}`, 0},
		{"},", `{"ph":"X","l":[{"a":1},` + one + `]}` + "," + one, 23}, // which its owner knows better
		{"},", `{"ph":"M","name":"n"}`, 0},
		{"},", `{"ph":"X"},{"ts":1}`, -1},
		{"", far + "}," + one, len(far) + 2},
		{"", far + "}, {" + far + "}," + one, 2*len(far) + 6},
		{"},", far, -1}, {"},", "", -1},
	} {
		text := "[" + c.before + c.text
		first, behind := int64(1+len(c.before)), int64(len(text))+50
		r := readerOf(text, max(first-lookback, 0))
		i := findEvent(r, first, behind)
		if c.want < 0 && i >= 0 || c.want >= 0 && (i < 0 || r.At(i) != first+int64(c.want)) {
			t.Errorf("%.40s|%.60s: at %d, want %d", c.before, c.text, r.At(i)-first, c.want)
		}
		if c.want < 0 {
			continue
		}
		for end, want := range map[int64]bool{first + int64(c.want): false, first + int64(c.want) + 1: true} {
			r := readerOf(text, max(first-lookback, 0))
			if i := findEvent(r, first, end); (i >= 0) != want {
				t.Errorf("%.40s|%.60s: up to %d found %v", c.before, c.text, end-first, i >= 0)
			}
		}
	}
}

// TestFindAtBorders: an event is found wherever windows end, and where a window begins with the brace
// of the event before it.
func TestFindAtBorders(t *testing.T) {
	for n := input.WindowSize - 20; n < input.WindowSize+20; n++ {
		text := strings.Repeat("x", n) + "}," + one
		r := readerOf(text, 0)
		if i := findEvent(r, 0, int64(len(text))); i < 0 || r.At(i) != int64(n+2) {
			t.Errorf("after %d bytes: at %d", n, r.At(i))
		}
	}
	for _, before := range []string{"},", "}, ", "x},"} {
		if i := findEvent(readerOf(before+one, 0), int64(len(before)), 1000); i != len(before) {
			t.Errorf("after %q: at %d", before, i)
		}
	}
	if i := findEvent(readerOf(","+one, 0), 1, 1000); i >= 0 {
		t.Errorf("after a comma alone: at %d", i)
	}
}

// told notes what chunks are told, but not who waits for what: that is as workers get on.
type told struct {
	input.Chunks
	mu   *sync.Mutex
	what *[]string
}

func (c told) note(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	*c.what = append(*c.what, what)
}

func (c told) Progress(base, chunk int64) {
	c.note(fmt.Sprintf("progress %d %d", base, chunk))
	c.Chunks.Progress(base, chunk)
}

func (c told) Await(int64) {}
func (c told) Interrupt()  { c.note("interrupt") }
func (c told) Resume()     { c.note("resume") }

// TestTold: the text is told what is needed of it, and when all is over.
func TestTold(t *testing.T) {
	text := list(30)
	from := input.Text{At: strings.NewReader(text), Size: int64(len(text))}
	var what []string
	chunks := told{from.Chunks(10 * eventLen), new(sync.Mutex), &what}
	o := Options{Chunks: chunks, Workers: 2, Reach: 1 << 20, From: 5, Base: 3}
	p, to := New(o), &owner{t: t, to: trace.NewBuilder(), left: 9, at: 10 * eventLen}
	p.workers.Wait()
	p.Join(Spot{Pos: 10 * eventLen, Comma: true}, to)
	p.Stop()
	want := "progress 3 1, progress 1600 2, progress 2399 3, interrupt, resume"
	if got := strings.Join(what, ", "); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// workerOn is a worker of a pool on text that starts nobody, in chunks of so many bytes.
func workerOn(text string, size int64) *worker {
	from := input.Text{At: strings.NewReader(text), Size: int64(len(text))}
	o := Options{Chunks: from.Chunks(size), Reach: 1 << 20}
	return &worker{pool: &Pool{o: o, size: size, end: o.Chunks.End()}}
}

// TestRuns: what a worker makes of each chunk, one after another in the same run.
func TestRuns(t *testing.T) {
	n := len(one) + 1
	events := strings.Repeat(one+",", 10)
	broken := `{"ph":"X","name":!},` + strings.Repeat(" ", 2*n-20)
	text := events + broken + strings.Repeat("x", 3*n) + strings.Repeat(" ", 2*n) + "}," + events + "7," +
		events[:n*6] + "]"
	second := 17*n + 2
	w, r := workerOn(text, int64(5*n)), &Run{}
	for _, want := range []struct {
		chunk       int64
		start, stop int
		events      int64
		spot        Spot
	}{
		{0, n, 5 * n, 4, Spot{Comma: true}}, // the first event follows none
		{1, 5 * n, 10 * n, 5, Spot{Comma: true}},
		{2, -1, 0, 0, Spot{}},
		{3, second, second + 3*n, 3, Spot{Comma: true}},
		{2, -1, 0, 0, Spot{}},
		{4, second + 3*n, second + 8*n, 5, Spot{Comma: true}},
		{5, second + 8*n, second + 10*n, 2, Spot{Comma: true}},
		{6, second + 13*n + 2, second + 16*n + 2, 3, Spot{Comma: true}},
		{7, -1, 0, 0, Spot{}},
	} {
		r.chunk = want.chunk
		w.read(r)
		if want.start < 0 {
			if r.Start != -1 || r.Part.Len() != 0 || r.Counts.Events != 0 {
				t.Errorf("chunk %d: a run from %d with %d rows", want.chunk, r.Start, r.Part.Len())
			}
			continue
		}
		want.spot.Pos = int64(want.stop)
		if r.Start != int64(want.start) || r.Stop != want.spot || r.Counts.Events != want.events ||
			int64(r.Part.Len()) != want.events {
			t.Errorf("chunk %d: from %d to %+v, %+v, want from %d to %+v, %d events", want.chunk, r.Start, r.Stop,
				r.Counts,
				want.start, want.spot, want.events)
		}
	}
	if all := w.pool.Panics(); all.Workers > 0 {
		t.Error(all.First)
	}
}

// TestRunStops: where the list is not plain any more, and what stands before that place.
func TestRunStops(t *testing.T) {
	n := len(one) + 1
	for _, c := range []struct {
		behind string
		want   Spot
	}{
		{"]", Spot{Pos: int64(2*n - 1), Entry: true}},
		{" \n]", Spot{Pos: int64(2*n + 1), Entry: true}},
		{",]", Spot{Pos: int64(2 * n), Comma: true}},
		{", 7]", Spot{Pos: int64(2*n + 1), Comma: true}},
		{",," + one, Spot{Pos: int64(2 * n), Comma: true}},
		{one, Spot{Pos: int64(2*n - 1), Entry: true}},
		{`,{"ph":!}`, Spot{Pos: int64(2 * n), Comma: true}},
		{`,{"ph":"X","ts":"x"},]`, Spot{Pos: int64(2*n + 20), Comma: true}},
		{`,{"ph":"M","name":"n"}]`, Spot{Pos: int64(2*n + 21), Entry: true}},
		{"", Spot{Pos: int64(2*n - 1), Entry: true}},
	} {
		text := one + "," + one + c.behind
		w := workerOn(text, 1<<20)
		w.renew()
		r := readerOf(text, 0)
		w.r.Window = r.Window
		w.run = &Run{}
		if got := w.events(0, 1<<20); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.behind, got, c.want)
		}
	}
}

// TestJoinEarly: an owner that comes too early, or where no event is to begin, is told when to come
// again, and then finds what it would have found.
func TestJoinEarly(t *testing.T) {
	p, to := start(t, strings.NewReader(list(100)), list(100), 10*eventLen)
	for _, at := range []Spot{{Pos: 10*eventLen - 1, Comma: true}, {Pos: 10 * eventLen}, {Pos: 0, Entry: true}} {
		if got := p.Join(at, to); got != at || p.NextDue() != 10*eventLen || p.Took() {
			t.Errorf("%+v became %+v, due at %d", at, got, p.NextDue())
		}
	}
	to.at = 10 * eventLen
	if at := p.Join(Spot{Pos: to.at, Comma: true}, to); at.Pos != 100*eventLen-1 || !p.Took() || p.NextDue() < 1<<60 {
		t.Errorf("taken to %+v, due at %d", at, p.NextDue())
	}
	p, to = start(t, strings.NewReader("      "+list(100)), "      "+list(100), 10*eventLen)
	if got := p.Join(Spot{Pos: 10*eventLen + 1, Comma: true}, to); got.Pos != 10*eventLen+1 ||
		p.NextDue() != 10*eventLen+6 {
		t.Errorf("the first run begins at %d", p.NextDue())
	}
}

// TestWorkersEnd: when all chunks are read workers end by themselves, and those of a file that has
// run out of runs wait; Stop ends them.
func TestWorkersEnd(t *testing.T) {
	synctest.Test(t, func(*testing.T) { // a worker that goes on for ever is a deadlock
		text := list(30)
		from := input.Text{At: strings.NewReader(text), Size: int64(len(text))}
		p := New(Options{Chunks: from.Chunks(10 * eventLen), Workers: 3, Reach: 1 << 20})
		p.workers.Wait()
		if n := len(p.done); n != 2 {
			t.Errorf("%d runs of two chunks", n)
		}
		p.Stop()
	})
	synctest.Test(t, func(*testing.T) {
		text := list(100)
		from := input.Text{At: strings.NewReader(text), Size: int64(len(text))}
		p := New(Options{Chunks: from.Chunks(5 * eventLen), Workers: 2, Reach: 1 << 20, From: 12 * eventLen})
		synctest.Wait()
		if len(p.done) != 2*runsPerWorker || p.chunk != 3 || p.NextDue() != 15*eventLen {
			t.Errorf("%d runs from chunk %d on", len(p.done), p.chunk)
		}
		p.Stop()
	})
}

// TestWorkersRenew: a worker whose tables are too large starts anew, and forgets their memory.
func TestWorkersRenew(t *testing.T) {
	var b strings.Builder
	b.WriteString("[{},")
	for k := range maxNames + 5000 {
		fmt.Fprintf(&b, `{"ph":"X","name":"%d","pid":1,"tid":2,"ts":1,"dur":1},`, k)
	}
	head := int64(b.Len())
	for range 20_000 {
		b.WriteString(one + ",")
	}
	w, r := workerOn(b.String(), head/2), &Run{}
	for chunk := range int64(3) {
		r.chunk = chunk
		w.read(r)
	}
	if n := w.build.NumStrings(); n > maxNames || n < 4 {
		t.Errorf("%d names after a new start", n)
	}
	if got, want := w.pool.tables.Load(), w.build.Bytes()+w.r.Bytes()+r.Part.Bytes(); got != want {
		t.Errorf("%d bytes of tables are %d", got, want)
	}
	w.read(r)
	if got, want := w.pool.tables.Load(), w.build.Bytes()+w.r.Bytes()+r.Part.Bytes(); got != want {
		t.Errorf("once more: %d bytes of tables are %d", got, want)
	}
}

// TestWindowsOfRuns: each run tells of the spans of the profiler's own window in it, and of no others.
func TestWindowsOfRuns(t *testing.T) {
	const span = `{"ph":"X","cat":"Trace","name":"PyTorch Profiler (0)","pid":"Spans","tid":"p","ts":%d,"dur":2},`
	var b strings.Builder
	for k := range 9 {
		fmt.Fprintf(&b, span, k+1)
	}
	n := int64(len(fmt.Sprintf(span, 1)))
	w, r := workerOn(b.String(), 3*n), &Run{}
	for _, chunk := range []int64{1, 2} {
		r.chunk = chunk
		w.read(r)
		if len(r.Windows) != 3 || r.Windows[0] != [2]int64{(chunk*3 + 1) * 1000, (chunk*3 + 3) * 1000} {
			t.Errorf("chunk %d: %v", chunk, r.Windows)
		}
	}
}
