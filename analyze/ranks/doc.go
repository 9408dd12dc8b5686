// Package ranks puts the traces of one run beside each other: which collective of
// one rank is which of another, how long each rank waits in them, and for whom.
//
// The duration of a communication kernel is transfer plus waiting for the rank that
// comes last; one trace alone cannot tell them apart. Everything here rests on the
// matching being right, so wherever it is in doubt there is no figure, and Group
// says why.
//
//   - sequence.go: the collectives of each rank by process group
//   - align.go, seq.go, gap.go: which of a rank is which of the reference
//   - group.go: a group as a whole, and what is missing on single ranks
//   - clock.go, wait.go: clocks, then transfer, wait and skew
//   - steps.go: whether the ranks show the same steps
package ranks
