// Package pool reads the event list of a large input ahead, on several goroutines.
//
// Workers read chunks of it, each from where an event seems to begin. Whether one does
// cannot be told from the bytes around a place, because they may stand within a string.
// So what a worker has read, a Run of events, is taken over only if it begins exactly
// where the owner of the Pool has arrived, which is where an event begins for certain;
// then all of the run is certain, and where it stopped is the next such place. From
// wherever that fails the owner reads by itself until it arrives at the beginning of a
// run. So the result is that of one reader alone, whatever workers did.
//
//	pool.go    Pool: chunks given out, runs put in order and handed over
//	worker.go  worker: one goroutine, its reader and the chunk it reads
//	find.go    where an event seems to begin
//	panics.go  panics of workers, counted
package pool
