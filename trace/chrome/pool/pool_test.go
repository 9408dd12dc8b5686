package pool

import (
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/chrome/input"
)

// eventLen is the bytes of an event of list, with its comma.
const eventLen = 80

// list is n events and the bracket behind them. Event k begins at k*eventLen.
func list(n int) string {
	var b strings.Builder
	for k := range n {
		event := fmt.Sprintf(`{"ph":"X","name":"n%d","pid":1,"tid":2,"ts":%d,"dur":1`, k%7, k)
		b.WriteString(event + strings.Repeat(" ", eventLen-2-len(event)) + "},")
	}
	return strings.TrimSuffix(b.String(), ",") + "]"
}

// owner takes runs over as long as it wants more.
type owner struct {
	t    *testing.T
	to   *trace.Builder
	at   int64 // where the last run stopped
	left int   // runs that it wants
}

func (o *owner) Take(r *Run) {
	if r.Start != o.at {
		o.t.Errorf("a run from %d is handed over at %d", r.Start, o.at)
	}
	if n := (r.Stop.Pos - r.Start + eventLen - 1) / eventLen; int64(r.Part.Len()) != n || r.Counts.Events != n {
		o.t.Errorf("%d rows, %d events in %d bytes", r.Part.Len(), r.Counts.Events, r.Stop.Pos-r.Start)
	}
	o.at = r.Stop.Pos
	o.to.Append(&r.Part)
	o.left--
}

func (o *owner) GoesOn() bool { return o.left > 0 }

// start forms a pool of text, to be read in chunks of size bytes, and its owner.
func start(t *testing.T, at io.ReaderAt, text string, size int64) (*Pool, *owner) {
	t.Helper()
	from := input.Text{At: at, Size: int64(len(text))}
	p := New(Options{Chunks: from.Chunks(size), Workers: 3, Reach: 1 << 20})
	t.Cleanup(p.Stop)
	return p, &owner{t: t, to: trace.NewBuilder(), left: 1 << 30}
}

// TestJoin: from an event on, which the owner knows to be one, all is handed over in order.
func TestJoin(t *testing.T) {
	const n = 1000
	for _, size := range []int64{eventLen, 3*eventLen + 7, 5000, n * eventLen / 2} {
		p, to := start(t, strings.NewReader(list(n)), list(n), size)
		first := (p.NextDue() + eventLen - 1) / eventLen
		to.at = first * eventLen
		if p.IsDue(p.NextDue()-1) || !p.IsDue(to.at) {
			t.Error("due at another place")
		}
		at := p.Join(Spot{Pos: to.at, Comma: true}, to)
		if want := (Spot{n*eventLen - 1, true, false}); at != want || to.to.Len() != int(n-first) || !p.Took() {
			t.Errorf("chunks of %d bytes: %d rows from event %d on, to %+v", size, to.to.Len(), first, at)
		}
		if all := p.Panics(); all.Workers > 0 || p.Bytes() == 0 {
			t.Errorf("%d bytes of tables, panics: %s", p.Bytes(), all.First)
		}
	}
}

// TestJoinElsewhere: where no event begins for certain nothing is taken.
func TestJoinElsewhere(t *testing.T) {
	p, to := start(t, strings.NewReader(list(100)), list(100), 10*eventLen)
	for _, at := range []Spot{
		{Pos: 10*eventLen + 1, Comma: true},  // within the first event of a run
		{Pos: 20 * eventLen},                 // before a comma
		{Pos: 30*eventLen - 9, Comma: true},  // behind the run of its chunk
		{Pos: 100 * eventLen, Comma: true},   // behind all
		{Pos: 1000 * eventLen, Comma: false}, // far behind all
	} {
		if got := p.Join(at, to); got != at || p.Took() {
			t.Errorf("%+v became %+v", at, got)
		}
	}
}

// TestOwnerStops: no more is handed over than is wanted.
func TestOwnerStops(t *testing.T) {
	p, to := start(t, strings.NewReader(list(100)), list(100), 10*eventLen)
	to.at, to.left = 10*eventLen, 2
	if at := p.Join(Spot{Pos: to.at, Comma: true}, to); at.Pos != 30*eventLen || to.left != 0 {
		t.Errorf("goes on to %d", at.Pos)
	}
}

// TestNoPool: without workers nothing is ever due.
func TestNoPool(t *testing.T) {
	var p *Pool
	if p.IsDue(1<<60) || p.NextDue() < 1<<60 || p.Bytes() != 0 {
		t.Error("nobody is due")
	}
}

// fails is an input whose first reads panic.
type fails struct {
	io.ReaderAt
	left atomic.Int64
	with any
}

func (f *fails) ReadAt(p []byte, off int64) (int, error) {
	if f.left.Add(-1) >= 0 {
		panic(f.with)
	}
	return f.ReaderAt.ReadAt(p, off)
}

type memoryFault struct{}

func (memoryFault) Error() string { return "unexpected fault address" }
func (memoryFault) Addr() uintptr { return 1 << 20 }

// TestPanics: a worker that panicked has no run, and is counted; the memory of a file that
// has become shorter is no panic.
func TestPanics(t *testing.T) {
	for _, c := range []struct {
		with any
		want int64
	}{{"planted", 2}, {memoryFault{}, 0}} {
		before := AllPanics().Workers
		src := &fails{ReaderAt: strings.NewReader(list(100)), with: c.with}
		src.left.Store(2)
		p, to := start(t, src, list(100), 10*eventLen)
		for chunk := range int64(9) {
			to.at = (chunk + 1) * 10 * eventLen
			p.Join(Spot{Pos: to.at, Comma: true}, to)
		}
		if all := p.Panics(); all.Workers != c.want || AllPanics().Workers-before != c.want {
			t.Errorf("%v: %d panics, %d of the program: %s", c.with, all.Workers, AllPanics().Workers-before, all.First)
		}
		if first := p.Panics().First; c.want > 0 && !strings.HasPrefix(first, "planted\n") {
			t.Errorf("the first is %s", first)
		}
	}
}
