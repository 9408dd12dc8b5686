// Package facts derives from the index of a trace, once, what rules and reports speak
// of: which rank it is, which bucket every nanosecond of a step belongs to, where
// collectives are launched and how much of them is hidden behind compute, what the
// gradients and the losses of the program are made of.
//
// A [Rank] is a value. It holds no reference into the trace: the events that evidence
// needs are copied, and written down and read back it gives the same report. Nobody
// writes to it once [Compute] has returned it; what only he can say who sees all ranks of
// a run (their numbers, which steps were asked for) stands beside it in package analyze.
//
// The definitions are those of docs/definitions.md. All times are integer
// nanoseconds, intervals are half-open, and devices are summed, never united.
// What a trace cannot tell is a nil pointer, -1 or Unknown, never a guess.
//
// The files:
//
//	facts.go          Rank and Step: all of it together, and what is computed beside what
//	identity.go       which rank of which run
//	activity.go       devices, and how far their events are joined to launches
//	communication.go  collectives: kind, message, launch site
//	group.go          collectives of one kind, site and step; inferred sites
//	overlap.go        how long communication is busy, hidden and exposed
//	updates.go        what optimizers do: their spans, clearing of gradients
//	warmup.go         compilation and loading by step
//	loss.go           how the loss is made
//	tokennotes.go     token counts that the program wrote into the trace
//	phase.go          the phase of a step that a device event is launched in
//	doubt.go          signs that the recording is not what it seems
//	texts.go          all texts of a Rank, for copying them
package facts
