// Package facts derives from the index of a trace, once, everything that rules and reports
// are about: which rank it is, which bucket every nanosecond of a step belongs to, where
// collectives are launched and how much of them is hidden behind compute, what the program
// does with its gradients and how it makes its loss.
//
//	for _, r := range facts.Compute(timeline.New(t)) {
//		all := r.Select(func(*facts.Collective) bool { return true })
//		fmt.Println(r.ID, len(r.Steps), r.Measure(all).Exposed()) // ns of exposed communication
//	}
//
// What holds for every [Rank]:
//
//   - It is a value without references into the trace: events that serve as evidence are
//     copied, texts are cloned, and written down and read back it gives the same report.
//     So the trace, which is far larger, can go as soon as Compute returns.
//   - Nobody writes to it after [Compute] has returned it. What takes all ranks of a run to
//     know (their numbers, which steps were asked for) is kept next to it, by package
//     analyze.
//   - The definitions are those of docs/definitions.md. Times are integer nanoseconds,
//     intervals are half-open, and devices are summed, never united: two devices that
//     are busy at the same time are busy twice.
//   - What a trace cannot tell is a nil pointer, -1 or Unknown, never a guess.
//
// [Phases] is the one thing here that needs the index again: it says of single device
// events in which phase of a step they were launched, for profiles and drawings.
//
// The files:
//
//	facts.go          Rank and Step: all of it together, and what is computed at the same time
//	identity.go       which rank of which run
//	activity.go       devices, and how far their events are joined to launches
//	communication.go  collectives: kind, message, launch site
//	group.go          collectives of one kind, site and step; inferred sites
//	overlap.go        how long communication is busy, hidden and exposed
//	updates.go        what optimizers do: their spans, where gradients are cleared
//	warmup.go         compilation and loading by step
//	loss.go           how the loss is derived from the losses of tokens
//	tokennotes.go     token counts that the program wrote into the trace
//	phase.go          the phase of a step that a device event is launched in
//	doubt.go          signs that the recording is not what it seems
//	recording.go      signs that device events are missing or their times wrong
//	texts.go          all texts of a Rank, for copying them
package facts
