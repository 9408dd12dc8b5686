package chrome

import (
	"bytes"
	"io"
	"math"
)

const (
	windowSize = 256 << 10 // stays in a core's own cache
	padding    = 32        // zero bytes behind the window: scans stop there without asking for the end
	maxValue   = 256 << 20 // bytes that one event or header value may span
)

// window is the part of the input that is in memory: buf[:n], then padding.
type window struct {
	src  io.Reader
	ring *ring  // where src comes from, nil where that is no ring or this no window of the reader
	lent lender // whose buffer buf is; nil where buf is the window's own
	own  []byte
	buf  []byte
	n    int
	base int64 // offset of buf[0] in the input
	eof  bool  // nothing follows buf[:n]
	err  error // why the input ended, where that was not its end
}

func newWindow(src io.Reader) window {
	return window{src: src, buf: make([]byte, windowSize+padding)}
}

// slide drops what stands before from and reads more; what stood at from is at 0
// afterwards. Where nothing can be dropped the window grows.
func (w *window) slide(from int) {
	into, rest := w.buf, w.buf[from:w.n]
	if w.lent != nil {
		into = w.own
	}
	for len(rest) > (len(into)-padding)/2 {
		into = make([]byte, 2*len(into))
	}
	n := copy(into, rest)
	w.giveBack()
	w.buf, w.n, w.base = into, n, w.base+int64(from)
	if w.ring != nil {
		w.ring.update(func() { w.ring.base = w.base })
	}
	w.fill()
}

// lender lets text be read where it stands.
type lender interface {
	// release takes it back.
	release()
}

// borrow goes on in the first n bytes of buf, which has padding more; pos is their place
// in the input, and behind them it goes on in src.
func (w *window) borrow(from lender, buf []byte, n int, src io.ReaderAt, pos int64) {
	w.giveBack()
	w.lent, w.own, w.buf, w.n = from, w.buf, buf, n
	w.base, w.eof, w.err = pos, false, nil
	after := pos + int64(w.n)
	w.src = io.NewSectionReader(src, after, math.MaxInt64-after)
}

// giveBack gives back what was borrowed.
func (w *window) giveBack() {
	if w.lent != nil {
		w.lent.release()
		w.lent, w.buf, w.n = nil, w.own, 0
	}
}

// fill reads until the window is full or the input ends, so that what is in it
// does not depend on the sizes in which the source hands out its bytes.
func (w *window) fill() {
	if room := w.buf[w.n : len(w.buf)-padding]; len(room) > 0 && !w.eof {
		got, err := readFull(w.src, room)
		w.n += got
		if w.eof = err != nil; err != io.EOF {
			w.err = err
		}
	}
	clear(w.buf[w.n : w.n+padding])
}

// open goes on at the place pos of src, which gives the bytes of the whole input.
func (w *window) open(src io.ReaderAt, pos int64) {
	w.src = io.NewSectionReader(src, pos, math.MaxInt64-pos)
	w.base, w.n, w.eof, w.err = pos, 0, false, nil
	w.fill()
}

// jump is open for a place that may be in the window: then src need not have it any
// more.
func (w *window) jump(src io.ReaderAt, pos int64) {
	if i := pos - w.base; i >= 0 && i <= int64(w.n) {
		w.slide(int(i))
		return
	}
	w.open(src, pos)
}

// at is the place of buf[i] in the input.
func (w *window) at(i int) int64 { return w.base + int64(i) }

// space returns the place of the first byte from i on that is not white space,
// reading on where the window ends; its own place may move.
func (w *window) space(i int) int {
	for {
		i = skipSpace(w.buf, i)
		if i < w.n || w.eof {
			return i
		}
		w.slide(i)
		i = 0
	}
}

// has tells whether text stands at i, as far as the window shows.
func (w *window) has(i int, text string) bool {
	return i <= w.n && bytes.HasPrefix(w.buf[i:w.n], []byte(text))
}
