package template

import (
	"slices"

	"github.com/gaprof/gaprof/trace"
)

// Event is what the bytes of a way through an event say, from its brace to its end,
// whatever the values between them are.
type Event struct {
	Phase   trace.Phase   // as trace.Row has it
	Cat     trace.Cat     // likewise
	Track   trace.TrackID // likewise
	NoDur   bool          // such an event has no duration
	TakesID bool          // its id links it to others

	args   []trace.Arg // of the last event, and where they are stored
	stored trace.Stored
	part   int  // of what is built, in which that holds
	varied bool // an event had others than the one before
}

// Store returns where the arguments of an event are stored in to: most events of a
// template have the same as the one before. part is the number of the part that to
// builds, 0 where it builds a trace.
func (e *Event) Store(args []trace.Arg, to *trace.Builder, part int) trace.Stored {
	if e.varied {
		return to.Store(args)
	}
	if e.part != part || !slices.Equal(e.args, args) {
		e.varied = e.part == part && e.args != nil
		e.args, e.stored = slices.Clone(args), to.Store(args)
		e.part = part
	}
	return e.stored
}
