// Package ingest reads the trace files of a run, several at a time, within a budget of
// memory.
//
// A run of many ranks is many files, and all of them together are larger than memory.
// Read opens each, reads it with as many goroutines as are worth it, gives its traces to a
// Sink at once and forgets them; what the sink makes of a trace (its facts) is what stays.
//
//	result := ingest.Read(files, analysis, ingest.Options{Limits: ingest.Limits{Memory: 4e9}})
//	for _, f := range result.Failures { ... f.File, f.Err ... }
//
// # How files are scheduled
//
//  1. Each file is measured, and starts when a worker and the memory that it is expected
//     to take are free, in the order of the files.
//  2. A file that is more than half of all text takes all workers: its reader uses them
//     where it is large. Of several files each has one worker.
//  3. A file whose text turns out longer than expected, or whose tables turn out larger
//     than such a text's, takes more memory where there is some. Otherwise it gives up, and
//     is read again by itself behind all others. So is one for which the system has no
//     file handle left.
//  4. Failures are reported in the order of the files, whatever order they happened in.
//
// Nothing of this changes what is read: the same files give the same traces with any
// Limits, as long as each fits into the memory by itself.
//
// # What it does not know
//
// It knows no flags, no messages and no exit codes. Progress is an interface, failures are
// values: *TooLarge where there is not enough memory, else those of tracefile.Read. A
// panic of a reader is raised again in the goroutine that called Read, with the file it was
// reading.
//
// # Files
//
//	ingest.go    Read and ReadFile, their options and results
//	schedule.go  which file starts when, on how many workers
//	budget.go    workers and bytes that are handed out and come back
//	reserve.go   the memory that the reader of one file has taken of the budget
//	limits.go    Limits, and the runtime that keeps to them
//	memory.go    how much memory the machine, or the control group, has
//	collector.go how often the garbage collector runs
//	logs.go      logs beside traces, and the rank in the name of a file
package ingest
