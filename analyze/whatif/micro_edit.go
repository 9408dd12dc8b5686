package whatif

import "github.com/gaprof/gaprof/trace/graph"

// syncLastMicroBatch reduces gradients once per step.
var syncLastMicroBatch = Edit{
	Name:  "sync-last-micro-batch",
	turn:  turnRemove,
	Title: "gradients are reduced in the last micro-batch only",
	How: "no_sync() of DDP and FSDP1, set_requires_gradient_sync(False) of FSDP2, around all micro-batches but " +
		"the last",
	Limit: "gradients are kept whole until then, which takes memory where they are sharded",
	refuse: func(w *World, _ string) string {
		for rank, r := range w.Ranks {
			if len(again(w, rank)) > 0 {
				return ""
			}
			if len(r.Kernel) == 0 {
				return "there is no collective on a device"
			}
		}
		return "no gradients are reduced more than once per step"
	},
	apply: func(c *Change, _ string) {
		for rank := range c.Ranks {
			for _, own := range again(c.World, rank) {
				c.remove(rank, own)
			}
		}
	},
}

// again lists the collectives of a rank that reduce gradients which the last backward pass of the
// step reduces once more.
func again(w *World, rank int) []graph.Node {
	r := w.Ranks[rank]
	var list []graph.Node
	for i := range r.Facts.Collectives {
		asked := r.Facts.Collectives[i].Asked
		if asked < 0 {
			continue
		}
		if h := &r.Facts.HostCollectives[asked]; h.Gradient && h.Again {
			list = append(list, r.Kernel[i])
		}
	}
	return list
}
