package gradients

import (
	"cmp"
	"slices"
	"sort"

	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/internal/bounded"
)

// readyAt is when the gradient of a parameter is final in a backward pass.
type readyAt struct {
	at    int64 // ns on the host
	elems int64 // of this and all earlier ones of the pass
}

// readiness notes for each collective of gradients that a backward pass calls for how long as
// many elements have been ready as it and those before it reduce. Where they are launched in
// the order in which gradients become ready that is next to nothing.
//
// It is known only where all such collectives of the pass are of one kind and together reduce
// what the pass accumulates, which is to say each gradient once: then they could have been
// made up in that order.
func readiness(x *timeline.Rank, passes []Backward, list []HostCollective) {
	for from := 0; from < len(list); {
		to := from + 1
		for to < len(list) && list[to].Backward == list[from].Backward {
			to++
		}
		if p := list[from].Backward; p >= 0 && p < len(passes) {
			launchOrder(x, &passes[p], list[from:to])
		}
		from = to
	}
}

// launchOrder does so for the collectives of one pass.
func launchOrder(x *timeline.Rank, pass *Backward, list []HostCollective) {
	var reduced int64
	kind := timeline.NotCommunication
	for i := range list {
		if c := &list[i]; reducedIn(c, pass) {
			if kind != timeline.NotCommunication && c.Kind != kind || c.Elems <= 0 {
				return
			}
			kind = c.Kind
			reduced = bounded.Add(reduced, c.Elems)
		}
	}
	if kind == timeline.NotCommunication {
		return
	}
	ready := readyIn(x, pass)
	n := len(ready)
	if n < 2 || abs(ready[n-1].elems-reduced) > reduced/50 {
		return
	}
	var sum int64
	for i := range list {
		c := &list[i]
		if !reducedIn(c, pass) {
			continue
		}
		sum = bounded.Add(sum, c.Elems)
		at := sort.Search(n-1, func(i int) bool { return ready[i].elems >= sum })
		c.Waited = max(0, c.Event.Start-ready[at].at)
		if last := sort.Search(n, func(i int) bool { return ready[i].at > c.Event.Start }); last > 0 {
			c.Ready = ready[last-1].elems
		}
	}
}

// reducedIn reports whether a collective reduces gradients while a pass is open.
func reducedIn(c *HostCollective, pass *Backward) bool { return c.Gradient && c.Event.Start < pass.End }

// readyIn lists the gradient accumulations of a pass by time.
func readyIn(x *timeline.Rank, pass *Backward) []readyAt {
	in := x.Inputs()
	list := make([]readyAt, 0, total(pass.Accumulated))
	var sum int64
	from := sort.Search(len(x.Nodes), func(i int) bool { return x.Nodes[i].Start >= pass.Start })
	for _, n := range x.Nodes[from:] {
		if n.Start >= pass.End {
			break
		}
		if !x.Accumulates(n.Row) {
			continue
		}
		ops := in.Of(n.Row)
		if len(ops) == 0 || len(ops[0].Shapes) != 1 {
			return nil // shapes were not recorded
		}
		sum = bounded.Add(sum, timeline.Numel(ops[0].Shapes[0]))
		list = append(list, readyAt{n.End, sum})
	}
	if order := func(a, b readyAt) int { return cmp.Compare(a.at, b.at) }; !slices.IsSortedFunc(list, order) {
		slices.SortStableFunc(list, order)
	}
	for i := range list {
		if i > 0 && list[i].elems < list[i-1].elems {
			return nil // nodes of several threads at once
		}
	}
	return list
}

func abs(n int64) int64 { return max(n, -n) }
