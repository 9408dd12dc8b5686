package whatif

import (
	"github.com/gaprof/gaprof/trace/graph"
)

// Fit is how well the graph of what was recorded explains it: the error of the replay, not of
// a prediction.
type Fit struct {
	Nodes, Edges int
	Span         int64 // ns from the first start to the last end, as recorded
	Replayed     int64 // ns: the same in the replay
	Worst        int64 // ns by which a start differs at most
	Gaps         int   // device operations that start more than 10 us later than their edges explain
	ComputeGaps  int   // those of Gaps on streams of compute
	WorstGap     int64 // ns: the longest of Gaps
	Usual        int64 // ns of span if each edge took its usual time, and no delay of its own
	Inferred     [graph.NumKinds]int
	Waits        Waits
	Queue        Queue // the deepest, and the sums of all ranks
}

// add adds what the graph of a rank does not explain.
func (f *Fit) add(r *Rank) {
	r.ops(func(op graph.Node) {
		if late := r.Late[op]; late > unexplained {
			f.Gaps++
			f.ComputeGaps += oneIf(r.Collective[op] < 0)
			f.WorstGap = max(f.WorstGap, late)
		}
	})
	for k, n := range r.Inferred {
		f.Inferred[k] += n
	}
	f.Queue.Depth = max(f.Queue.Depth, r.Queue.Depth)
	f.Queue.Blocked += r.Queue.Blocked
	f.Queue.Full += r.Queue.Full
	f.Waits.Recorded += r.Waits.Recorded
	f.Waits.Inferred += r.Waits.Inferred
	f.Waits.Unknown += r.Waits.Unknown
}

// usualTimes is the graph in which each edge into a device operation takes its usual time.
func usualTimes(w *World) *Change {
	c := w.change(AsRecorded)
	for rank, r := range w.Ranks {
		for e := range int32(r.Graph.Edges()) {
			if to := r.Graph.To[e]; to != graph.None && r.What[to] == Op {
				c.G.Lag[w.edges[rank]+e] = r.usually(e, &r.Usual)
			}
		}
	}
	return c
}

func oneIf(b bool) int {
	if b {
		return 1
	}
	return 0
}
