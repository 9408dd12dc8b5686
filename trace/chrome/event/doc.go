// Package event reads events of a JSON trace into a trace.Builder. Most repeat the byte
// layout of an earlier one and are read in one loop, by the templates that were learned
// from it; all others, and the first of each kind, are read by the rules of package token.
// Both give the same for every event.
//
//	reader.go  Reader: one event, or one entry of a list that may be none
//	values.go  the values of the keys of an event, by the rules
//	args.go    its arguments
//	learn.go   from one value that varies to the next, by templates or by the rules
//	repeat.go  the loop over events that repeat an earlier one
//	rows.go    what an event becomes: a row, or the name of a process or thread
//
// A Reader knows neither documents nor other readers: its owner finds where events begin
// and where their list ends.
package event
