// Package pool reads the event list of a large input ahead, on several goroutines.
//
// Workers read chunks of it, each from where an event seems to begin. Whether one really
// does cannot be told from the bytes nearby, because they may be part of a string. So what
// a worker has read, a Run of events, is used only if it begins exactly where the owner of
// the Pool has arrived, which is where an event begins for certain; then all of the run is
// certain, and so is the place where it stopped. Wherever that fails, the owner reads by
// itself until it arrives at the beginning of a run. So the result is always that of a
// single reader.
//
//	pool.go    Pool: hands out chunks, puts runs in order and hands them over
//	worker.go  worker: one goroutine, its reader and the chunk it reads
//	find.go    where an event seems to begin
//	panics.go  panics of workers, counted
package pool
