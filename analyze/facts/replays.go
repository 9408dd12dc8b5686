package facts

import (
	"github.com/gaprof/gaprof/analyze/gradients"
	"github.com/gaprof/gaprof/analyze/timeline"
)

// Number returns the sequence number by which the collective is the same on all ranks, -1
// unknown. A graph carries the numbers of its capture, which every replay repeats.
func (c *Collective) Number() int64 {
	if c.Replayed {
		return timeline.UnknownMessage.Seq
	}
	return c.Seq
}

// Captured returns the sequence number that a part of a graph had when that was captured,
// which tells the parts of the graph apart; -1 unknown, and for what no graph launched.
func (c *Collective) Captured() int64 {
	if c.Replayed {
		return c.Seq
	}
	return timeline.UnknownMessage.Seq
}

// hideSync says that nobody knows when gradients are reduced, where no span of the host shows
// it and graphs replay reductions: they may be those of the gradients.
func hideSync(r *Rank) {
	if r.Sync.Pattern != gradients.SyncNone {
		return
	}
	for i := range r.Collectives {
		c := &r.Collectives[i]
		elems := max(c.InElems, c.OutElems)
		if elems == 0 {
			elems = Unknown
		}
		reduces := c.Kind == timeline.AllReduce && elems == Unknown || r.Params.Reduces(c.Kind, elems, c.Site)
		if c.Replayed && reduces {
			r.Sync.Pattern, r.Sync.PerPass = gradients.SyncUnknown, nil
			return
		}
	}
}
