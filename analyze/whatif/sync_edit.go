package whatif

import "github.com/gaprof/gaprof/trace/graph"

// dropHostSync lets the host go on where it waited for the device.
var dropHostSync = Edit{
	Name:  "drop-host-sync",
	turn:  turnFetch,
	Title: "the host never waits for the device",
	How: "read losses and norms a step later (non_blocking copies), pin_memory=True with non_blocking=True, " +
		"no synchronize(), item() or barrier in the loop",
	Limit: "what the host does next does not depend on what it waited for",
	Bound: true,
	refuse: func(w *World, _ string) string {
		for _, r := range w.Ranks {
			for n := range r.What {
				if r.What[n] == Return && r.Step[n] >= 0 && blocked(r, graph.Node(n)) {
					return ""
				}
			}
		}
		return "in no step a call of the host waits for the device"
	},
	apply: func(c *Change, _ string) {
		for rank, r := range c.Ranks {
			for e := range int32(r.Graph.Edges()) {
				if r.Graph.Kind[e] == graph.Sync && r.Graph.To[e] != graph.None && r.Step[r.Graph.To[e]] >= 0 {
					c.G.Cut(c.edges[rank] + e)
				}
			}
		}
	},
}

// blocked reports whether a call returned because the device was done.
func blocked(r *Rank, back graph.Node) bool {
	own := r.Graph.Lag[r.Graph.Before[back]]
	return r.End[back]-r.Start[back-1] > own
}
