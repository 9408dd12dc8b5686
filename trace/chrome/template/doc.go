// Package template is what is learned of a trace while it is read. Most events repeat
// the byte layout of an earlier one: between two values that vary, a writer puts the same
// bytes over and over, commas, space, keys, and values such as the phase, the category
// and the ids of process and thread. Such a stretch is a Field; it is learned once by the
// rules and then recognised by its bytes. Where the fields of an event end, all that the
// bytes say is known, once and for all: an Event.
//
// What is learned only ever holds what the rules accepted at this place, so a hit needs
// no validation; what is new goes by the rules again. Nothing here reads JSON by itself,
// and nothing is shared between goroutines: each reader learns for itself.
//
//	field.go    Field: a field template, and which fields follow it
//	table.go    Table: all fields, learned and forgotten
//	event.go    Event: an event template, and where its arguments are stored
//	pattern.go  pattern: a text that is compared a word at a time
//	gap.go      Gap: what stands between two events
//	values.go   Values: the value cache, of strings and lists
//	names.go    Names: the cache of names
//	ids.go      Labels, Cats, Tracks: caches of what a trace uses few of
//
// template does not know where text comes from, nor what becomes of an event.
package template
