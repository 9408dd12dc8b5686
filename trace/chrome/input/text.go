package input

import (
	"io"
	"math"
)

// Text is one input, with the ways to reach its bytes other than reading on. The zero
// value is a stream that can be read once and by one reader only.
type Text struct {
	At    io.ReaderAt               // the text at any offset, for several goroutines at once; or nil
	Size  int64                     // of At, in bytes
	Map   Mapped                    // the text of At in memory, or nil where At is
	Again func() (io.Reader, error) // reopens a stream from its beginning; or nil

	ring *ring // what is read ahead; nil for none
}

// ReadAhead starts a goroutine that reads the source of w ahead, into so many segments of
// size bytes. Close ends it.
func (t *Text) ReadAhead(w *Window, segments int, size int64) {
	g := newRing(w.src, segments, size)
	t.ring = g
	w.src = io.NewSectionReader(view{g, theReader}, 0, math.MaxInt64)
	w.moved = func(base int64) { g.update(func() { g.base = base }) }
}

// IsReadAhead reports whether the text is read ahead.
func (t *Text) IsReadAhead() bool { return t.ring != nil }

// Segments is how many buffers, of how many bytes, a text is read ahead into. It must not
// be called if IsReadAhead is false.
func (t *Text) Segments() (n int, size int64) { return len(t.ring.segments), t.ring.size }

// Close ends what ReadAhead began; nobody reads the source when it returns.
func (t *Text) Close() {
	if t.ring != nil {
		t.ring.close()
	}
}

// Restart moves w to the offset pos, which may lie before all that is in memory. At or
// Again must be set.
func (t *Text) Restart(w *Window, pos int64) {
	if t.ring == nil {
		w.open(t.At, pos)
		return
	}
	t.ring.close()
	t.ring, w.moved = nil, nil
	src, err := t.Again()
	if err == nil {
		_, err = io.CopyN(io.Discard, src, pos)
	}
	w.src, w.Base, w.N = src, pos, 0
	w.EOF, w.Err = err != nil, err
	w.Fill()
}

// Jump moves w forward to the offset pos. What is in the window already need not be
// anywhere else any more.
func (t *Text) Jump(w *Window, pos int64) {
	switch i := pos - w.Base; {
	case i >= 0 && i <= int64(w.N):
		w.Slide(int(i))
	case t.ring != nil:
		w.open(view{t.ring, theReader}, pos)
	default:
		w.open(t.At, pos)
	}
}
