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
