// Package event reads the events of a JSON trace into a trace.Builder, one after the
// other, from a place where one begins. Most repeat the layout of an earlier one and are
// read by what was learned from it, in one loop; all others, and every first one, go by
// the rules of package token. Both ways say the same of every event.
//
//	reader.go  Reader: one event or entry, accepted with what was noted of it
//	values.go  the values of the keys of an event, by the rules
//	args.go    its arguments
//	learn.go   from one value that varies to the next, by the rules, learned
//	repeat.go  the loop over events that repeat an earlier one
//	rows.go    what an event becomes: a row, or a name of a process or thread
//
// Whoever owns a Reader finds where events begin and end their list: it knows neither
// documents nor other readers.
package event
