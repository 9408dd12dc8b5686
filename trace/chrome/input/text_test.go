package input

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
)

// numbered is n bytes, none of them zero, of which no hundred are alike.
func numbered(n int) []byte {
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(1 + (i*7+i>>8)%255)
	}
	return data
}

// shows wants w to show the text from pos on, n bytes of it or, where n is negative, some, with
// padding behind it.
func shows(t *testing.T, what string, w *Window, data []byte, pos int64, n int) {
	t.Helper()
	if w.Base != pos || n >= 0 && w.N != n || n < 0 && w.N == 0 {
		t.Errorf("%s: %d bytes from %d on, want %d from %d on", what, w.N, w.Base, n, pos)
		return
	}
	if end := int(pos) + w.N; end > len(data) || !bytes.Equal(w.Buf[:w.N], data[pos:end]) {
		t.Errorf("%s: other bytes", what)
	}
	if !bytes.Equal(w.Buf[w.N:w.N+Padding], make([]byte, Padding)) {
		t.Errorf("%s: no padding", what)
	}
}

// toTheEnd reads on and wants the rest of the text.
func toTheEnd(t *testing.T, what string, w *Window, data []byte) {
	t.Helper()
	for !w.EOF {
		pos := w.At(w.N)
		w.Slide(w.N)
		shows(t, what, w, data, pos, min(w.N, len(data)-int(pos)))
	}
	if w.At(w.N) != int64(len(data)) {
		t.Errorf("%s: it ends at %d of %d: %v", what, w.At(w.N), len(data), w.Err)
	}
}

// fromOn is a text that can be had at any offset but before one.
type fromOn struct {
	data  []byte
	first int64
}

func (f fromOn) ReadAt(p []byte, off int64) (int, error) {
	if off < f.first {
		return 0, errors.New("not there any more")
	}
	return bytes.NewReader(f.data).ReadAt(p, off)
}

// TestWindowGrows: it doubles where more than half of it is kept, and only then.
func TestWindowGrows(t *testing.T) {
	data := numbered(6 * WindowSize)
	for keep, size := range map[int]int{0: 1, 100: 1, WindowSize / 2: 1, WindowSize/2 + 1: 2, WindowSize: 2} {
		w := NewWindow(bytes.NewReader(data))
		w.Fill()
		w.Slide(w.N - keep)
		if room := len(w.Buf) - Padding; room != size*WindowSize && room != size*(WindowSize+Padding)-Padding {
			t.Errorf("%d bytes kept: room for %d", keep, room)
		}
		shows(t, "grown", &w, data, int64(WindowSize-keep), len(w.Buf)-Padding)
	}
}

// TestNothingForAWhile: a source may give nothing a hundred times in a row, again and again.
func TestNothingForAWhile(t *testing.T) {
	for empty, want := range map[int]int{0: 5, 100: 5, 101: 0} {
		calls := 0
		w := NewWindow(readFunc(func(p []byte) (int, error) {
			if calls++; calls > 5*(empty+1) {
				return 0, io.EOF
			}
			if calls%(empty+1) != 0 {
				return 0, nil
			}
			p[0] = 'x'
			return 1, nil
		}))
		if w.Fill(); w.N != want || (w.Err == nil) != (want > 0) || !w.EOF {
			t.Errorf("%d times nothing: %d bytes, %v", empty, w.N, w.Err)
		}
	}
}

// TestHas: a text stands where all of it does, and not beyond the end.
func TestHas(t *testing.T) {
	w := NewWindow(strings.NewReader("abcabd"))
	w.Fill()
	for _, c := range []struct {
		i    int
		text string
		want bool
	}{{0, "abc", true}, {0, "abd", false}, {3, "abd", true}, {4, "bd", true}, {4, "bdx", false},
		{6, "a", false}, {6, "\x00", false}, {9, "a", false}} {
		if w.Has(c.i, c.text) != c.want {
			t.Errorf("%q at %d: %v", c.text, c.i, !c.want)
		}
	}
}

// TestEnd: what follows the new end is gone, for scans too.
func TestEnd(t *testing.T) {
	data := numbered(1000)
	w := NewWindow(bytes.NewReader(data))
	w.Fill()
	w.End(300)
	shows(t, "ended", &w, data[:300], 0, 300)
	if w.Slide(100); w.N != 200 || !w.EOF || w.Base != 100 {
		t.Errorf("%d bytes from %d on", w.N, w.Base)
	}
}

// TestJump: forward, what is in the window is taken from there and what is not from the text;
// what is before it is read again.
func TestJump(t *testing.T) {
	data := numbered(5 * WindowSize)
	for _, c := range []struct {
		pos, gone int64
	}{{1000, WindowSize + 1000}, {1500, WindowSize + 1000}, {WindowSize + 999, WindowSize + 1000},
		{WindowSize + 1000, WindowSize + 1000}, {WindowSize + 1001, 0}, {4 * WindowSize, 4 * WindowSize},
		{5 * WindowSize, 0}, {999, 0}, {0, 0}} {
		text := Text{At: fromOn{data, c.gone}, Size: int64(len(data))}
		w := NewWindow(nil)
		w.open(bytes.NewReader(data), 1000)
		w.src = io.NewSectionReader(text.At, 1000+int64(w.N), math.MaxInt64-1000-int64(w.N))
		text.Jump(&w, c.pos)
		shows(t, "jump", &w, data, c.pos, -1+b2i(c.pos == int64(len(data))))
		toTheEnd(t, "after a jump", &w, data)
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestRestart: the text is read once more from any place on, whatever ways there are to it.
func TestRestart(t *testing.T) {
	data := numbered(3 * WindowSize)
	for _, pos := range []int64{0, 1, WindowSize, 2*WindowSize + 77, int64(len(data))} {
		text := Text{At: bytes.NewReader(data), Size: int64(len(data))}
		w := NewWindow(bytes.NewReader(data))
		w.Fill()
		text.Restart(&w, pos)
		shows(t, "restart", &w, data, pos, -1+b2i(pos == int64(len(data))))
		toTheEnd(t, "after a restart", &w, data)

		stream := Text{Again: func() (io.Reader, error) { return bytes.NewReader(data), nil }}
		w = NewWindow(bytes.NewReader(data))
		stream.ReadAhead(&w, 3, 10_000)
		w.Fill()
		stream.Restart(&w, pos)
		if stream.IsReadAhead() {
			t.Error("the stream is still read ahead")
		}
		shows(t, "restarted stream", &w, data, pos, -1+b2i(pos == int64(len(data))))
		toTheEnd(t, "after a restart of the stream", &w, data)
		stream.Close()
	}
	gone := errors.New("gone")
	for _, again := range []func() (io.Reader, error){
		func() (io.Reader, error) { return nil, gone },
		func() (io.Reader, error) { return strings.NewReader("short"), nil },
	} {
		stream := Text{Again: again}
		w := NewWindow(bytes.NewReader(data))
		stream.ReadAhead(&w, 3, 10_000)
		w.Fill()
		if stream.Restart(&w, 100); w.N != 0 || !w.EOF || w.Err == nil {
			t.Errorf("a stream that cannot be read again: %d bytes, %v", w.N, w.Err)
		}
	}
}

// TestReadAhead: a stream that is read ahead is the same stream, in any number of segments.
func TestReadAhead(t *testing.T) {
	data := numbered(3*WindowSize + 5)
	for _, size := range []int64{1000, 4096, WindowSize, WindowSize + 1, 10 * WindowSize} {
		for _, n := range []int{2, 5} {
			var text Text
			w := NewWindow(bytes.NewReader(data))
			text.ReadAhead(&w, n, size)
			if k, s := text.Segments(); k != n || s != size || !text.IsReadAhead() {
				t.Errorf("%d segments of %d bytes", k, s)
			}
			w.Fill()
			shows(t, "read ahead", &w, data, 0, WindowSize)
			toTheEnd(t, "read ahead", &w, data)
			if text.ring.kept < int64(len(data)-2*WindowSize) {
				t.Errorf("the ring keeps what stands behind %d", text.ring.kept)
			}
			text.Close()
		}
	}
	var plain Text
	plain.Close()
	if plain.IsReadAhead() || plain.Chunks(5) != nil {
		t.Error("a stream that is not read ahead has chunks")
	}
}

// TestChunksOfFiles: chunk k begins at k times the size, and is read from somewhat before it.
func TestChunksOfFiles(t *testing.T) {
	data := numbered(500_000)
	for _, size := range []int64{10_000, 99_999, 500_000, 500_001} {
		for _, m := range []Mapped{nil, &inMemory{data: data}} {
			text := Text{At: bytes.NewReader(data), Size: int64(len(data)), Map: m}
			chunks := text.Chunks(size)
			end := int64(0)
			for end*size < int64(len(data)) {
				end++
			}
			if chunks.Size() != size || chunks.End() != end {
				t.Errorf("%d chunks of %d bytes", chunks.End(), chunks.Size())
			}
			w := NewWindow(nil)
			for k := range end {
				for _, before := range []int64{0, 64, 20_000} {
					if !chunks.Open(&w, k, before) {
						t.Fatalf("chunk %d is not there", k)
					}
					from, last := max(k*size-before, 0), (k+1)*size+overlap
					n := -1
					if m != nil && last+Padding <= int64(len(data)) {
						n = int(last - from)
					}
					shows(t, "chunk", &w, data, from, n)
				}
			}
			chunks.Open(&w, 0, 0)
			toTheEnd(t, "behind a chunk", &w, data)
			if w.Release(); m != nil && (m.(*inMemory).mapped != 0 ||
				int64(m.(*inMemory).read) > (3*size+20_064+size)*end) {
				t.Errorf("%d stretches left, %d bytes read", m.(*inMemory).mapped, m.(*inMemory).read)
			}
			if chunks.EndsBefore(end) {
				t.Error("a file is said to end")
			}
		}
	}
}

// TestReadMappedNeedsBoth: without the bytes behind the map nothing is read where it stands.
func TestReadMappedNeedsBoth(t *testing.T) {
	data := numbered(3 * WindowSize)
	for _, text := range []Text{{Map: &inMemory{data: data}}, {At: bytes.NewReader(data)}, {}} {
		w := NewWindow(bytes.NewReader(data))
		w.Fill()
		if text.ReadMapped(&w); w.ahead != nil {
			t.Errorf("%+v is read where it stands", text)
		}
	}
	m := &inMemory{data: data}
	w, maps := NewWindow(bytes.NewReader(data)), 0
	text := Text{At: bytes.NewReader(data), Size: int64(len(data)), Map: m}
	w.Fill()
	text.ReadMapped(&w)
	for !w.EOF {
		before := w.lent
		if w.Slide(w.N - 1000); w.lent != nil && w.lent != before {
			maps++
		}
	}
	if maps != 0 && maps > 1+len(data)/stretchSize {
		t.Errorf("mapped %d times", maps)
	}
}
