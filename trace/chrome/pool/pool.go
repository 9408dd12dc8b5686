package pool

import (
	"math"
	"sync"
	"sync/atomic"

	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/chrome/event"
	"github.com/gaprof/gaprof/trace/chrome/input"
)

// runsPerWorker is how many runs there are for each worker: one that is being read and
// one that waits to be taken over.
const runsPerWorker = 2

// Spot is a place between two events of a list, and what comes directly before it: an
// entry, a comma or, at the beginning of the list, neither.
type Spot struct {
	Pos   int64 // offset in the input
	Entry bool  // an entry comes directly before
	Comma bool  // a comma does
}

// Run is what a worker made of a chunk: the events from Start to Stop, none of them
// damaged. The owner of the pool may use it during Owner.Take only.
type Run struct {
	Start   int64        // offset of the first event, -1 if the worker found none
	Stop    Spot         // where the next event begins, or what is not a plain list any more
	Part    trace.Part   // the rows and names of the events
	Counts  event.Counts // of the events
	Windows [][2]int64   // spans of the profiler's own window, in ns

	chunk   int64 // the number of the chunk
	counted int64 // bytes of it that are in Pool.tables
}

// Owner is given runs by Join, in the order of the input.
type Owner interface {
	// Take adds r, all of which is certain, to the trace.
	Take(r *Run)
	// GoesOn reports whether the owner wants more runs.
	GoesOn() bool
}

// Options say what a pool reads.
type Options struct {
	Events  event.Options // but Window, in place of which there is Run.Windows
	Chunks  input.Chunks  // of the text that the owner reads
	Workers int           // how many goroutines
	Reach   int           // bytes that one event may span; the owner reads longer ones
	From    int64         // offset of the list; reading ahead begins at the next chunk
	Base    int64         // offset of the first byte that the owner may still need
}

// Pool is the workers as their owner sees them. A nil Pool has none and is never due.
// Apart from the counters, its fields are used by the goroutine of the owner only.
type Pool struct {
	o    Options
	size int64 // bytes of a chunk; chunk k begins at k*size
	end  int64 // number behind the last chunk

	chunk   int64 // number of the first chunk whose run is not dealt with
	due     int64 // offset from which on Join has something to do
	took    bool  // a run was handed over
	free    chan *Run
	done    chan *Run
	waiting map[int64]*Run // runs of chunks to come, and of this one

	next    atomic.Int64 // number of the next chunk to be read
	tables  atomic.Int64 // bytes that workers and runs take
	stopped atomic.Bool
	quit    chan struct{}
	workers sync.WaitGroup
	panics  panicLog
}

// New starts the workers. Stop must be called.
func New(o Options) *Pool {
	p := &Pool{o: o, size: o.Chunks.Size(), end: o.Chunks.End(), waiting: make(map[int64]*Run)}
	p.chunk = o.From/p.size + 1
	p.due = p.chunk * p.size
	runs := o.Workers * runsPerWorker
	p.free, p.done = make(chan *Run, runs), make(chan *Run, runs)
	p.quit = make(chan struct{})
	p.next.Store(p.chunk)
	for range runs {
		p.free <- new(Run)
	}
	o.Chunks.Progress(o.Base, p.chunk)
	for range o.Workers {
		p.workers.Go((&worker{pool: p}).work)
	}
	return p
}

// Stop ends all reading: no worker looks at the input when it returns.
func (p *Pool) Stop() {
	p.stopped.Store(true)
	close(p.quit)
	p.o.Chunks.Interrupt()
	p.workers.Wait()
	p.o.Chunks.Resume()
}

// Took reports whether any run was handed over.
func (p *Pool) Took() bool { return p.took }

// IsDue reports whether the owner, about to read an event at pos, should call Join.
func (p *Pool) IsDue(pos int64) bool { return p != nil && pos >= p.due }

// NextDue is the offset from which on the owner should call Join.
func (p *Pool) NextDue() int64 {
	if p == nil {
		return math.MaxInt64
	}
	return p.due
}

// Join hands over the run that begins at the spot at, where an event begins for certain,
// then the one that begins where that stopped, and so on. It returns where the last one
// stopped.
func (p *Pool) Join(at Spot, to Owner) Spot {
	p.due = math.MaxInt64
	for p.chunk < p.end {
		first := p.chunk * p.size
		if at.Pos < first || !at.Comma {
			p.due = first
			break
		}
		r := p.fetch()
		if r.Start > at.Pos {
			p.due = r.Start
			break
		}
		if r.Start == at.Pos {
			p.took = true
			to.Take(r)
			at = r.Stop
		}
		delete(p.waiting, p.chunk)
		p.chunk++
		p.o.Chunks.Progress(at.Pos, p.chunk)
		p.free <- r
		if !to.GoesOn() {
			break
		}
	}
	return at
}

// fetch waits for the run of p.chunk. It cannot deadlock: a worker takes a free Run before
// it takes a chunk, so whoever has this chunk needs nothing more to finish it.
func (p *Pool) fetch() *Run {
	for p.waiting[p.chunk] == nil {
		p.o.Chunks.Await(p.chunk)
		r := <-p.done
		p.waiting[r.chunk] = r
	}
	return p.waiting[p.chunk]
}

// Bytes estimates the memory of the workers and their runs, in bytes.
func (p *Pool) Bytes() int64 {
	if p == nil {
		return 0
	}
	return p.tables.Load()
}
