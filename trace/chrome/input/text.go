package input

import (
	"io"
	"math"
)

// Text is one input, with the ways to reach its bytes besides reading on. The zero
// value is a stream that can be read once and by one reader only.
type Text struct {
	At    io.ReaderAt // the text at any place, to several goroutines at once; or nil
	Size  int64       // of At, in bytes
	Map   Mapped      // the same in memory, or nil
	Again func() (io.Reader, error)

	ring *ring // what is read ahead; nil for none
}

// ReadAhead lets another goroutine read the source of w from here on into so many
// segments of size bytes. Close ends it.
func (t *Text) ReadAhead(w *Window, segments int, size int64) {
	g := newRing(w.src, segments, size)
	t.ring = g
	w.src = io.NewSectionReader(view{g, theReader}, 0, math.MaxInt64)
	w.moved = func(base int64) { g.update(func() { g.base = base }) }
}

// IsReadAhead reports whether another goroutine reads the text ahead.
func (t *Text) IsReadAhead() bool { return t.ring != nil }

// Segments is how many buffers of how many bytes the text is read ahead into; it must
// be read ahead.
func (t *Text) Segments() (n int, size int64) { return len(t.ring.segments), t.ring.size }

// Close ends what ReadAhead began; nobody reads the source when it returns.
func (t *Text) Close() {
	if t.ring != nil {
		t.ring.close()
	}
}

// Restart lets w go on at pos, which may lie before all that is at hand. One of At and
// Again must be there.
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

// Jump lets w go on at pos, which lies ahead. Where that is in the window already the
// text need not be at hand any more.
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
