// Package report holds the types of the contract gaprof.report/1: what gaprof says of
// some traces, as Go values and in the JSON form that other programs read. Package
// analyze makes a Report; compare, gate and render read one, and nothing else of the
// analysis, so that a report that was read from a file serves them as well as a fresh
// one.
//
// Every exported field has its place in the JSON form. Fields may be added to it and are
// never renamed. Integers are nanoseconds (_ns), bytes (_bytes) or counts; ratios are
// 0..1; what is unknown is null or "unknown", and a list without members is [] and not
// null. Times are on the clock of the trace they were read from, whose events say "ts".
// Names of enumerated values are strings, so that a reader of the JSON form needs no
// table: docs/definitions.md defines them.
//
// Where things are:
//
//	report.go         Report, the whole, and Exit
//	source.go         what was read, how far it can be believed, whose run it is
//	steps.go          optimizer steps and their ledgers
//	communication.go  collectives, their overlap and launch sites; the largest kernels
//	gradients.go      passes over the gradients, their verdicts, gradient synchronization
//	normalization.go  what a token counts in the gradients
//	waits.go          how long ranks wait for each other, and how they were matched
//	findings.go       what to change, the evidence, severity, rules that did not run
//	drawing.go        what figures need beyond the rest
//	read.go           reading the JSON form
//	schema.go         its JSON Schema
package report
