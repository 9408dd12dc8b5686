package pool

import (
	"fmt"
	"sync"
)

// Panics counts workers that panicked. Their chunks were read again by the owner of the
// pool: slower, not wrong.
type Panics struct {
	Workers int64  // how many
	First   string // what the first of them said, with its stack
}

// Add adds those of another pool.
func (p *Panics) Add(more Panics) {
	if p.Workers == 0 {
		p.First = more.First
	}
	p.Workers += more.Workers
}

// ofProgram is that of all pools.
var ofProgram panicLog

// AllPanics is how many workers panicked in this program. Tests end by asking it: all
// results are right without workers, so nothing else would tell of a fault in them.
func AllPanics() Panics { return ofProgram.get() }

// panicLog is written by workers.
type panicLog struct {
	mu  sync.Mutex
	all Panics
}

func (l *panicLog) get() Panics {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all
}

func (l *panicLog) add(p Panics) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all.Add(p)
}

// isFileFault reports whether a panic comes from memory that is not there: the end of a
// mapped file that has become shorter. That is no fault of the program, and the owner of
// the pool tells of it as of any end. The panic of a nil pointer has no such address.
func isFileFault(bug any) bool {
	_, ok := bug.(interface{ Addr() uintptr })
	return ok
}

// Panics is how many workers of p have panicked so far.
func (p *Pool) Panics() Panics { return p.panics.get() }

// countPanic counts what a worker recovered from.
func (p *Pool) countPanic(bug any, stack []byte) {
	if isFileFault(bug) {
		return
	}
	one := Panics{1, fmt.Sprintf("%v\n%s", bug, stack)}
	p.panics.add(one)
	ofProgram.add(one)
}
