package pool

import (
	"runtime/debug"

	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/chrome/event"
	"github.com/gaprof/gaprof/trace/chrome/input"
	"github.com/gaprof/gaprof/trace/chrome/scan"
)

const (
	lookback  = 64      // bytes before an event that are searched for the end of the one before
	maxNames  = 1 << 16 // distinct strings that a worker keeps; with more it starts anew
	maxTables = 8 << 20 // bytes of its tables, likewise

	typicalEvent = 256 // bytes
)

// worker is one of a pool. It repairs nothing: whatever breaks a rule ends its run and is
// left to the owner of the pool.
type worker struct {
	pool  *Pool
	r     *event.Reader // nil until the next chunk
	build *trace.Builder
	run   *Run

	rows    int   // of the last run: the next will have about as many
	counted int64 // bytes of it that are in Pool.tables
}

// work reads chunks until there are no more.
func (w *worker) work() {
	p := w.pool
	debug.SetPanicOnFault(true) // of this goroutine: a mapped file may have become shorter
	for {
		select {
		case <-p.quit:
			return
		case r := <-p.free:
			chunk := p.next.Add(1) - 1
			if r.chunk = chunk; chunk >= p.end {
				return
			}
			w.read(r)
			p.done <- r
			if p.o.Chunks.EndsBefore(chunk) {
				return
			}
		}
	}
}

// read makes r the run of its chunk. If it panics there is no run: the panic is counted,
// and the owner of the pool reads the chunk by itself. If the cause lies in the input, the
// owner meets it too, where somebody catches it.
func (w *worker) read(r *Run) {
	r.Start = -1
	defer func() {
		if w.r != nil {
			w.r.Release()
		}
		if bug := recover(); bug != nil {
			r.Start, w.r = -1, nil
			w.pool.countPanic(bug, debug.Stack())
		}
	}()
	if w.r == nil || w.build.NumStrings() > maxNames || w.build.Bytes() > maxTables {
		w.renew()
	}
	w.run = r
	r.Windows = r.Windows[:0]
	size := w.pool.size
	first := r.chunk * size
	w.build.Reserve(max(w.rows+w.rows/8, int(size/typicalEvent)))
	if w.pool.o.Chunks.Open(&w.r.Window, r.chunk, lookback) {
		if i := findEvent(w.r, first, first+size); i >= 0 {
			start := w.r.At(i)
			r.Stop = w.events(i, first+size)
			r.Start = start
		}
	}
	w.rows = w.build.Len()
	r.Counts = w.r.Cut(&r.Part)
	w.count(r)
}

// renew gives w a reader that has learned nothing yet.
func (w *worker) renew() {
	o := w.pool.o.Events
	o.Window = func(start, end int64) { w.run.Windows = append(w.run.Windows, [2]int64{start, end}) }
	w.build = trace.NewPartBuilder()
	w.r = &event.Reader{}
	w.r.Window, w.r.Reach = input.NewWindow(nil), w.pool.o.Reach
	w.r.Begin(w.build, o)
}

// events reads from the event at i on, up to the first that begins at end or behind it,
// and returns where it stopped.
func (w *worker) events(i int, end int64) (at Spot) {
	r := w.r
	entry, comma := false, true
	for {
		if r.N-i < event.Room && !r.EOF {
			r.Slide(i)
			i = 0
		}
		i = r.Space(i)
		at = Spot{r.At(i), entry, comma}
		switch c := r.Buf[i]; {
		case c == ',' && entry:
			entry, comma = false, true
			i++
		case c == '{' && comma && at.Pos < end && !w.pool.stopped.Load():
			var stop event.Stop
			if i, stop = r.Repeats(i, end); stop != event.AtEvent {
				entry, comma = stop == event.Behind, stop == event.AtComma
				continue
			}
			at = Spot{r.At(i), false, true}
			if i = r.Strict(i); scan.Broken(i) {
				return at
			}
			entry, comma = true, false
		default:
			return at
		}
	}
}

// count adds the memory of w, and of the run that it has just made, to that of the pool.
func (w *worker) count(r *Run) {
	all, part := w.build.Bytes()+w.r.Bytes(), r.Part.Bytes()
	w.pool.tables.Add(all - w.counted + part - r.counted)
	w.counted, r.counted = all, part
}
