// Package compare says what changed between two runs, of which each is one or more
// reports: the time of a step, the structure, which is exact, and the times of each kind of step,
// with medians as golang.org/x/perf/benchmath has them. It reads reports alone, so a
// report that was kept compares as well as a trace.
//
// Where things are:
//
//	diff.go      Diff and its parts, the contract gaprof.diff/1; schema.go its JSON Schema
//	between.go   Between, which makes one
//	side.go      the reports of a side, their steps pooled by kind
//	match.go     which kind of step of one side is which of the other
//	settings.go  what the sides are unlike in, and how they are set up
//	moves.go     collectives that moved to another launch site
//	rest.go      what is launched on one side only, paired
//	order.go     the order of kernels in a group
//	passes.go    gradient passes
//	findings.go  findings that came or went
//	steptime.go  the change of step time, which comes first
//	figures.go   times, and whether their change is significant
//	utest.go     P: the Mann-Whitney U test, exact with ties
//	samples.go   Match, for a gate that compares values of its own
//	gap.go       GapOf, the answers of one report in figures
package compare
