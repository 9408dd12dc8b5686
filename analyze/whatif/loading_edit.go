package whatif

import "github.com/gaprof/gaprof/trace/graph"

// hideDataLoading fetches batches beside the training loop.
var hideDataLoading = Edit{
	Name:   "hide-data-loading",
	Title:  "the batch is there when the loop asks for it",
	How:    "DataLoader(num_workers=..., prefetch_factor=..., persistent_workers=True), cheaper transforms",
	Limit:  "the workers keep up, take no time from the loop's threads, and handing a batch over costs nothing",
	margin: 0.35, // measured on PyTorch's sample: workers compete with the loop for the host's cores
	refuse: func(w *World, _ string) string {
		for _, r := range w.Ranks {
			for n, ns := range r.Loading {
				if ns > 0 && r.Step[n] >= 0 {
					return ""
				}
			}
		}
		return "no data loading was recorded on the threads of the training loop"
	},
	apply: func(c *Change, _ string) {
		c.calls(func(rank int, n, own graph.Node) {
			c.think(n, -c.Ranks[rank].Loading[own])
		})
	},
}

// calls calls do for the calls of all ranks: with the number in the graph of all and their own.
func (c *Change) calls(do func(rank int, n, own graph.Node)) {
	for rank, r := range c.Ranks {
		for own, what := range r.What {
			if what == Call {
				do(rank, c.nodes[rank]+graph.Node(own), graph.Node(own))
			}
		}
	}
}

// think makes the host take so many ns more before a call, or less, but never less than none.
func (c *Change) think(n graph.Node, by int64) {
	e := c.G.Before[n]
	if e == graph.None {
		return // what comes before the first call is not in the recording
	}
	if c.G.Lag[e] > 0 {
		c.G.Lag[e] = max(0, c.G.Lag[e]+by)
	}
}
