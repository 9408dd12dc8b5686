package ranks

import "slices"

// Status is how far a group was matched. Reports print its text.
type Status string

// The outcomes of matching a group.
const (
	Matched   Status = "matched"
	Unmatched Status = "unmatched" // Reason says why
	Alone     Status = "one_rank"  // one of its ranks was given: there is nothing to match
)

// Method is the evidence by which collectives of several ranks are taken for one.
type Method uint8

// The methods, best first. A collective has the weakest that applies to any of its ranks.
const (
	BySeq     Method = iota // every rank recorded its sequence number
	ByMessage               // every rank recorded its message
	ByName                  // of some rank only the name of the kernel is known
)

// Basis is what decided which collectives of the ranks of a group are the same. Reports
// print its text.
type Basis string

// The bases, best first. A group has the weakest of any of its ranks; "" is none, as where
// nothing was to be matched.
const (
	ByComms     Basis = "comms_id"        // the Comms Id and the sequence number: exact
	ByNumber    Basis = "sequence_number" // the sequence number: exact
	BySignature Basis = "signature"       // aligned by kernel, message and time
)

// bases are the bases by strength, best first.
var bases = []Basis{ByComms, ByNumber, BySignature}

// weaker is the weaker one of two bases, of which "" is the strongest.
func weaker(a, b Basis) Basis {
	if slices.Index(bases, a) > slices.Index(bases, b) {
		return a
	}
	return b
}
