package trace

import (
	"iter"
	"runtime"
	"sync"
	"sync/atomic"
)

// leastShare is how many rows are worth a goroutine. With less, starting it and waiting for
// it takes longer than what it does.
const leastShare = 1 << 14

// split calls do for stretches of [0, n) that together are all of it, at the same time
// where there are many rows. do must not panic.
func split(n int, do func(from, to int)) {
	parts := min(runtime.GOMAXPROCS(0), n/leastShare)
	if parts < 2 {
		do(0, n)
		return
	}
	var all sync.WaitGroup
	for k := range parts {
		all.Go(func() { do(k*n/parts, (k+1)*n/parts) })
	}
	all.Wait()
}

// share hands the items 0 to n-1 to do, which takes them one by one: several do at the
// same time where there are many rows. Tracks differ in length by orders of magnitude, so
// equal numbers of them for each core would leave most cores waiting. do must not panic.
func share(n, rows int, do func(items iter.Seq[int])) {
	var next atomic.Int64
	items := func(yield func(int) bool) {
		for i := int(next.Add(1)) - 1; i < n && yield(i); i = int(next.Add(1)) - 1 {
		}
	}
	parts := min(runtime.GOMAXPROCS(0), n, rows/leastShare)
	var all sync.WaitGroup
	for k := 1; k < parts; k++ {
		all.Go(func() { do(items) })
	}
	do(items)
	all.Wait()
}
