package main

import "runtime/debug"

// The collector runs when the heap has grown by so many percent. Where a file is large
// nearly all of the heap is columns without pointers, which cost the collector nothing
// to look at, so it may run often and keep the heap close to what is in use. Where files
// are small it would run all the time: to save next to nothing, or, of many files, to go
// over the facts of all that were read before.
const (
	gcOfLarge = 20
	gcOfSmall = 100
	smallText = 32e6 // bytes of text
)

// tuneCollector adapts the collector to what is to be read.
func tuneCollector(jobs []*job) {
	largest := int64(0)
	for _, j := range jobs {
		largest = max(largest, j.text)
	}
	if largest < smallText {
		debug.SetGCPercent(gcOfSmall)
	}
}
