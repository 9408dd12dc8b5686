package whatif

import (
	"fmt"
	"strings"

	"github.com/gaprof/gaprof/internal/units"
	"github.com/gaprof/gaprof/trace/graph"
)

// foreachScale scales all gradients in one operation.
var foreachScale = Edit{
	Name:  "foreach-scale",
	turn:  turnMerge,
	Title: "a pass that scales one gradient after the other scales all of them at once",
	How:   "torch._foreach_mul_([p.grad for p in parameters if p.grad is not None], factor)",
	Limit: "one kernel moves all bytes as fast as those of the pass do, and one call launches it; PyTorch takes " +
		"one kernel for each 110 tensors, or 21 million elements",
	refuse: func(w *World, _ string) string {
		p := fusedPasses(w.change(AsRecorded), asFitted)
		if len(p.lists) > 0 {
			return ""
		}
		return p.reason()
	},
	apply: func(c *Change, _ string) { fuseScales(c, asFitted) },
	doubts: []func(c *Change, arg string){
		func(c *Change, _ string) { fuseScales(c, dearer) },
		func(c *Change, _ string) { fuseScales(c, cheaper) },
	},
	fitted: func(w *World, _ string) string { return fusedPasses(w.change(AsRecorded), asFitted).fitted() },
}

// fuseScales makes one operation of each scale pass that can be one.
func fuseScales(c *Change, doubt float64) {
	p := fusedPasses(c, doubt)
	for _, list := range p.lists {
		for _, n := range list[1:] { // what the host does before the first it still does
			rank, own := c.rankOf(n)
			if call := c.Ranks[rank].Before[own]; call != graph.None {
				c.think(c.nodes[rank]+call, -1<<62)
			}
		}
	}
	merge(c, p.lists, p.works)
}

// fusing finds scale passes that can be one operation.
type fusing struct {
	lists [][]graph.Node // by pass: its ops in the order of their stream
	doubt float64
	works []int64  // ns: what one op for all takes
	lines []string // what was fitted, by rank
	why   string   // why the last pass that cannot be one op cannot
	any   bool     // there is a scale pass
}

// fusedPasses finds the scale passes of a graph that can be one operation.
func fusedPasses(c *Change, doubt float64) *fusing {
	f := &fusing{doubt: doubt}
	used := firstUse(c, func(n graph.Node) bool {
		rank, own := c.rankOf(n)
		return c.Ranks[rank].What[own] == Op && c.Ranks[rank].Collective[own] < 0
	})
	for rank, r := range c.Ranks {
		var points []point
		for i := range r.Scales {
			for k, op := range r.Scales[i].Ops {
				points = append(points, point{r.Scales[i].Bytes[k], r.Graph.Work[op]})
			}
		}
		line, why := fitCost(points)
		if why == "" && len(r.Scales) > 0 {
			f.lines = append(f.lines, line.String())
		}
		for i := range r.Scales {
			f.pass(c, rank, &r.Scales[i], used, &line, why == "")
		}
	}
	return f
}

// pass adds one pass, or says why it cannot be one operation.
func (f *fusing) pass(c *Change, rank int, p *Pass, used map[graph.Node]int64, line *costLine, fits bool) {
	f.any = true
	list := c.all(rank, p.Ops)
	if c.gone[list[0]] {
		return
	}
	if f.why = apartBecause(c, p, list, used); f.why != "" {
		return
	}
	times, bytes, known := make([]int64, len(list)), int64(0), fits
	for i, n := range list {
		times[i], bytes = c.G.Work[n], bytes+p.Bytes[i]
		known = known && p.Bytes[i] > 0
	}
	sum, longest := total(times)
	work := sum // the bandwidth that the pass has as a whole
	if known {
		work = line.merged(bytes, longest, sum, f.doubt)
	}
	f.lists, f.works = append(f.lists, list), append(f.works, work)
}

// apartBecause says why the ops of a pass cannot be one, "" where they can.
func apartBecause(c *Change, p *Pass, list []graph.Node, used map[graph.Node]int64) string {
	switch {
	case len(list) < 2 || p.Calls < 2:
		return "gradients are scaled in one call already"
	case p.Hooks:
		return "each gradient is scaled right before it is reduced, or in backward: they are not ready together"
	}
	if p.Mixed {
		return "other operations run between those that scale"
	}
	last := list[len(list)-1]
	for i, n := range list[1:] {
		e := c.G.Before[n]
		if e == graph.None || c.G.From[e] != list[i] {
			return "other operations run between those that scale"
		}
		if at, ok := used[list[i]]; ok && at <= askedFor(c, last) {
			return "what is scaled is used before the pass is over"
		}
	}
	return ""
}

// reason says why no pass can be one operation.
func (f *fusing) reason() string {
	if !f.any {
		return "no pass scales gradients on a device"
	}
	return f.why
}

// fitted says what was fitted and from what.
func (f *fusing) fitted() string {
	ops := 0
	for _, list := range f.lists {
		ops += len(list)
	}
	text := fmt.Sprintf("%s become %d", units.Count(ops, "kernel"), len(f.lists))
	if len(f.lines) == 0 {
		return text + "; each takes as long as those that it replaces together: there are no two sizes to fit from"
	}
	return text + "; " + strings.Join(f.lines, "; ")
}
