package input

import (
	"bytes"
	"io"
	"math"
	"sync"
)

const (
	// WindowSize is the length in bytes of a Window that never had to grow. It fits into
	// the cache of a core.
	WindowSize = 256 << 10
	// Padding is how many zero bytes follow the text of a Window, so that scans stop there
	// without checking for the end.
	Padding = 32
)

// Window is the part of an input that is in memory: Buf[:N], followed by Padding zero
// bytes. Its fields are exported for reading only, because scans look at every byte; the
// methods write to them.
type Window struct {
	Buf  []byte
	N    int   // bytes of text in Buf
	Base int64 // offset of Buf[0] in the input
	EOF  bool  // nothing follows Buf[:N]
	Err  error // why the input ended, if not by io.EOF

	src   io.Reader
	moved func(base int64) // told of each new Base, or nil
	lent  lender           // whose buffer Buf is; nil where it is the window's own
	own   []byte
	ahead func(from int) bool // slides in mapped text; or nil
}

// NewWindow returns an empty window of src; Fill is to be called first.
func NewWindow(src io.Reader) Window {
	return Window{src: src, Buf: buffers.Get().(*[WindowSize + Padding]byte)[:]}
}

// buffers are those of windows that were closed: of files by the thousand, each smaller than
// its window, the windows would be most of the work.
var buffers = sync.Pool{New: func() any { return new([WindowSize + Padding]byte) }}

// Close gives the memory of w back. Nobody may look at its text afterwards.
func (w *Window) Close() {
	w.Release()
	if len(w.Buf) == WindowSize+Padding {
		buffers.Put((*[WindowSize + Padding]byte)(w.Buf))
	}
	w.Buf, w.N = nil, 0
}

// Slide drops the text before index from and reads more: what was at from is at 0 now. If
// too little can be dropped the window grows.
func (w *Window) Slide(from int) {
	if w.ahead != nil && w.ahead(from) {
		return
	}
	into, rest := w.Buf, w.Buf[from:w.N]
	if w.lent != nil {
		into = w.own
	}
	for len(rest) > (len(into)-Padding)/2 {
		into = make([]byte, 2*len(into))
	}
	n := copy(into, rest)
	w.giveBack(from)
	w.Buf, w.N = into, n
	w.Base += int64(from)
	if w.moved != nil {
		w.moved(w.Base)
	}
	w.Fill()
}

// lender is whoever lent a window the buffer that it looks at.
type lender interface {
	// release takes the buffer back, of which so many bytes have been read.
	release(read int)
}

// borrow moves w to the first n bytes of buf, which are followed by padding; pos is their
// offset in the input, and what comes after them is read from src. Of the buffer that w had
// so far, read bytes have been read.
func (w *Window) borrow(from lender, buf []byte, n int, src io.ReaderAt, pos int64, read int) {
	w.giveBack(read)
	w.lent, w.own = from, w.Buf
	w.Buf, w.N = buf, n
	w.Base, w.EOF, w.Err = pos, false, nil
	after := pos + int64(w.N)
	w.src = io.NewSectionReader(src, after, math.MaxInt64-after)
}

// Release gives back what was borrowed of a segment or a mapped file, which leaves the
// window empty. It does nothing to a window that borrowed nothing.
func (w *Window) Release() { w.giveBack(w.N) }

// giveBack is Release after so many bytes of the buffer have been read.
func (w *Window) giveBack(read int) {
	if w.lent != nil {
		w.lent.release(read)
		w.lent, w.Buf, w.N = nil, w.own, 0
	}
}

// Fill reads until the window is full or the input ends, so that what is in it
// does not depend on the sizes in which the source hands out its bytes.
func (w *Window) Fill() {
	if room := w.Buf[w.N : len(w.Buf)-Padding]; len(room) > 0 && !w.EOF {
		got, err := readFull(w.src, room)
		w.N += got
		if w.EOF = err != nil; err != io.EOF {
			w.Err = err
		}
	}
	w.pad()
}

// pad puts the padding behind the text.
func (w *Window) pad() { clear(w.Buf[w.N : w.N+Padding]) }

// End makes index i the end of the input, whatever follows it. The text must not be
// borrowed of a segment, which others read.
func (w *Window) End(i int) {
	w.N, w.EOF = i, true
	w.pad()
}

// open moves w to the offset pos of src, which has the bytes of the whole input.
func (w *Window) open(src io.ReaderAt, pos int64) {
	w.Release()
	w.src = io.NewSectionReader(src, pos, math.MaxInt64-pos)
	w.Base, w.N, w.EOF, w.Err = pos, 0, false, nil
	w.Fill()
}

// At is the offset of Buf[i] in the input.
func (w *Window) At(i int) int64 { return w.Base + int64(i) }

// Has reports whether the window has text at index i.
func (w *Window) Has(i int, text string) bool {
	return bytes.HasPrefix(w.Buf[min(i, w.N):w.N], []byte(text))
}

// readFull reads until p is full or the input ends.
func readFull(r io.Reader, p []byte) (n int, err error) {
	for empty := 0; n < len(p) && err == nil; {
		var got int
		got, err = r.Read(p[n:])
		n += got
		if empty++; got > 0 {
			empty = 0
		}
		if err == nil && empty > 100 {
			err = io.ErrNoProgress
		}
	}
	return n, err
}
