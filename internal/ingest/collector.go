package ingest

import (
	"runtime"
	"runtime/debug"
	"sync/atomic"
)

// The collector runs when the heap has grown by so many percent. At first it waits for
// 16 MB, which any run may take: to go over less is for nothing. Where a file is large
// nearly all of the heap is columns without pointers, which cost the collector little to
// look at, so it may run often and keep the heap close to what is in use. Where files are
// small it would run all the time: to save next to nothing, or, of many files, to go over
// the facts of all that were read before.
const (
	gcAtFirst = 400 // of 4 MB
	gcOfLarge = 25
	gcOfSmall = 100
	smallText = 32e6 // bytes of text
)

// gcPercent is what counts from the first collection on.
var gcPercent atomic.Int64

// StartCollector sets up the garbage collector of a program that reads traces and ends: it
// waits at first, and behaves as for large files once it has run, or as Read finds best for
// the files that it is given. A program that does not call it keeps its own settings.
func StartCollector() {
	gcPercent.Store(gcOfLarge)
	debug.SetGCPercent(gcAtFirst)
	gone := func(int) { debug.SetGCPercent(int(gcPercent.Load())) }
	runtime.AddCleanup(new([32]byte), gone, 0) // nobody holds it: the first collection finds that out
}

// tuneCollector adapts the collector to what is to be read.
func tuneCollector(jobs []*job) {
	largest := int64(0)
	for _, j := range jobs {
		largest = max(largest, j.memory.text)
	}
	if largest < smallText {
		gcPercent.Store(gcOfSmall)
	}
}
