package whatif

import (
	"sort"

	"github.com/gaprof/gaprof/analyze/gradients"
	"github.com/gaprof/gaprof/trace/graph"
)

// dropScalePass takes out passes that scale gradients.
var dropScalePass = Edit{
	Name:  "drop-scale-pass",
	Title: "gradients are not scaled in a pass of its own",
	How:   "leave it out where it is needless, else scale the loss, or hand the factor to clipping or the optimizer",
	Limit: "the factor costs nothing where it goes",
	refuse: func(w *World, _ string) string {
		for _, r := range w.Ranks {
			if len(r.Scales) > 0 {
				return ""
			}
		}
		return "no pass scales gradients on a device"
	},
	apply: func(c *Change, _ string) {
		for rank, r := range c.Ranks {
			for _, p := range r.Scales {
				for _, op := range p.Ops {
					c.remove(rank, op)
				}
			}
		}
	},
}

// remove takes an op and the call that launched it out: neither takes time, nor is there a gap
// before it.
func (c *Change) remove(rank int, op graph.Node) {
	n := c.nodes[rank] + op
	c.G.Work[n] = 0
	if e := c.G.Before[n]; e != graph.None {
		c.G.Lag[e] = min(0, c.G.Lag[e])
	}
	if call := c.Ranks[rank].Before[op]; call != graph.None {
		c.G.Work[c.nodes[rank]+call] = 0
		c.think(c.nodes[rank]+call, -1<<62)
	}
}

// Pass is the ops of one pass over gradients.
type Pass struct {
	Step int32
	Ops  []graph.Node
}

// scales lists the ops of passes that scale gradients.
func (b *builder) scales() {
	var computes []graph.Node
	for i := range b.f.Passes {
		p := &b.f.Passes[i]
		if p.Kind != gradients.ScalePass || !p.OnDevice {
			continue
		}
		if computes == nil {
			computes = b.computes()
		}
		from := sort.Search(len(computes), func(i int) bool { return b.calledAt(computes[i]) >= p.HostStart })
		to := sort.Search(len(computes), func(i int) bool { return b.calledAt(computes[i]) >= p.HostEnd })
		if from < to {
			b.r.Scales = append(b.r.Scales, Pass{int32(p.Step), computes[from:to]})
		}
	}
}
