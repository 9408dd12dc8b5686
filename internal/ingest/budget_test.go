package ingest

import (
	"sync"
	"sync/atomic"
	"testing"
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
