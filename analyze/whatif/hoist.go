package whatif

import (
	"github.com/gaprof/gaprof/analyze/gradients"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace/graph"
)

// hoistReduceScatter is the edit of PR 149 of modded-nanogpt: an optimizer that reduces gradients
// itself does so in hooks of the gradients.
var hoistReduceScatter = Edit{
	Name: "hoist-reduce-scatter", Arg: "OPTIMIZER",
	turn:  turnMove,
	Title: "launch the reduce-scatters of an optimizer when their gradients are ready",
	How: "register_post_accumulate_grad_hook on each parameter, which calls reduce_scatter_tensor(async_op=True) " +
		"in the last micro-batch; the optimizer waits for the work",
	Part:   true, // gradients that are packed stay where they are
	Limit:  "the host is far enough ahead; waiting for late peers stays with the place in the order of collectives",
	refuse: refuseHoist, apply: applyHoist,
}

// refuseHoist says why nothing can be launched earlier.
func refuseHoist(w *World, optimizer string) string {
	scatters, launched := 0, 0
	for _, r := range w.Ranks {
		if r.OnCompute {
			return "reduce-scatters run on a stream of compute: they need one of their own first"
		}
		for i := range r.Hoists {
			if optimizer == "" || r.Hoists[i].Optimizer == optimizer {
				return touched(r, &r.Hoists[i])
			}
		}
		for i := range r.Facts.Collectives {
			c := &r.Facts.Collectives[i]
			scatters += oneIf(c.Kind == timeline.ReduceScatter)
			launched += oneIf(c.Kind == timeline.ReduceScatter && c.Site.Site == timeline.SiteOptimizerStep)
		}
	}
	switch {
	case scatters == 0:
		return "there is no reduce-scatter on a device"
	case launched == 0:
		return "no reduce-scatter is launched in an optimizer step"
	case optimizer != "":
		return "no reduce-scatter of " + optimizer + " is of one gradient by size and dtype"
	}
	return "no reduce-scatter of an optimizer is of one gradient by size and dtype: " +
		"shapes were not recorded, or gradients are packed"
}

// touched says that gradients are changed between backward and their reduce-scatters.
func touched(r *Rank, h *Hoist) string {
	for i := range r.Facts.Passes {
		p := &r.Facts.Passes[i]
		if int32(p.Step) == h.Step && (p.Optimizer == "" || p.Optimizer == h.Optimizer) && changes(p.Kind) &&
			p.HostStart < r.Start[r.Before[h.Moved[0]]] {
			return "gradients are changed (" + string(p.Kind) + ") between backward and the reduce-scatters"
		}
	}
	return ""
}

func changes(k gradients.PassKind) bool {
	return k == gradients.ScalePass || k == gradients.ClipPass || k == gradients.UnscalePass
}

// applyHoist launches the reduce-scatters of optimizers when their gradients are ready.
func applyHoist(c *Change, optimizer string) {
	for rank, r := range c.Ranks {
		for i := range r.Hoists {
			if h := &r.Hoists[i]; optimizer == "" || h.Optimizer == optimizer {
				c.hoist(rank, h)
			}
		}
	}
}

// hoist moves the reduce-scatters of one step of a rank.
func (c *Change) hoist(rank int, h *Hoist) {
	r, base := c.Ranks[rank], c.nodes[rank]
	for _, own := range h.Moved {
		n := base + own
		c.moved = append(c.moved, n)
		ready := h.Ready[own]
		c.cutInto(n)
		c.G.Connect(base+ready, n, graph.Event, r.Usual[classEventComm])
		if call := r.Before[ready]; call != graph.None {
			c.G.Connect(base+call, n, graph.Launch, r.Usual[classLaunch])
		}
	}
	if len(c.Ranks) == 1 {
		c.waitAtPlaces(h)
	}
	c.G.Reorder(c.at(rank, h.After), c.all(rank, h.Order), c.at(rank, h.Then), func(graph.Node) int64 {
		return r.Usual[classOrderComm]
	})
}

// cutInto cuts the edges into a node that are not the order of its stream.
func (c *Change) cutInto(n graph.Node) {
	for _, e := range c.base.In(n) {
		if c.G.Kind[e] != graph.Order {
			c.G.Cut(e)
		}
	}
}

// waitAtPlaces leaves the waiting for peers of a single rank at the places where it was: all
// ranks move alike, and whatever comes first waits for those that are late.
func (c *Change) waitAtPlaces(h *Hoist) {
	r := c.Ranks[0]
	transfer := r.Transfer
	wait := make([]int64, len(h.Was))
	for i, n := range h.Was {
		wait[i] = c.G.Work[n] - transfer[r.Collective[n]]
	}
	for i, n := range h.Order {
		c.G.Work[n] = transfer[r.Collective[n]] + wait[i]
	}
}
