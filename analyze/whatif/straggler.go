package whatif

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gaprof/gaprof/trace/graph"
)

// noStraggler makes slow ranks as fast as the others.
var noStraggler = Edit{
	Name: "no-straggler", Arg: "RANK+RANK or all",
	Title: "a rank is as fast as the others at the same place of the program",
	How:   "remove what makes it late: ST001 says where the time goes",
	Limit: "calls of the host and device operations between two collectives take the median of the other ranks; " +
		"with all, that of all ranks",
	check: func(arg string) error { _, err := parseRanks(arg); return err },
	refuse: func(w *World, arg string) string {
		switch list, _ := parseRanks(arg); {
		case len(w.Ranks) < 2:
			return "it needs the traces of several ranks"
		case len(w.shared) < 2:
			return "the collectives of the ranks could not be matched"
		case len(list) > 0 && len(placesOf(w, list)) < len(list):
			return fmt.Sprintf("no trace of rank %s was given", arg)
		case arg == "" && w.Late < 0:
			return "no rank keeps the others waiting"
		}
		return ""
	},
	apply: func(c *Change, arg string) {
		list, _ := parseRanks(arg)
		slow := placesOf(c.World, list)
		switch {
		case arg == "all":
			for i := range c.Ranks {
				slow = append(slow, i)
			}
		case arg == "":
			slow = []int{c.Late}
		}
		c.even(slow)
	},
}

// parseRanks reads ranks joined by +; none for all and for nothing.
func parseRanks(arg string) ([]int64, error) {
	if arg == "" || arg == "all" {
		return nil, nil
	}
	var list []int64
	for _, part := range strings.Split(arg, "+") {
		n, err := strconv.ParseInt(part, 10, 64)
		if err != nil || n < 0 {
			return nil, fmt.Errorf("%q is no rank: write no-straggler=1, =1+2 or =all", part)
		}
		list = append(list, n)
	}
	return list, nil
}

// placesOf are the positions of ranks by their numbers in the run.
func placesOf(w *World, numbers []int64) []int {
	var list []int
	for i, n := range w.Numbers {
		if slices.Contains(numbers, n) {
			list = append(list, i)
		}
	}
	return list
}

// part is what a rank does between the launches of two collectives that all ranks have: calls of
// the host, and the ops that they launch, without collectives.
type part struct{ calls, ops []graph.Node }

// even gives slow ranks the median of the others, or of all if all are slow.
func (c *Change) even(slow []int) {
	var others []int
	for i := range c.Ranks {
		if !slices.Contains(slow, i) {
			others = append(others, i)
		}
	}
	if len(others) == 0 {
		others = slow
	}
	parts := make([][]part, len(c.Ranks))
	for i := range c.Ranks {
		parts[i] = c.parts(i)
	}
	trim(parts)
	for _, rank := range slow {
		for j := range parts[rank] {
			calls, ops := make([][]graph.Node, len(others)), make([][]graph.Node, len(others))
			for k, o := range others {
				calls[k], ops[k] = parts[o][j].calls, parts[o][j].ops
			}
			c.asOthers(parts[rank][j].calls, calls, c.paceOf, c.setPace)
			c.asOthers(parts[rank][j].ops, ops, c.workOf, c.setWork)
		}
	}
}

func (c *Change) workOf(n graph.Node) int64      { return c.Graph.Work[n] }
func (c *Change) setWork(n graph.Node, ns int64) { c.G.Work[n] = ns }

// paceOf is the time from the end of the call before to the end of a call, as recorded.
func (c *Change) paceOf(n graph.Node) int64 {
	if e := c.Graph.Before[n]; e != graph.None {
		return c.Graph.Lag[e] + c.Graph.Work[n]
	}
	return c.Graph.Work[n]
}

// setPace sets the gap so that a call ends so long after the one before.
func (c *Change) setPace(n graph.Node, ns int64) {
	if e := c.G.Before[n]; e != graph.None {
		c.G.Lag[e] = ns - c.G.Work[n]
	}
}

// asOthers gives each node the median of those at the same place on other ranks. Where the others
// have more or fewer nodes there, all are scaled to the median of the sums.
func (c *Change) asOthers(
	own []graph.Node, others [][]graph.Node, get func(graph.Node) int64, set func(graph.Node, int64),
) {
	same := slices.DeleteFunc(slices.Clone(others), func(o []graph.Node) bool { return len(o) != len(own) })
	if 2*len(same) >= len(others) {
		values := make([]int64, len(same))
		for i, n := range own {
			for k, o := range same {
				values[k] = get(o[i])
			}
			set(n, median(values))
		}
		return
	}
	sums := make([]int64, len(others))
	for k, o := range others {
		for _, n := range o {
			sums[k] += get(n)
		}
	}
	sum := int64(0)
	for _, n := range own {
		sum += get(n)
	}
	if sum <= 0 {
		return
	}
	factor := float64(median(sums)) / float64(sum)
	for _, n := range own {
		set(n, int64(float64(get(n))*factor))
	}
}

// parts cuts what a rank does at the launches of the collectives that all ranks have: what comes
// before the first, what comes between two, what comes after the last.
func (c *Change) parts(rank int) []part {
	r, base := c.Ranks[rank], c.nodes[rank]
	list := make([]part, len(c.shared)+1)
	cuts := make(map[graph.Node]bool)
	for _, members := range c.shared {
		if call := r.Before[members[rank]-base]; call != graph.None {
			cuts[call] = true
		}
	}
	of, loop := make(map[graph.Node]int), loopOf(c.World, rank)
	at := len(c.shared) - len(cuts) // the first ones were launched before the recording
	for own, what := range r.What {
		if what == Op || r.Graph.Resource[own] != loop {
			continue
		}
		list[at].calls = append(list[at].calls, base+graph.Node(own))
		of[graph.Node(own)] = at
		if cuts[graph.Node(own)] {
			at++
		}
	}
	r.ops(func(op graph.Node) {
		if r.Collective[op] < 0 && r.Before[op] != graph.None {
			if i, ok := of[r.Before[op]]; ok {
				list[i].ops = append(list[i].ops, base+op)
			}
		}
	})
	return list
}

// trim leaves of the parts that recordings begin and end with what all ranks have: recordings do
// not begin at the same place.
func trim(parts [][]part) {
	first := 0 // up to it some rank has no calls
	for _, list := range parts {
		first = max(first, slices.IndexFunc(list, func(p part) bool { return len(p.calls) > 0 }))
	}
	last := len(parts[0]) - 1
	least := func(at int) (calls, ops int) {
		calls, ops = len(parts[0][at].calls), len(parts[0][at].ops)
		for _, list := range parts {
			calls, ops = min(calls, len(list[at].calls)), min(ops, len(list[at].ops))
		}
		return calls, ops
	}
	calls, ops := least(first)
	for _, list := range parts {
		clear(list[:first])
		p := &list[first]
		p.calls, p.ops = p.calls[len(p.calls)-calls:], p.ops[len(p.ops)-ops:]
	}
	if first == last {
		return
	}
	calls, ops = least(last)
	for _, list := range parts {
		p := &list[last]
		p.calls, p.ops = p.calls[:calls], p.ops[:ops]
	}
}

// loopOf is the resource of the host's training loop: the one that launches most collectives.
func loopOf(w *World, rank int) int32 {
	r := w.Ranks[rank]
	for _, members := range w.shared {
		if call := r.Before[members[rank]-w.nodes[rank]]; call != graph.None {
			return r.Graph.Resource[call]
		}
	}
	return graph.None
}
