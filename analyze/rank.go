package analyze

import (
	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/trace"
)

// Rank is one rank of a run as sections of the report and rules see it: the facts of its
// trace, and around them what can only be said with the traces of all ranks. Facts are
// never written to; a Rank is complete before anyone looks at it.
type Rank struct {
	*facts.Rank

	ID       int64           // its number in the run, whatever the trace says
	Assigned bool            // nothing said ID: it tells nothing of membership in groups
	File     string          // that holds its trace
	Problems []trace.Problem // of its trace, its facts and its number, in this order

	from, to int // the steps that were asked for; half-open
	reduced  *ReducedRank
}

// Selected reports whether a step was asked for.
func (r *Rank) Selected(step int) bool { return step >= r.from && step < r.to }
