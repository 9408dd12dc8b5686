// Package lateness says why one rank enters collectives later than those that wait for it.
//
// Between two collectives that held up the compute of all ranks of a group, every rank does
// the same part of the program, and takes the same time for it: what one rank computes
// longer, or is idle longer, the others spend waiting for it in a collective. [Find] adds up
// such periods, if it is this rank that the others wait for in them, compares the
// rank with the median of the others, and takes the difference apart:
//
//	late = idle by cause + compute (slower, more) + copies + other communication + the rest
//
// The largest part is the cause if it is half of the whole. A rank that is late because it
// waits itself, in a collective of another group, has the rank that it waits for as its
// cause, and the lateness of that as the next link of the chain.
//
// All times come from the clock of the rank that they belong to: a collective that holds up
// compute ends on all ranks at once, so clocks need not agree.
//
// The files, from the bottom up:
//
//	cause.go    causes, and what is known of a late rank
//	measure.go  what one rank does in some periods
//	waits.go    how long it waits in collectives of other groups
//	periods.go  the periods of a group
//	kernels.go  slower kernels and more of them
//	judge.go    the cause
//	find.go     Find: all of it together, and the chain
package lateness
