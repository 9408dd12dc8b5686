// Package idle says why a device does nothing: every nanosecond of a step in which no
// kernel, copy or set runs is charged to one [Cause], so that the causes of a step sum
// to the idle time of its ledger exactly.
//
// A gap is idle time between two moments at which activity starts. What ends it was
// launched by a host call; before that call began the host was late, and what it did
// then is the cause; from the call's end on the launch was on its way or queued. Waits of
// the host for the device are charged later, where they show: see debt.go.
//
// The files, from the bottom up:
//
//	cause.go    causes, and what is charged to them in a window
//	names.go    what the names of spans and calls say
//	threads.go  what some threads do when
//	host.go     which threads count for a gap
//	debt.go     the head start that waiting for the device has cost the host
//	finding.go  what is worth saying, and where to look
//	between.go  idle time between two moments
//	gap.go      gaps, their parts, and what each is charged to
//	idle.go     all windows of a rank
package idle
