package chrome

import (
	"bytes"
	"io"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gaprof/gaprof/internal/tracegen"
)

// failsFor is an input that panics when it is read, but not for ever.
type failsFor struct {
	io.ReaderAt
	left atomic.Int64
}

func (f *failsFor) ReadAt(p []byte, off int64) (int, error) {
	if f.left.Add(-1) >= 0 {
		panic("planted")
	}
	return f.ReaderAt.ReadAt(p, off)
}

// TestWorkersPanic: the result is that of one reader alone, and the panics are told, each
// of them and where they come from.
func TestWorkersPanic(t *testing.T) {
	for panics := range int64(4) {
		checkPanics(t, panics)
	}
}

func checkPanics(t *testing.T, panics int64) {
	t.Helper()
	text := generated(t, tracegen.AsIs, 600_000)
	traces, err := Read(bytes.NewReader(text), Options{})
	want := account(t, traces, err)
	src := &failsFor{ReaderAt: bytes.NewReader(text)}
	src.left.Store(panics)
	var workers int64
	var first string
	traces, err = Read(bytes.NewReader(text), Options{
		At: src, Size: int64(len(text)), chunk: 50_000,
		Panicked: func(n int64, what string) { workers, first = n, what },
	})
	planted.Add(panics)
	if got := account(t, traces, err); got != want {
		t.Error("another result than that of one reader alone")
	}
	said := strings.HasPrefix(first, "planted\n") && strings.Contains(first, "failsFor")
	if workers != panics || said != (panics > 0) {
		t.Errorf("told of %d workers: %s", workers, first)
	}
}

// TestFilesShrink: memory that is not there any more is no fault of the program; what it
// held is read again, and nobody is told of a panic.
func TestFilesShrink(t *testing.T) {
	text := generated(t, tracegen.AsIs, 600_000)
	traces, err := Read(bytes.NewReader(text), Options{})
	want := account(t, traces, err)
	traces, err = Read(bytes.NewReader(text), Options{
		At: &shrunk{ReaderAt: bytes.NewReader(text)}, Size: int64(len(text)), chunk: 50_000,
		Panicked: func(n int64, what string) { t.Errorf("told of %d workers: %s", n, what) },
	})
	if got := account(t, traces, err); got != want {
		t.Error("another result than that of one reader alone")
	}
}

// shrunk is an input whose first read fails as that of memory does that is not there.
type shrunk struct {
	io.ReaderAt
	again atomic.Bool
}

type memoryFault struct{}

func (memoryFault) Error() string { return "unexpected fault address" }
func (memoryFault) Addr() uintptr { return 1 << 20 }

func (s *shrunk) ReadAt(p []byte, off int64) (int, error) {
	if !s.again.Swap(true) {
		panic(memoryFault{})
	}
	return s.ReaderAt.ReadAt(p, off)
}
