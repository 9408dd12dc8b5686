package input

import "math"

// Chunks gives one text to several workers at once, in chunks of one size: chunk k
// begins at k times that. One reader uses the same text meanwhile; what it tells of its
// progress is for a text that can be read once, from its beginning on, and of which
// only a part is in memory.
type Chunks interface {
	// Size is the bytes of a chunk.
	Size() int64
	// End is the number behind the last chunk, math.MaxInt64 where that is not known.
	End() int64
	// Open lets w begin so many bytes before a chunk, or at the beginning of the text,
	// and go on behind it; ok is false where the chunk is not at hand and will not be.
	// It may wait.
	Open(w *Window, chunk, before int64) (ok bool)
	// EndsBefore reports whether it is known that no text stands in a chunk.
	EndsBefore(chunk int64) bool
	// Progress is told that the reader needs nothing before base, and no worker anything
	// before the given chunk.
	Progress(base, chunk int64)
	// Await is told that the reader waits for the worker that has the given chunk.
	Await(chunk int64)
	// Interrupt lets no worker wait any more.
	Interrupt()
	// Resume takes Interrupt back when all workers are gone.
	Resume()
}

// overlap is how much of the text behind a chunk is lent with it, for its last event.
const overlap = 64 << 10

// Chunks returns the text from now on in chunks, nil where it can be read by one reader
// only. Of a text that is read ahead the chunks are its segments, else they have size
// bytes.
func (t *Text) Chunks(size int64) Chunks {
	switch {
	case t.ring != nil:
		return t.ring
	case t.At != nil:
		return &fileChunks{text: t, size: size}
	}
	return nil
}

// fileChunks are those of a text that is at hand at any place: nobody waits for it.
type fileChunks struct {
	text *Text
	size int64
}

func (f *fileChunks) Size() int64 { return f.size }
func (f *fileChunks) End() int64  { return (f.text.Size + f.size - 1) / f.size }

func (f *fileChunks) Open(w *Window, chunk, before int64) bool {
	from := max(chunk*f.size-before, 0)
	if m := lendMapped(f.text.Map, from, (chunk+1)*f.size+overlap); m != nil {
		w.borrow(m, m.text, len(m.text)-Padding, f.text.At, from)
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
	w.borrow(s, s.buf[i:history+n+Padding], history+n-i, view{g, chunk}, from)
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
