package chrome

import (
	"bytes"
	"sync/atomic"
	"testing"

	"github.com/gaprof/gaprof/internal/tracegen"
)

// counted is a text that counts what has been seen of it.
type counted struct {
	inMemory
	seen atomic.Int64
}

func (c *counted) Seen(from, to int64) { c.seen.Add(to - from) }

// TestMapped: what is read where it stands is told, and no more than there is.
func TestMapped(t *testing.T) {
	text := generated(t, tracegen.AsIs, 4_000_000)
	m := &counted{inMemory: text}
	_, err := Read(bytes.NewReader(text), Options{At: bytes.NewReader(text), Size: int64(len(text)), chunk: 300_000, Map: m})
	if err != nil || m.seen.Load() < 3_000_000 || m.seen.Load() > int64(len(text))+20*64 {
		t.Errorf("%d bytes were seen of %d, %v", m.seen.Load(), len(text), err)
	}
}

// TestMappedChanges: a worker that meets other bytes than the reader, because the file
// changes, or the end of what is mapped, leaves it to the reader.
func TestMappedChanges(t *testing.T) {
	text := generated(t, tracegen.AsIs, 2_000_000)
	traces, err := Read(bytes.NewReader(text[:1_500_000]), Options{})
	want := account(t, traces, err)
	zeroed := bytes.Clone(text)
	clear(zeroed[1_500_000:])
	traces, err = Read(bytes.NewReader(text[:1_500_000]), Options{
		At: bytes.NewReader(text[:1_500_000]), Size: int64(len(text)), chunk: 200_000, Map: inMemory(zeroed),
	})
	if got := account(t, traces, err); got != want {
		t.Errorf("%.500s\nwant\n%.500s", got, want)
	}
}
