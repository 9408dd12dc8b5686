package main

import "runtime/debug"

// The collector runs when the heap has grown by so many percent. Where there is much to
// read nearly all of the heap is columns without pointers, which cost the collector
// nothing to look at, so it may run often and keep the heap close to what is in use.
// Where there is little it would run all the time and save next to nothing.
const (
	gcOfLarge = 20
	gcOfSmall = 100
	smallText = 32e6 // bytes of text
)

// tuneCollector adapts the collector to what is to be read.
func tuneCollector(jobs []*job) {
	total := int64(0)
	for _, j := range jobs {
		total += j.text
	}
	if total < smallText {
		debug.SetGCPercent(gcOfSmall)
	}
}
