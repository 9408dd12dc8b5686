package chrome

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/chrome/input"
)

// The event list of a large file is read by a team: hands (hand.go) read chunks of
// it ahead, each from where an event seems to begin, and the reader takes over what
// they read, in order. Whether an event begins at a place cannot be told from the
// bytes around it, because they may stand within a string. So a run of events is
// taken over only if it begins exactly where the reader has arrived, which is where
// an event begins for certain; then all of the run is certain, and where it stopped
// is the next such place. From wherever that fails the reader reads by itself until
// it arrives at the beginning of a run. So the result is that of one reader alone.

const (
	minChunk, maxChunk = 1 << 20, 8 << 20 // bytes
	fewChunks          = 4                // with fewer a team is not worth forming
	mostHands          = 8
	runsAHand          = 2 // that wait to be taken over or are being read

	segmentSize   = 1 << 20 // bytes, of a text that is read ahead
	spare         = 3       // segments besides one for each hand
	mostReadHands = 4       // of such a text: more have nothing to do, as one goroutine decompresses for all
)

// spot is a place between two events of a list and what stands directly before it.
type spot struct {
	pos          int64 // offset in the input
	entry, comma bool
}

// run is what a hand made of a chunk: the events from start to stop, read by the
// rules.
type run struct {
	chunk  int64 // its number
	start  int64 // offset of the first event, -1 where there is no run
	stop   spot
	part   trace.Part
	events int64
	others int64
	kineto bool
	spans  [][2]int64

	counted int64 // bytes of it that are in team.tables
}

// team is a reader's view of its hands.
type team struct {
	d       *reader
	chunks  input.Chunks
	size    int64 // bytes of a chunk; chunk k begins at k*size
	end     int64 // number behind the last chunk
	chunk   int64 // number of the first chunk whose run is not dealt with
	due     int64 // the place from which on join has something to do
	free    chan *run
	done    chan *run
	waiting map[int64]*run // runs of chunks to come, and of this one
	took    bool           // a run was taken over
	tables  atomic.Int64   // bytes that the hands and their runs take

	next    atomic.Int64 // number of the next chunk to be read
	stopped atomic.Bool
	quit    chan struct{}
	hands   sync.WaitGroup
}

// readAhead lets the input be read ahead, where that is worth it, and returns what ends
// that.
func (d *reader) readAhead() (end func()) {
	hands, size := min(runtime.GOMAXPROCS(0), mostReadHands), int64(segmentSize)
	if d.opts.chunk > 0 {
		hands, size = max(hands, 2), d.opts.chunk // a test
	}
	if d.opts.Again == nil || hands < 2 {
		return func() {}
	}
	d.source.ReadAhead(&d.Window, hands+spare, size)
	return d.source.Close
}

// formTeam makes others read with d the list that begins at i, where that is worth
// it, and returns what ends that.
func (d *reader) formTeam(i int, in place) (end func()) {
	hands, size := d.hands(d.At(i))
	chunks := d.source.Chunks(size)
	if chunks == nil || d.alone || d.Err != nil || in == inLines || hands < 2 {
		return func() {}
	}
	t := &team{d: d, chunks: chunks, size: chunks.Size(), end: chunks.End()}
	t.chunk = d.At(i)/t.size + 1
	t.due = t.chunk * t.size
	t.start(hands)
	d.team = t
	return func() {
		d.team = nil
		d.alone = d.alone || !t.took // lists too short for it may follow, any number of them
		t.stop()
	}
}

// hands says how many should read the list that begins at pos, and in chunks of how
// many bytes.
func (d *reader) hands(pos int64) (hands int, size int64) {
	hands, size = min(runtime.GOMAXPROCS(0), mostHands), min(max(d.opts.Size/64, minChunk), maxChunk)
	length := d.opts.Size
	if d.source.IsReadAhead() {
		hands, size = d.source.Segments()
		hands, length = hands-spare, d.opts.SizeHint
	}
	if d.opts.chunk > 0 {
		return max(hands, 2), d.opts.chunk // a test
	}
	if length-pos < fewChunks*size {
		return 0, size
	}
	return hands, size
}

func (t *team) start(hands int) {
	runs := hands * runsAHand
	t.free, t.done, t.waiting = make(chan *run, runs), make(chan *run, runs), make(map[int64]*run)
	t.quit = make(chan struct{})
	t.next.Store(t.chunk)
	for range runs {
		t.free <- new(run)
	}
	t.chunks.Progress(t.d.Base, t.chunk)
	for range hands {
		t.hands.Go((&hand{team: t}).work)
	}
}

// stop ends all reading; nobody looks at the input when it returns.
func (t *team) stop() {
	t.stopped.Store(true)
	close(t.quit)
	t.chunks.Interrupt()
	defer t.chunks.Resume()
	t.hands.Wait()
}

// isDue tells whether the reader, about to read an event at pos, should ask join.
func (t *team) isDue(pos int64) bool { return t != nil && pos >= t.due }

// nextDue is the place from which on the reader should ask join.
func (t *team) nextDue() int64 {
	if t == nil {
		return math.MaxInt64
	}
	return t.due
}

// join takes over the runs that begin at the spot at, where an event begins for
// certain, and at where the one before stopped, and returns where the last stopped.
func (t *team) join(at spot) spot {
	t.due = math.MaxInt64
	for t.chunk < t.end {
		first := t.chunk * t.size
		if at.pos < first || !at.comma {
			t.due = first
			break
		}
		r := t.fetch()
		if r.start > at.pos {
			t.due = r.start
			break
		}
		if r.start == at.pos {
			t.take(r)
			at = r.stop
		}
		delete(t.waiting, t.chunk)
		t.chunk++
		t.chunks.Progress(at.pos, t.chunk)
		t.free <- r
		if t.d.isRefused() {
			break
		}
	}
	return at
}

// fetch returns the run of the chunk at hand. A hand takes room for a run before it
// takes a chunk, so whoever has this chunk needs nothing to finish it.
func (t *team) fetch() *run {
	for t.waiting[t.chunk] == nil {
		t.chunks.Await(t.chunk)
		r := <-t.done
		t.waiting[r.chunk] = r
	}
	return t.waiting[t.chunk]
}

// take adds a run to the document.
func (t *team) take(r *run) {
	d := t.d
	t.took = true
	rows := int64(d.b.Len() + r.part.Len())
	d.makeRoom(r.stop.pos-d.start, rows, rows)
	d.b.Append(&r.part)
	d.events, d.others, d.kineto = d.events+r.events, d.others+r.others, d.kineto || r.kineto
	d.taken += r.stop.pos - r.start
	for _, s := range r.spans {
		d.span(s[0], s[1])
	}
}
