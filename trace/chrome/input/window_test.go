package input

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

type readFunc func(p []byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

// TestWindowSlides: what is kept stands at the front, Padding behind it is zero,
// offsets go on.
func TestWindowSlides(t *testing.T) {
	data := make([]byte, 3*WindowSize)
	for i := range data {
		data[i] = byte(i*7 + i>>8)
	}
	w := NewWindow(bytes.NewReader(data))
	w.Fill()
	check := func(what string) {
		t.Helper()
		if !bytes.Equal(w.Buf[:w.N], data[w.Base:w.Base+int64(w.N)]) {
			t.Errorf("%s: other bytes", what)
		}
		if !bytes.Equal(w.Buf[w.N:w.N+Padding], make([]byte, Padding)) {
			t.Errorf("%s: no Padding", what)
		}
	}
	check("first")
	w.Slide(WindowSize - 100)
	check("slide")
	if w.Base != WindowSize-100 || w.N != WindowSize || w.At(5) != WindowSize-95 {
		t.Errorf("base %d, %d bytes", w.Base, w.N)
	}
	w.Slide(0)
	if check("growth"); w.N != len(w.Buf)-Padding && !w.EOF || w.N < WindowSize+1000 {
		t.Errorf("%d bytes after growth", w.N)
	}
	for !w.EOF {
		w.Slide(w.N / 2)
		check("rest")
	}
	if w.Base+int64(w.N) != int64(len(data)) || w.Err != nil {
		t.Errorf("ends at %d, %v", w.Base+int64(w.N), w.Err)
	}
}

func TestWindowErrors(t *testing.T) {
	w := NewWindow(io.MultiReader(strings.NewReader("abc"), iotest.ErrReader(io.ErrUnexpectedEOF)))
	if w.Fill(); !w.EOF || w.N != 3 || w.Err != io.ErrUnexpectedEOF {
		t.Errorf("%d bytes, %v", w.N, w.Err)
	}
	w = NewWindow(readFunc(func([]byte) (int, error) { return 0, nil }))
	if w.Fill(); !w.EOF || w.Err != io.ErrNoProgress {
		t.Errorf("a source that gives nothing: %v", w.Err)
	}
}

// inMemory is a Mapped that no file is behind; it counts what is mapped and what was read.
type inMemory struct {
	data         []byte
	mapped, read int
}

func (m *inMemory) Map(from, to int64, zeros int) ([]byte, func(int)) {
	if to+int64(zeros) > int64(len(m.data)) {
		return nil, nil
	}
	m.mapped++
	return append(bytes.Clone(m.data[from:to]), make([]byte, zeros)...), func(read int) {
		m.mapped--
		m.read += read
	}
}

// TestWindowMapped: a window that stands in a mapped text shows what one does that reads,
// also where it has to grow, to the end; all that was mapped is given back and counted.
func TestWindowMapped(t *testing.T) {
	defer func(old int) { stretchSize = old }(stretchSize)
	stretchSize = 10_000
	data := make([]byte, 2*WindowSize)
	for i := range data {
		data[i] = byte(1 + i*7 + i>>8)
	}
	m := &inMemory{data: data}
	text := Text{At: bytes.NewReader(data), Size: int64(len(data)), Map: m}
	w := NewWindow(bytes.NewReader(data))
	w.Fill()
	text.ReadMapped(&w)
	for step := 0; !w.EOF; step++ {
		from, at := w.N-w.N/8, w.At(w.N-w.N/8)
		if step%5 == 4 {
			from, at = 0, w.Base // an event that does not fit
		}
		before := w.N - from
		w.Slide(from)
		if w.Base != at || w.N <= before && !w.EOF || m.mapped > 1 {
			t.Fatalf("step %d: base %d, want %d, %d bytes after %d, %d mapped", step, w.Base, at, w.N, before, m.mapped)
		}
		text, zeros := w.Buf[:w.N], w.Buf[w.N:w.N+Padding]
		if !bytes.Equal(text, data[w.Base:w.Base+int64(w.N)]) || !bytes.Equal(zeros, make([]byte, Padding)) {
			t.Fatalf("step %d: other bytes", step)
		}
	}
	w.Release()
	if m.mapped != 0 || m.read == 0 || m.read > len(data) || w.Base+int64(w.N) != int64(len(data)) {
		t.Errorf("%d stretches left, %d bytes read of %d", m.mapped, m.read, len(data))
	}
}
