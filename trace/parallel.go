package trace

import (
	"runtime"
	"sync"
)

// leastShare is how many rows are worth a goroutine.
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
