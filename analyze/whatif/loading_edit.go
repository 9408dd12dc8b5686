package whatif

import "github.com/gaprof/gaprof/trace/graph"

// hideDataLoading fetches batches beside the training loop.
var hideDataLoading = Edit{
	Name:  "hide-data-loading",
	turn:  turnFetch,
	Title: "the batch is there when the loop asks for it",
	How:   "DataLoader(num_workers=..., prefetch_factor=..., persistent_workers=True), cheaper transforms",
	Limit: "the workers keep up, take no time from the loop's threads, and handing a batch over costs nothing",
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
	apply:  func(c *Change, _ string) { c.fetched() },
	doubts: []func(c *Change, arg string){func(c *Change, _ string) { c.contend(); c.fetched() }},
}

// fetched takes out the time in which the loop fetches batches.
func (c *Change) fetched() {
	c.calls(func(rank int, n, own graph.Node) { c.think(n, -c.Ranks[rank].Loading[own]) })
}

// besideWorker is how much slower the loop's thread runs beside a worker that has the other hardware thread of
// its core, the worst that happens while there is a core for each: two threads of a core get 1.25 times as much
// done as one (Marr et al., Hyper-Threading Technology Architecture and Microarchitecture, 2002: up to 1.3), so each
// takes 1.6 times as long.
const besideWorker = 0.6

// contend makes the calls of each step slower while a worker fetches the next batch, which it does as long as the
// loop did.
func (c *Change) contend() {
	for rank, r := range c.Ranks {
		loading, rest := make([]int64, len(r.Facts.Steps)), make([]int64, len(r.Facts.Steps))
		c.callsOf(rank, func(n, own graph.Node) {
			if s := r.Step[own]; s >= 0 {
				loading[s] += r.Loading[own]
				rest[s] += max(0, c.paceOf(n)-r.Loading[own])
			}
		})
		c.callsOf(rank, func(n, own graph.Node) {
			s := r.Step[own]
			if s < 0 || rest[s] == 0 {
				return
			}
			share := min(1, float64(loading[s])/float64(rest[s]))
			c.think(n, int64(besideWorker*share*float64(max(0, c.paceOf(n)-r.Loading[own]))))
		})
	}
}

// calls calls do for the calls of all ranks: with the number in the graph of all and their own.
func (c *Change) calls(do func(rank int, n, own graph.Node)) {
	for rank := range c.Ranks {
		c.callsOf(rank, func(n, own graph.Node) { do(rank, n, own) })
	}
}

// callsOf is calls for one rank.
func (c *Change) callsOf(rank int, do func(n, own graph.Node)) {
	for own, what := range c.Ranks[rank].What {
		if what == Call {
			do(c.nodes[rank]+graph.Node(own), graph.Node(own))
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
