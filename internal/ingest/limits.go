package ingest

import (
	"math"
	"runtime"
	"runtime/debug"
)

// Limits bound the cores and the memory that reading uses.
type Limits struct {
	Workers int   // files to read at a time, and cores to use; 0: all cores. At most MostWorkers
	Memory  int64 // bytes that the process may take; 0: DefaultMemory. At least LeastMemory
}

const (
	MostWorkers = 256  // bounds open files; more readers than this help nothing
	LeastMemory = 48e6 // bytes that the program needs to read anything
)

// DefaultLimits are all cores, and DefaultMemory.
func DefaultLimits() Limits { return Limits{}.orDefault() }

// orDefault fills in the fields that are zero.
func (l Limits) orDefault() Limits {
	if l.Workers == 0 {
		l.Workers = runtime.GOMAXPROCS(0)
	}
	if l.Memory == 0 {
		l.Memory = DefaultMemory()
	}
	l.Workers = min(l.Workers, MostWorkers)
	return l
}

// programText is the resident part of the program itself, of which the runtime does
// not know, in bytes.
const programText = 10e6

// Apply makes the runtime of the whole process keep to the limits; undo takes that back.
// It is for programs: Read alone keeps to its limits by what it starts, not by what the
// garbage collector has yet to free.
func (l Limits) Apply() (undo func()) {
	l = l.orDefault()
	limit := l.Memory
	if limit < math.MaxInt64 {
		limit -= programText
	}
	memory, cores := debug.SetMemoryLimit(limit), runtime.GOMAXPROCS(0)
	if l.Workers < cores {
		runtime.GOMAXPROCS(l.Workers)
	}
	return func() {
		debug.SetMemoryLimit(memory)
		if l.Workers < cores {
			runtime.GOMAXPROCS(cores)
		}
	}
}
