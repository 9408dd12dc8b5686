package idle

import (
	"github.com/gaprof/gaprof/analyze/steps"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace"
)

// DrivingThreads are the threads of the training loop and of its backward passes, ascending.
// They count as one, because one is blocked while the other runs.
func DrivingThreads(x *timeline.Rank) []trace.TrackID { return newHost(x, &steps.Steps{}).driving }

// Loading is when the training loop fetches a batch, nil where it never does.
func Loading(x *timeline.Rank) *timeline.Set {
	h := newHost(x, &steps.Steps{})
	if len(h.driving) == 0 {
		return nil
	}
	h.read()
	return threads(x, h.means, h.driving, h.pageable)[loadsData]
}

// PageableCopies are the launches of copies from or to memory that may be swapped out,
// ascending: such a copy blocks the host although its call says Async.
func PageableCopies(x *timeline.Rank) []int32 { return pageableCopies(x) }
