package trace

import (
	"iter"
	"runtime"
	"sync"
	"testing"
)

// TestSplit: every row is done once, however many there are, on however many cores.
func TestSplit(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, cores := range []int{1, 2, 3, 8} {
		runtime.GOMAXPROCS(cores)
		for _, n := range []int{0, 1, leastShare - 1, leastShare, 2*leastShare - 1, 2 * leastShare, 5*leastShare + 3} {
			done := make([]int8, n)
			split(n, func(from, to int) {
				for i := from; i < to; i++ {
					done[i]++
				}
			})
			if at := notOnce(done); at >= 0 {
				t.Errorf("%d rows on %d cores: row %d %d times", n, cores, at, done[at])
			}
		}
	}
}

// TestShare: every item is done once, whoever takes it.
func TestShare(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, cores := range []int{1, 2, 8} {
		runtime.GOMAXPROCS(cores)
		for _, n := range []int{0, 1, 2, 7, 100} {
			for _, rows := range []int{n, 3 * leastShare, 20 * leastShare} {
				done, all := make([]int8, n), sync.Mutex{}
				share(n, rows, func(items iter.Seq[int]) {
					for i := range items {
						all.Lock()
						done[i]++
						all.Unlock()
					}
				})
				if at := notOnce(done); at >= 0 {
					t.Errorf("%d items of %d rows on %d cores: item %d %d times", n, rows, cores, at, done[at])
				}
			}
		}
	}
}

func notOnce(done []int8) int {
	for i, n := range done {
		if n != 1 {
			return i
		}
	}
	return -1
}
