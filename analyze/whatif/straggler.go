package whatif

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gaprof/gaprof/internal/bounded"
	"github.com/gaprof/gaprof/trace/graph"
)

// noStraggler makes slow ranks as fast as the others.
var noStraggler = Edit{
	Name: "no-straggler", Arg: "RANK+RANK or all",
	turn:  turnEven,
	Title: "a rank is as fast as the others at the same place of the program",
	How:   "remove what makes it late: ST001 says where the time goes",
	Limit: "between two collectives its calls and device operations take in all what is the median of the other " +
		"ranks there; with all, each rank takes the mean of all",
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
	apply: func(c *Change, arg string) { newEvening(c, arg).even(usualOf(arg)) },
	doubts: []func(c *Change, arg string){
		func(c *Change, arg string) { newEvening(c, arg).evenAs(slices.Min) },
		func(c *Change, arg string) { newEvening(c, arg).evenAs(slices.Max) },
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

// slowOf are the positions of the ranks that an argument names, and of those to take as an example: the
// others, or all if all are named.
func slowOf(w *World, arg string) (slow, others []int) {
	list, _ := parseRanks(arg)
	if slow = placesOf(w, list); arg == "" {
		slow = []int{w.Late}
	}
	for i := range w.Ranks {
		if arg == "all" {
			slow = append(slow, i)
		}
		if !slices.Contains(slow, i) {
			others = append(others, i)
		}
	}
	if len(others) == 0 {
		others = slow
	}
	return slow, others
}

// usualOf is what a rank takes between two collectives instead of its own time, of what others take.
func usualOf(arg string) func([]int64) int64 {
	if arg == "all" {
		return average // what all do in all stays the same, and is spread evenly
	}
	return median // one of the others may be late as well
}

// evening makes slow ranks as fast as others.
type evening struct {
	*Change
	arg          string
	slow, others []int
	parts        [][]part
}

func newEvening(c *Change, arg string) *evening {
	e := &evening{Change: c, arg: arg, parts: make([][]part, len(c.Ranks))}
	e.slow, e.others = slowOf(c.World, arg)
	for i := range c.Ranks {
		e.parts[i] = c.parts(i)
	}
	trim(e.parts)
	return e
}

// even gives slow ranks in each part what to makes of the times of the others.
func (e *evening) even(to func([]int64) int64) {
	calls, ops := make([][]graph.Node, len(e.others)), make([][]graph.Node, len(e.others))
	for _, rank := range e.slow {
		for j, p := range e.parts[rank] {
			for k, o := range e.others {
				calls[k], ops[k] = e.parts[o][j].calls, e.parts[o][j].ops
			}
			asOthers(p.calls, calls, to, e.paceOf, e.setPace)
			asOthers(p.ops, ops, to, e.workOf, e.setWork)
		}
	}
}

// evenAs makes slow ranks like one of the others in every part: the one whose host takes the least time in
// all, or the most, but none slower than it is. With all there is no other.
func (e *evening) evenAs(which func([]int64) int64) {
	if e.arg == "all" {
		e.even(average)
		return
	}
	total := make([]int64, len(e.Ranks))
	for rank := range e.Ranks {
		for _, p := range e.parts[rank] {
			total[rank] += sumOf(p.calls, e.paceOf)
		}
	}
	var of []int64
	for _, o := range e.others {
		of = append(of, total[o])
	}
	like := slices.Index(of, which(of))
	e.slow = slices.DeleteFunc(e.slow, func(rank int) bool { return total[rank] < of[like] })
	e.even(func(times []int64) int64 { return times[like] })
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

// asOthers makes what a rank does in one part take what to makes of the times of others there: each piece in
// proportion to its median on the others or, if they do not do the same there, to its own time. Medians of pieces
// alone would leave out the rare pauses that every rank has somewhere, and make a rank faster than any other.
func asOthers(
	own []graph.Node, others [][]graph.Node, to func([]int64) int64,
	get func(graph.Node) int64, set func(graph.Node, int64),
) {
	times := make([]int64, len(others))
	for k, o := range others {
		times[k] = sumOf(o, get)
	}
	pieces := piecesOf(own, others, get)
	sum := int64(0)
	for _, ns := range pieces {
		sum += ns
	}
	if sum <= 0 {
		return
	}
	factor := float64(to(times)) / float64(sum)
	for i, n := range own {
		set(n, int64(float64(pieces[i])*factor))
	}
}

// piecesOf are the medians of what others take for the same pieces, or the own times of a rank.
func piecesOf(own []graph.Node, others [][]graph.Node, get func(graph.Node) int64) []int64 {
	same := slices.DeleteFunc(slices.Clone(others), func(o []graph.Node) bool { return len(o) != len(own) })
	pieces, values := make([]int64, len(own)), make([]int64, len(same))
	for i, n := range own {
		if 2*len(same) < len(others) {
			pieces[i] = get(n)
			continue
		}
		for k, o := range same {
			values[k] = get(o[i])
		}
		pieces[i] = median(values)
	}
	return pieces
}

func sumOf(nodes []graph.Node, get func(graph.Node) int64) int64 {
	sum := int64(0)
	for _, n := range nodes {
		sum += get(n)
	}
	return sum
}

// average is the mean of some values.
func average(values []int64) int64 {
	var sum bounded.Sum
	for _, v := range values {
		sum.Add(v)
	}
	return sum.Mean()
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
