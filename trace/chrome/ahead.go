package chrome

import (
	"runtime"

	"github.com/gaprof/gaprof/trace/chrome/input"
	"github.com/gaprof/gaprof/trace/chrome/pool"
)

const (
	minChunk, maxChunk = 1 << 20, 8 << 20 // bytes
	fewChunks          = 4                // with fewer a pool is not worth it
	mostWorkers        = 8

	segmentSize     = 1 << 20 // bytes, of a text that is read ahead
	spareSegments   = 3       // besides one for each worker
	mostRingWorkers = 4       // of such a text: more have nothing to do, as one goroutine decompresses for all

	leastEvent = 100 // bytes, nearly
	farthest   = 256 // how much of the input, in what is known of it, makeRoom plans for
)

// readAhead has the input read ahead by another goroutine if that is worth it, and returns
// what ends that.
func (d *reader) readAhead() (end func()) {
	workers, size := min(runtime.GOMAXPROCS(0), mostRingWorkers), int64(segmentSize)
	if d.opts.chunk > 0 {
		workers, size = max(workers, 2), d.opts.chunk // a test
	}
	if d.opts.Again == nil || d.alone || workers < 2 {
		return func() {}
	}
	d.source.ReadAhead(&d.Window, workers+spareSegments, size)
	return d.source.Close
}

// formPool starts workers that read the list that begins at i ahead of d, if that is worth
// it, and returns what ends them.
func (d *reader) formPool(i int, in place) (end func()) {
	workers, size := d.workers(d.At(i))
	chunks := d.source.Chunks(size)
	if chunks == nil || d.alone || d.Err != nil || in == inLines || workers == 0 {
		return func() {}
	}
	p := pool.New(pool.Options{
		Events: d.eventOptions(), Chunks: chunks, Workers: workers, Reach: minChunk, From: d.At(i), Base: d.Base,
	})
	d.pool = p
	return func() {
		d.pool = nil
		d.alone = d.alone || !p.Took() // lists too short for it may follow, any number of them
		p.Stop()
		d.panics.Add(p.Panics())
	}
}

// workers is how many should read the list that begins at offset pos, and in chunks of how
// many bytes.
func (d *reader) workers(pos int64) (workers int, size int64) {
	workers = min(runtime.GOMAXPROCS(0), mostWorkers)
	size = min(max(d.opts.Size/64, minChunk), maxChunk)
	length := d.opts.Size
	if d.source.IsReadAhead() {
		workers, size = d.source.Segments()
		workers, length = workers-spareSegments, d.opts.SizeHint
	}
	if d.opts.chunk > 0 {
		return max(workers, 2), d.opts.chunk // a test
	}
	if length-pos < fewChunks*size {
		return 0, size
	}
	return workers, size
}

// Take adds what a worker read to the document.
func (d *reader) Take(r *pool.Run) {
	rows := int64(d.b.Len() + r.Part.Len())
	d.makeRoom(r.Stop.Pos-d.start, rows, rows)
	d.b.Append(&r.Part)
	d.Counts.Add(r.Counts)
	d.taken += r.Stop.Pos - r.Start
	for _, w := range r.Windows {
		d.widen(w[0], w[1])
	}
}

// GoesOn reports whether reading may take the memory that it takes.
func (d *reader) GoesOn() bool { return !d.isRefused() }

// makeRoom reserves columns for rows in all. The first time it reserves enough for the
// rest of the input, extrapolated from the known rows in the bytes read so far, and a
// quarter more; after that it grows by halves. Copying a column that has become too short
// costs more than reading what is in it. A pool knows how many rows it adds; a reader
// alone asks for as many as the next windows might hold.
func (d *reader) makeRoom(read, known, rows int64) {
	if read < 2*input.WindowSize || rows <= d.reserved {
		return
	}
	want := rows + rows/2
	if rest := min(d.opts.SizeHint-d.start, read*farthest); rest > read {
		want = rows + int64(float64(known)*float64(rest-read)/float64(read)*1.25)
	}
	d.reserved = max(want, d.reserved+d.reserved/2)
	d.b.Reserve(int(d.reserved))
}

// tally tells Options.Tables how much memory reading takes. If that is refused the input
// ends at i, and Read returns the refusal.
func (d *reader) tally(i int) {
	if d.isRefused() {
		d.End(i)
	}
}

// isRefused reports whether reading takes too much, now or already before.
func (d *reader) isRefused() bool {
	return d.memory.isRefused(d.opts.Tables, d.b, d.Bytes()+d.pool.Bytes())
}

// tellPanics tells the caller of Read of workers that panicked.
func (d *reader) tellPanics() {
	if d.opts.Panicked != nil && d.panics.Workers > 0 {
		d.opts.Panicked(d.panics.Workers, d.panics.First)
	}
}
