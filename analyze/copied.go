package analyze

import (
	"fmt"
	"slices"

	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/trace"
)

// markSwapped notes the ranks whose files are named after others of them: where names and traces
// each give every rank once, and the same ones, but not to the same files.
func markSwapped(list []*Rank, o *Options) {
	if o.RankOf == nil || o.FileFirst {
		return
	}
	named := make([]int64, len(list))
	said := make([]int64, len(list))
	for i, r := range list {
		id, ok := o.RankOf(r.File)
		if !ok || r.ID < 0 {
			return
		}
		named[i], said[i] = id, r.ID
	}
	if !slices.Equal(once(named), once(said)) || len(once(said)) != len(list) {
		return
	}
	for i, r := range list {
		if named[i] != said[i] {
			r.Problems = append(r.Problems, trace.Problem{Code: trace.SwappedRanks, Count: 1, Offset: -1,
				Detail: fmt.Sprintf("rank %d, in a file named after rank %d", said[i], named[i])})
		}
	}
}

// once are different numbers, ascending.
func once(numbers []int64) []int64 {
	list := slices.Clone(numbers)
	slices.Sort(list)
	return slices.Compact(list)
}

// markCopiedRanks notes ranks whose recording is that of another rank: two processes do not do
// everything in the same nanosecond. Times in whole microseconds are of examples, or too
// coarse to say so; ranks that are simulated may do the same, and their messages say which each is.
func markCopiedRanks(list []*Rank) {
	type begin struct{ first, last int64 }
	seen := make(map[begin]*Rank)
	for _, r := range list {
		at := begin{r.First, r.Last}
		switch of := seen[at]; {
		case of == nil:
			seen[at] = r
		case of.File != r.File && !(confirmed(of) && confirmed(r)) && sameRecording(of.Rank, r.Rank):
			r.Problems = append(r.Problems, trace.Problem{Code: trace.CopiedRank, Count: 1, Offset: -1,
				Detail: fmt.Sprintf("ranks %d and %d", of.ID, r.ID)})
		}
	}
}

// confirmed reports whether the messages of a rank are of the rank that its trace says.
func confirmed(r *Rank) bool { return slices.Equal(r.Senders, []int64{r.ID}) }

func sameRecording(a, b *facts.Rank) bool {
	window := func(x, y facts.Step) bool { return x.HostStart == y.HostStart && x.HostEnd == y.HostEnd }
	collective := func(x, y facts.Collective) bool { return x.Start == y.Start && x.End == y.End }
	exact := func(s facts.Step) bool { return s.HostStart%1000 != 0 || s.HostEnd%1000 != 0 }
	return a.DeviceEvents == b.DeviceEvents && slices.EqualFunc(a.Steps, b.Steps, window) &&
		slices.EqualFunc(a.Collectives, b.Collectives, collective) && slices.Equal(a.TokenNotes, b.TokenNotes) &&
		slices.ContainsFunc(a.Steps, exact)
}
