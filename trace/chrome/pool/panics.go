package pool

import (
	"fmt"
	"sync"
	"sync/atomic"
)

// panics counts those of the workers of one pool.
type panics struct {
	mu    sync.Mutex
	n     int64
	first string
}

// all counts those of all pools of the program.
var all atomic.Int64

// Panics is how many panics of workers there were in this program that are faults of it:
// tests fail where there is one that they did not plant.
func Panics() int64 { return all.Load() }

func (p *panics) add(bug any, stack []byte) {
	if isFault(bug) {
		return
	}
	all.Add(1)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.n++; p.n == 1 {
		p.first = fmt.Sprintf("%v\n%s", bug, stack)
	}
}

// isFault reports whether a panic comes from memory that is not there: the end of a
// mapped file that has become shorter. That is the file's fault, and the owner of the
// pool tells of it as of any end. A nil pointer has no such address.
func isFault(bug any) bool {
	_, ok := bug.(interface{ Addr() uintptr })
	return ok
}

// Panics is how many workers of p panicked so far, and what the first of them said, with
// its stack. Their chunks were read again by the owner of the pool: slower, not wrong.
func (p *Pool) Panics() (n int64, first string) {
	p.panics.mu.Lock()
	defer p.panics.mu.Unlock()
	return p.panics.n, p.panics.first
}
