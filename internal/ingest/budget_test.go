package ingest

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/gaprof/gaprof/trace/tracefile"
)

// Workers and bytes are never given out twice, whoever asks, and all come back.
func TestBudget(t *testing.T) {
	b := newBudget(Limits{Workers: 3, Memory: ownMemory + 100})
	var readers, bytes, most atomic.Int64
	var wg sync.WaitGroup
	for i := range 200 {
		want := int64(1 + i*37%100)
		workers := 1
		if i%50 == 49 {
			workers = 3 // alone
		}
		if !b.take(workers, want) {
			t.Fatalf("%d bytes of 100 are refused", want)
		}
		wg.Go(func() {
			n := readers.Add(int64(workers))
			if sum := bytes.Add(want); n > 3 || sum > 100 {
				t.Errorf("%d workers and %d bytes are given out", n, sum)
			}
			most.Store(max(most.Load(), n))
			bytes.Add(-want)
			readers.Add(-int64(workers))
			b.give(workers, want, 0)
		})
	}
	wg.Wait()
	if b.workers != 3 || b.left() != 100 || most.Load() < 2 {
		t.Errorf("%d workers and %d bytes are left, at most %d readers", b.workers, b.left(), most.Load())
	}
}

// What cannot fit is refused once nobody else reads, and what is kept counts.
func TestBudgetRefuses(t *testing.T) {
	b := newBudget(Limits{Workers: 2, Memory: ownMemory + 100})
	if b.take(1, 101) {
		t.Error("more than there is")
	}
	if !b.take(1, 60) || b.grow(41) || !b.grow(40) {
		t.Error("growth")
	}
	b.give(1, 100, 30)
	if b.kept() != 30 || b.take(1, 71) || !b.take(1, 70) {
		t.Errorf("%d kept, %d left", b.kept(), b.left())
	}
}

// Of a stream neither length nor density is known before it is read: what is reserved
// follows both, and never less than what is there already.
func TestReserveStream(t *testing.T) {
	b := newBudget(Limits{Workers: 1, Memory: ownMemory + 200e6})
	r := b.reserve(tracefile.Size{Density: 2})
	if r.bytes != 2*unknownText+perFile || !b.take(1, r.bytes) {
		t.Fatalf("%d bytes at first", r.bytes)
	}
	for _, c := range []struct {
		text    int64
		density float64
		bytes   int64
		ok      bool
	}{
		{0, 0.5, 40e6, true},
		{20e6, 0.5, 40e6, true},         // there is room: the format is not so dense
		{20e6, 4, 100e6 + 8e6, true},    // with a quarter more
		{44e6, 4, 192e6 + 8e6, true},    // with what is left
		{44e6, 4.5, 192e6 + 8e6, false}, // too dense
	} {
		if err := r.grow(c.text, c.density); (err == nil) != c.ok || r.bytes != c.bytes {
			t.Errorf("%+v: %d bytes, error %v", c, r.bytes, err)
		}
	}
	if kept := r.facts(); kept <= 0 || kept >= r.bytes {
		t.Errorf("%d bytes are kept", kept)
	}
}

// What a text is reckoned to take and what so much memory is enough for are the same sum.
func TestNeed(t *testing.T) {
	for _, density := range []float64{0.25, 0.5, 3} {
		for _, text := range []int64{0, 1, 12_345_678, 5e9} {
			if got := textIn(needOf(text, density), density); got > text+1 || got < text-4 {
				t.Errorf("%d bytes of density %v: memory for %d", text, density, got)
			}
		}
	}
}
