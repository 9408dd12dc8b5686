package whatif

import (
	"fmt"
	"strconv"

	"github.com/gaprof/gaprof/internal/units"
	"github.com/gaprof/gaprof/trace/graph"
)

// hideDataLoading fetches batches beside the training loop.
var hideDataLoading = Edit{
	Name: "hide-data-loading", Arg: "WORKERS",
	turn:  turnFetch,
	Title: "the batch is there when the loop asks for it",
	How:   "DataLoader(num_workers=..., prefetch_factor=..., persistent_workers=True), cheaper transforms",
	Limit: "the workers keep up (with a number of them: each takes as long for a batch as the loop did), take no " +
		"time from the loop's threads, and handing a batch over costs nothing",
	check: func(arg string) error { _, err := parseWorkers(arg); return err },
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
	fitted: func(w *World, _ string) string { return loadingTime(w) },
	apply:  func(c *Change, arg string) { c.fetched(); c.limit(workersOf(arg), 1) },
	doubts: []func(c *Change, arg string){
		func(c *Change, arg string) { c.contend(); c.fetched(); c.limit(workersOf(arg), 1+besideWorker) },
		func(c *Change, arg string) { c.fetched(); c.limit(max(1, workersOf(arg)), 1) },
	},
}

// loadingTime says how long the batches of a step take to load, from which follows how many workers keep up.
func loadingTime(w *World) string {
	loading := make([][]int64, len(w.Ranks)) // by rank and step
	for rank, r := range w.Ranks {
		loading[rank] = make([]int64, len(r.Facts.Steps))
		for own, ns := range r.Loading {
			if s := r.Step[own]; s >= 0 {
				loading[rank][s] += ns
			}
		}
	}
	var list []int64
	for _, s := range w.steps {
		list = append(list, loading[s.rank][s.index])
	}
	if len(list) == 0 {
		return "no complete step was recorded"
	}
	of := "median of " + units.Count(len(list), "step")
	ms := float64(median(list)) / 1e6
	return fmt.Sprintf("loading takes %.2f ms per step (%s): 1 worker keeps up with steps of that length, "+
		"2 with %.2f ms, 4 with %.2f ms", ms, of, ms/2, ms/4)
}

// mostWorkers bounds numbers of workers: more are a typing error.
const mostWorkers = 1 << 16

// parseWorkers reads a number of workers, 0 for as many as it takes.
func parseWorkers(arg string) (int, error) {
	if arg == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(arg)
	if err != nil || n < 1 || n > mostWorkers {
		return 0, fmt.Errorf("%q is no number of workers: write hide-data-loading=4, or none for enough of them", arg)
	}
	return n, nil
}

// workersOf is parseWorkers of what it has accepted before.
func workersOf(arg string) int {
	n, err := parseWorkers(arg)
	if err != nil {
		return 0
	}
	return n
}

// fetched takes out the time in which the loop fetches batches.
func (c *Change) fetched() {
	c.calls(func(rank int, n, own graph.Node) { c.think(n, -c.Ranks[rank].Loading[own]) })
}

// limit makes batches come no faster than a number of workers load them, each of which takes as many times as
// long as the loop did; 0 workers are enough of them. Batches that are in stock when the recording begins count
// for nothing: in the long run they are used up.
func (c *Change) limit(workers int, slower float64) {
	if workers == 0 {
		return
	}
	for rank, r := range c.Ranks {
		before := graph.Node(graph.None)
		c.callsOf(rank, func(n, own graph.Node) {
			if r.Loading[own] <= 0 {
				return
			}
			if before != graph.None {
				apart := int64(slower * float64(r.Loading[own]) / float64(workers))
				c.G.Connect(before, n, graph.Time, apart-c.G.Work[before])
			}
			before = n
		})
	}
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

// pauseLess takes what an edit takes out of the time between two calls, or adds to it, also out of how long after
// there is room in a queue the second one begins: the host goes on as soon as the first has returned.
func (c *Change) pauseLess() {
	for e, kind := range c.Graph.Kind {
		to := c.G.To[e]
		if kind != graph.Queue || to == graph.None {
			continue
		}
		before := c.Graph.Before[to]
		if before == graph.None || c.G.Before[to] != before {
			continue
		}
		lag := c.Graph.Lag[e]
		c.G.Lag[e] = max(min(lag, makesRoom), lag+c.G.Lag[before]-c.Graph.Lag[before])
	}
}
