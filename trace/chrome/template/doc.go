// Package template holds what is learned of a trace while it is read. Most events repeat
// the byte layout of an earlier one: between two values that vary, a writer puts the same
// bytes over and over, commas, space, keys, and values such as the phase, the category
// and the ids of process and thread. Such a stretch is a Field; it is read by the rules
// once and recognised by its bytes from then on. Where the fields of an event end, all
// that its bytes say, apart from the values, is known: an Event.
//
// A template only ever holds what the rules accepted at this point of an event, so a match
// needs no validation, and what does not match is read by the rules again. Nothing here
// parses JSON, and nothing is shared between goroutines: each reader learns for itself.
//
//	field.go    Field: a field template, and which fields follow it
//	table.go    Table: all fields, learned and forgotten
//	event.go    Event: an event template, and where its arguments are stored
//	pattern.go  pattern: a text that is compared a word at a time
//	gap.go      Gap: what stands between two events
//	values.go   Values: the value cache, of strings and lists
//	names.go    Names: the cache of names
//	ids.go      Labels, Cats, Tracks: caches of what a trace uses few of
package template
