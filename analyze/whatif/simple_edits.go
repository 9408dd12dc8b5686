package whatif

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/gaprof/gaprof/trace/graph"
)

// freeCollective bounds what any overlap of communication with compute can gain.
var freeCollective = Edit{
	Name:  "free-collective",
	turn:  turnFree,
	Title: "collectives move their data in no time",
	How:   "no change reaches this: it bounds what overlapping communication with compute can gain",
	Limit: "peers are still waited for where the traces of all ranks are given; with one, the waiting is gone too",
	Bound: true,
	Peers: true,
	refuse: func(w *World, _ string) string {
		for _, r := range w.Ranks {
			if len(r.Kernel) > 0 {
				return ""
			}
		}
		return "there is no collective on a device"
	},
	apply: func(c *Change, _ string) {
		for rank, r := range c.Ranks {
			for _, n := range r.Kernel {
				if r.Step[n] >= 0 {
					c.G.Work[c.nodes[rank]+n] = 0
					if len(c.Ranks) == 1 {
						c.G.Group[n] = graph.None // of a bucket and its peers
					}
				}
			}
		}
	},
}

// cudaGraph bounds what a faster host gains.
var cudaGraph = Edit{
	Name:  "cuda-graph",
	turn:  turnHost,
	Title: "launching takes the host no time",
	How:   "torch.cuda.graph or torch.compile(mode=\"reduce-overhead\"), foreach or fused optimizers, larger batches",
	Limit: "the host does nothing but fetch batches and wait for the device; gaps between kernels stay",
	Bound: true,
	refuse: func(w *World, _ string) string {
		for _, r := range w.Ranks {
			for i := range r.Facts.Steps {
				for _, win := range r.Facts.Steps[i].Idle {
					if win.LaunchBound > 0 {
						return ""
					}
				}
			}
		}
		return "in no step the device waits for launches"
	},
	apply: func(c *Change, _ string) {
		c.calls(func(rank int, n, own graph.Node) {
			c.G.Work[n] = 0
			if e := c.G.Before[n]; e != graph.None && c.Ranks[rank].Step[own] >= 0 {
				c.G.Lag[e] = min(c.G.Lag[e], c.Ranks[rank].Loading[own])
			}
		})
		for e, kind := range c.G.Kind { // one launch of a graph takes one place in the queue
			if kind == graph.Queue && c.G.To[e] != graph.None {
				c.G.Cut(int32(e))
			}
		}
	},
}

// faster makes some kernels faster.
var faster = Edit{
	Name: "faster", Arg: "REGEX:FACTOR",
	turn:   turnScale,
	Title:  "device operations whose names match take less time",
	How:    "a better kernel, a smaller dtype, another library",
	Limit:  "all else stays, the clock of the device included",
	check:  func(arg string) error { _, _, err := parseFaster(arg); return err },
	refuse: refuseFaster,
	apply: func(c *Change, arg string) {
		pattern, factor, err := parseFaster(arg)
		if err != nil {
			return
		}
		for rank, r := range c.Ranks {
			hit := matching(r, pattern)
			transfer := r.Transfer
			r.ops(func(op graph.Node) {
				if !hit[r.Name[op]] || r.Step[op] < 0 {
					return
				}
				work := &c.G.Work[c.nodes[rank]+op]
				wait := int64(0)
				if i := r.Collective[op]; i >= 0 && len(c.Ranks) == 1 && c.G.Group[op] == graph.None {
					wait = max(0, *work-transfer[i]) // peers come no earlier
				}
				*work = wait + int64(float64(*work-wait)/factor)
			})
		}
	},
}

// parseFaster reads REGEX:FACTOR. The last colon divides the two.
func parseFaster(arg string) (*regexp.Regexp, float64, error) {
	at := strings.LastIndexByte(arg, ':')
	if at < 1 {
		return nil, 0, errors.New("write faster=REGEX:FACTOR, such as faster=gemm:1.5")
	}
	factor, err := strconv.ParseFloat(arg[at+1:], 64)
	if err != nil || !(factor > 0) || factor > 1e9 {
		return nil, 0, fmt.Errorf("%q is no factor: 1.5 makes operations take two thirds of their time", arg[at+1:])
	}
	pattern, err := regexp.Compile(arg[:at])
	return pattern, factor, err
}

func refuseFaster(w *World, arg string) string {
	pattern, _, err := parseFaster(arg)
	if err != nil {
		return "it needs a pattern and a factor: " + err.Error()
	}
	for _, r := range w.Ranks {
		hit := matching(r, pattern)
		for n, what := range r.What {
			if what == Op && hit[r.Name[n]] && r.Step[n] >= 0 {
				return ""
			}
		}
	}
	return fmt.Sprintf("no device operation of a recorded step matches %q", pattern)
}

// matching says of each name whether a pattern is found in it.
func matching(r *Rank, pattern *regexp.Regexp) []bool {
	hit := make([]bool, len(r.Names))
	for i, name := range r.Names {
		hit[i] = pattern.MatchString(name)
	}
	return hit
}
