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

// Spot is a place between two events of a list and what stands directly before it.
type Spot struct {
	Pos          int64 // offset in the input
	Entry, Comma bool
}

// Run is what a worker made of a chunk: the events from Start to Stop, read by the
// rules. It belongs to the owner of the pool during Owner.Take only.
type Run struct {
	Start   int64 // offset of the first event, -1 where there is no run
	Stop    Spot
	Part    trace.Part
	Counts  event.Counts
	Windows [][2]int64 // spans of the profiler's own window, in ns

	chunk   int64 // its number
	counted int64 // bytes of it that are in Pool.tables
}

// Owner takes runs over; the pool calls it during Join, in the order of the input.
type Owner interface {
	// Take adds what stands in r, all of which is certain, to the trace.
	Take(r *Run)
	// GoesOn reports whether more is wanted.
	GoesOn() bool
}

// Options say what a pool reads.
type Options struct {
	Events  event.Options // Window is the workers' own
	Chunks  input.Chunks
	Workers int
	Reach   int   // bytes that one event may span for a worker
	From    int64 // offset of the list; reading ahead begins at the next chunk
	Base    int64 // what the owner may still look at begins here
}

// Pool is its owner's view of the workers. A nil Pool has none and is never due.
type Pool struct {
	o    Options
	size int64 // bytes of a chunk; chunk k begins at k*size
	end  int64 // number behind the last chunk

	chunk   int64 // number of the first chunk whose run is not dealt with
	due     int64 // the place from which on Join has something to do
	took    bool  // a run was taken over
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

// New starts the workers. Stop is to be called.
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

// Stop ends all reading; nobody looks at the input when it returns.
func (p *Pool) Stop() {
	p.stopped.Store(true)
	close(p.quit)
	p.o.Chunks.Interrupt()
	p.workers.Wait()
	p.o.Chunks.Resume()
}

// Took reports whether any run was taken over.
func (p *Pool) Took() bool { return p.took }

// IsDue reports whether the owner, about to read an event at pos, should ask Join.
func (p *Pool) IsDue(pos int64) bool { return p != nil && pos >= p.due }

// NextDue is the place from which on the owner should ask Join.
func (p *Pool) NextDue() int64 {
	if p == nil {
		return math.MaxInt64
	}
	return p.due
}

// Join hands over the runs that begin at the spot at, where an event begins for
// certain, and at where the one before stopped, and returns where the last stopped.
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

// fetch returns the run of the chunk at hand. A worker takes room for a run before it
// takes a chunk, so whoever has this chunk needs nothing to finish it.
func (p *Pool) fetch() *Run {
	for p.waiting[p.chunk] == nil {
		p.o.Chunks.Await(p.chunk)
		r := <-p.done
		p.waiting[r.chunk] = r
	}
	return p.waiting[p.chunk]
}

// Bytes is what the workers and their runs take, in bytes.
func (p *Pool) Bytes() int64 {
	if p == nil {
		return 0
	}
	return p.tables.Load()
}
