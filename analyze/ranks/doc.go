// Package ranks compares the traces of one run's ranks: which collective of one rank is
// which of another, how long each rank waits in them, and for whom.
//
// The duration of a communication kernel is transfer plus waiting for the rank that comes
// last, and one trace alone cannot separate the two. With the traces of all ranks
//
//	r := ranks.Match(sources, ranks.Options{})
//	for i, f := range r.Figures {
//		if f.Known {
//			fmt.Println(r.Sources[i].ID, f.Wait, f.Caused) // ns
//		}
//	}
//
// gives both, by process group ([Group]) and by rank ([Figures]). A Result is a value that
// refers to ranks by their position in the list of sources, since their numbers in the run
// may be missing or made up. Match reads the facts it is given and changes nothing in them.
//
// Everything rests on two things that may be wrong: the matching, and the clocks. Wherever
// either is in doubt there is no figure, and the Group says why:
//
//   - Collectives are matched by sequence number where all ranks recorded them (and by
//     Comms Id, where that is there too), else by order: training repeats itself, so
//     orders that fit are many, and the one whose collectives end at the same time must be
//     ten times better than the next.
//   - All ranks leave a collective at about the same time, so the median difference of
//     ends is the difference of clocks. A clock that is off by more than collectives last,
//     or drifts, leaves its group without figures.
//
// All ranks of a group are matched with a single reference rank rather than with each
// other, and an alignment looks at a bounded number of shifts, so the time is linear in
// the number of collectives, but for sorting.
//
// The files:
//
//	ranks.go     Match, Result, and the figures of each rank
//	sequence.go  the process group of each collective
//	collect.go   the sequences of all groups, and what is left out of them
//	item.go      one collective, and whether two can be the same
//	status.go    how far a group is matched, and by what
//	group.go     a group as a whole: reference rank, what all ranks have
//	evidence.go  what some ranks lack, and what differs under one number
//	align.go     a rank's sequence aligned with the reference, by order and time
//	seq.go       the same by sequence number and Comms Id
//	gap.go       the same with collectives missing in the middle
//	clock.go     residual and drift of clocks
//	wait.go      transfer, wait and skew
//	steps.go     whether the ranks recorded the same steps
package ranks
