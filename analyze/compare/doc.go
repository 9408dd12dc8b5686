// Package compare says what changed between two runs, of which each is one or more
// reports: first the structure, which is exact, then the times of each kind of step,
// with the statistics of golang.org/x/perf/benchmath. It reads reports alone, so a
// report that was kept compares as well as a trace.
package compare
