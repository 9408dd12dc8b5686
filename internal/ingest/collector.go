package ingest

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
)

// The collector runs when the heap has grown by so many percent. At first it waits for
// 16 MB, which any run may take: collecting less is not worth it. Where a file is large,
// nearly all of the heap is columns without pointers, which cost the collector little to
// scan, so it may run often and keep the heap close to what is in use. Where files are
// small it would run all the time, and save next to nothing or, with many files, scan
// the facts of all files read before.
const (
	gcAtFirst = 400 // of 4 MB
	gcOfLarge = 25
	gcOfSmall = 100
	smallText = 32e6 // bytes of text
)

// gcPercent applies from the first collection on.
var gcPercent atomic.Int64

// StartCollector sets up the garbage collector of a program that reads traces and ends: it
// waits at first, and behaves as for large files once it has run, or as Read finds best for
// the files that it is given. A program that does not call it keeps its own settings.
func StartCollector() {
	gcPercent.Store(gcOfLarge)
	debug.SetGCPercent(gcAtFirst)
	gone := func(int) { debug.SetGCPercent(int(gcPercent.Load())) }
	runtime.AddCleanup(new([32]byte), gone, 0) // unreachable at once, so the first collection runs gone
}

// tuneCollector adapts the collector to what is to be read.
func tuneCollector(jobs []*job) {
	largest := int64(0)
	for _, j := range jobs {
		largest = max(largest, j.memory.text)
	}
	if largest < smallText {
		CollectSeldom() // it has run already where the files are many
	}
}

// CollectSeldom lets the heap double from one collection to the next: for a program that holds much that has
// pointers, such as what very many simulated ranks do, which takes the collector long to scan. It does nothing in a
// program that did not call StartCollector.
func CollectSeldom() {
	if gcPercent.Load() == 0 {
		return
	}
	gcPercent.Store(gcOfSmall)
	if before := debug.SetGCPercent(gcOfSmall); before == gcAtFirst { // the first collection is to come
		debug.SetGCPercent(before)
	}
}

// collectAsReached lets the heap grow, once its next collection is over, to where it was
// when reading ended: much of what reading needs is free then, and the memory is taken
// anyway. It does nothing in a program that did not call StartCollector.
func collectAsReached() {
	if gcPercent.Load() == 0 {
		return
	}
	reached := heapMetric("/gc/heap/goal:bytes")
	adapt := func(int) {
		if live := heapMetric("/gc/heap/live:bytes"); live > 0 {
			percent := int64(100*reached/live) - 100
			debug.SetGCPercent(int(min(max(percent, gcPercent.Load()), gcOfSmall)))
		}
	}
	runtime.AddCleanup(new([32]byte), adapt, 0)
}

// heapMetric reads a metric of the runtime that is a number of bytes.
func heapMetric(name string) uint64 {
	sample := []metrics.Sample{{Name: name}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
