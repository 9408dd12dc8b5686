package whatif

import (
	"github.com/gaprof/gaprof/trace/graph"
)

// dropScalePass takes out passes that scale gradients.
var dropScalePass = Edit{
	Name:  "drop-scale-pass",
	turn:  turnRemove,
	Title: "gradients are not scaled in a pass of its own",
	How:   "leave it out",
	Limit: "the factor is one, or not wanted: the findings say whether the pass is needless",

	refuse: refuseScale, apply: applyScale,
}

// foldScale multiplies what is small instead.
var foldScale = Edit{
	Name:  "fold-scale",
	turn:  turnRemove,
	Title: "the factor of gradients goes into the loss, into clipping or into the optimizer",
	How: "divide the loss of each micro-batch by the number of tokens of the step, or pass the factor to " +
		"the clipping coefficient or grad_scale of a fused optimizer",
	Limit: "multiplying there costs nothing",

	refuse: refuseScale, apply: applyScale,
}

func refuseScale(w *World, _ string) string {
	for _, r := range w.Ranks {
		if len(r.Scales) > 0 {
			return ""
		}
	}
	return "no pass scales gradients on a device"
}

// applyScale takes out the ops of passes that scale gradients, and their launches.
func applyScale(c *Change, _ string) {
	for rank, r := range c.Ranks {
		for i := range r.Scales {
			p := &r.Scales[i]
			for _, op := range p.Ops[1:] {
				c.remove(rank, op)
			}
			dissolve(c, c.nodes[rank]+p.Ops[0]) // what the host does before the pass it still does
			c.think(c.nodes[rank]+r.Before[p.Ops[0]], -p.Lead)
		}
	}
}

// remove takes an op and the call that launched it out: neither takes time, nor is there a gap
// before it.
func (c *Change) remove(rank int, op graph.Node) {
	dissolve(c, c.nodes[rank]+op)
	r := c.Ranks[rank]
	if i := r.Collective[op]; i >= 0 && r.Asking[i] != (Asking{}) {
		return // dissolve has taken out what the host does for it
	}
	if call := r.Before[op]; call != graph.None {
		c.think(c.nodes[rank]+call, -1<<62)
	}
}
