package input

import "math"

// Chunks gives one text to several workers at once, in chunks of equal size: chunk k
// begins at offset k times Size. The reader whose text it is goes on reading meanwhile, and
// reports its progress: of a stream that is read ahead, only a part is in memory.
type Chunks interface {
	// Size is the length of a chunk in bytes.
	Size() int64
	// End is one more than the number of the last chunk, math.MaxInt64 if not known.
	End() int64
	// Open positions w on the text from so many bytes before a chunk on, or from the
	// beginning of the text on. It may wait; ok is false if the chunk is not in memory and
	// will not be.
	Open(w *Window, chunk, before int64) (ok bool)
	// EndsBefore reports whether the text is known to end before a chunk.
	EndsBefore(chunk int64) bool
	// Progress says that the reader needs nothing before the offset base, and that no
	// worker needs anything before the given chunk.
	Progress(base, chunk int64)
	// Await says that the reader waits for the worker that has the given chunk.
	Await(chunk int64)
	// Interrupt ends the waiting of all workers, now and from now on.
	Interrupt()
	// Resume undoes Interrupt, once all workers are gone.
	Resume()
}

// Chunks returns the text in chunks, nil if only one reader can read it. The chunks of a
// text that is read ahead are its segments, those of any other have size bytes.
func (t *Text) Chunks(size int64) Chunks {
	switch {
	case t.ring != nil:
		return t.ring
	case t.At != nil:
		return &fileChunks{text: t, size: size}
	}
	return nil
}

// fileChunks are the chunks of a text that can be read at any offset: nobody waits for it.
type fileChunks struct {
	text *Text
	size int64
}

func (f *fileChunks) Size() int64 { return f.size }
func (f *fileChunks) End() int64  { return (f.text.Size + f.size - 1) / f.size }

func (f *fileChunks) Open(w *Window, chunk, before int64) bool {
	from := max(chunk*f.size-before, 0)
	if m := f.text.mapStretch(from, (chunk+1)*f.size+overlap, overlap); m != nil {
		w.borrow(m, m.text, len(m.text)-Padding, f.text.At, from, w.N)
	} else {
		w.open(f.text.At, from)
	}
	return true
}

func (f *fileChunks) EndsBefore(int64) bool { return false }
func (f *fileChunks) Progress(_, _ int64)   {}
func (f *fileChunks) Await(int64)           {}
func (f *fileChunks) Interrupt()            {}
func (f *fileChunks) Resume()               {}

func (g *ring) Size() int64 { return g.size }
func (g *ring) End() int64  { return math.MaxInt64 }

func (g *ring) Open(w *Window, chunk, before int64) bool {
	from := max(chunk*g.size-before, 0)
	s, n := g.lend(chunk)
	if s == nil {
		return false
	}
	i := history - int(chunk*g.size-from)
	w.borrow(s, s.buf[i:history+n+Padding], history+n-i, view{g, chunk}, from, w.N)
	return true
}

func (g *ring) EndsBefore(chunk int64) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.ended && g.hi <= chunk*g.size
}

func (g *ring) Progress(base, chunk int64) {
	g.update(func() {
		g.base, g.hold = base, chunk*g.size
		g.awaited = theReader
	})
}

func (g *ring) Await(chunk int64) { g.update(func() { g.awaited = chunk }) }

func (g *ring) Interrupt() { g.update(func() { g.idle = true }) }

func (g *ring) Resume() { g.update(func() { g.idle, g.hold = false, math.MaxInt64 }) }
