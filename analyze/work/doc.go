// Package work says what a device does between the collectives that hold up its compute:
// how long it is idle, by cause, and which kernels run, by name and shape. It is kept of
// every rank, so that a rank that comes late can be compared with those that wait for it.
//
// A device is cut at the ends of collectives at which it computes nothing: what follows
// waited for them on every rank, so between two such cuts all ranks of a group do the same
// part of the program. What lies between two cuts is a [Stretch].
//
// The files, from the bottom up:
//
//	garbage.go  when Python collects garbage
//	kernels.go  kernels by name and shape
//	work.go     cuts, and the stretches between them
package work
