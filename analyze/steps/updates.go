package steps

import (
	"slices"

	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace"
)

// host holds the instants on a rank's host threads that decide where a step ends.
type host struct {
	x             *timeline.Rank
	first         int64   // start of the recording, ns
	profiler      []int32 // rows of ProfilerStep# spans, in order of start
	accumulations []int64 // starts of gradient accumulations, ascending
	nodes         []int64 // starts of the other backward nodes, ascending
	backwards     []int64 // starts of backward passes, ascending; only where an optimizer runs in backward
}

func newHost(x *timeline.Rank) *host {
	h := &host{x: x, first: firstStart(x)}
	h.accumulations, h.nodes = startsOfNodes(x)
	x.Each(x.Host, timeline.ProfilerStep, func(row int32) { h.profiler = append(h.profiler, row) })
	x.SortByStart(h.profiler)
	if slices.ContainsFunc(x.Optimizers, func(s timeline.Span) bool { return x.InBackward(s.Row) }) {
		h.backwards = backwardStarts(x)
	}
	return h
}

// startsOfNodes returns the starts of gradient accumulations and of the other backward
// nodes, each ascending. For accumulations that are not recorded themselves the
// evaluate_function spans around them count, and for other nodes, where PyTorch is too old
// to write those spans, the nodes by their names.
func startsOfNodes(x *timeline.Rank) (accumulations, others []int64) {
	accumulations, others = make([]int64, 0, len(x.Nodes)), make([]int64, 0, len(x.Nodes))
	for _, n := range x.Nodes {
		switch {
		case x.Accumulates(n.Row):
			accumulations = append(accumulations, n.Start)
		case !x.Is(n.Row, timeline.AccumulateGrad):
			others = append(others, n.Start)
		}
	}
	if len(others) == 0 {
		x.Each(x.Host, timeline.BackwardNode, func(row int32) { others = append(others, x.Col.Start[row]) })
		slices.Sort(others)
	}
	return accumulations, others
}

// firstStart returns the start of the first complete event on the host threads of a rank,
// 0 without any. The rows of a track are in order, so the first of each track is enough.
func firstStart(x *timeline.Rank) int64 {
	first, seen := int64(0), false
	for _, id := range x.Host {
		track := x.Trace.Tracks()[id]
		for i := track.First; i < track.First+track.N; i++ {
			if x.Col.Phase[i] == trace.Complete {
				if !seen || x.Col.Start[i] < first {
					first, seen = x.Col.Start[i], true
				}
				break
			}
		}
	}
	return first
}

// backwardStarts returns the starts of backward passes, ascending: of runs of backward nodes
// without a forward operator between them. Rounded times let what a node does last seem to
// follow it.
func backwardStarts(x *timeline.Rank) []int64 {
	forward := forwardOps(x)
	slack := x.Rounding()
	var starts []int64
	end := int64(0)
	for i, n := range x.Nodes {
		if i == 0 || AnyIn(forward, end+slack, n.Start) {
			starts = append(starts, n.Start)
		}
		end = max(end, n.End)
	}
	return starts
}

// forwardOps returns the starts of operators of the training loop outside backward and
// optimizer, ascending. There are far more of them than of anything else here, so they are
// collected only where they are needed.
func forwardOps(x *timeline.Rank) []int64 {
	var starts []int64
	x.Each(x.DrivingThreads(), timeline.AtenOp, func(row int32) {
		if !x.Inside(row, timeline.OptimizerStep|timeline.EvaluateFunction|timeline.AccumulateGrad) {
			starts = append(starts, x.Col.Start[row])
		}
	})
	slices.Sort(starts)
	return starts
}

// update is a maximal run of optimizer spans without a gradient accumulation between them.
type update struct {
	optimizers []string
	start, end int64           // ns
	named      map[string]bool // optimizers, as a set
}

// updates groups the optimizer spans. A program may step several optimizers one after the
// other, or one per parameter, and all of that is one step as long as no new gradient
// comes in between.
//
//  1. Spans under AccumulateGrad (optimizer in backward) form one update per backward
//     pass, as accumulations surround each span.
//  2. Other spans form one update until a gradient is accumulated between them.
//  3. A span that runs a closure, with backward passes of its own, ends an update of its own.
//  4. Where no accumulation was recorded, backward nodes take their place; without those,
//     an optimizer that steps again begins a new update.
func (h *host) updates() []update {
	between := h.accumulations
	if len(between) == 0 {
		between = h.nodes
	}
	var list []update
	for _, span := range h.x.Optimizers {
		name := timeline.OptimizerName(h.x.Name(span.Row))
		if n := len(list); n > 0 {
			last := &list[n-1]
			if !h.separated(span, name, last, between) {
				last.end = max(last.end, span.End)
				if !last.named[name] {
					last.named[name] = true
					last.optimizers = append(last.optimizers, name)
				}
				continue
			}
		}
		list = append(list, update{
			optimizers: []string{name},
			start:      h.ownWork(span),
			end:        span.End,
			named:      map[string]bool{name: true},
		})
	}
	for i := range list {
		slices.Sort(list[i].optimizers)
	}
	return list
}

// separated reports whether an optimizer span, of the given name, begins a new update
// rather than going on with the last one. between is what separates updates, ascending.
func (h *host) separated(span timeline.Span, name string, last *update, between []int64) bool {
	switch {
	case h.x.InBackward(span.Row):
		return AnyIn(h.backwards, last.end, span.Start)
	case len(between) > 0:
		return AnyIn(between, last.end, h.ownWork(span))
	}
	return last.named[name]
}

// ownWork returns when an optimizer span begins to update weights: where it runs a closure,
// after the last backward pass in it.
func (h *host) ownWork(span timeline.Span) int64 {
	if c, ok := h.x.Closure(span.Row); ok {
		return c.End
	}
	return span.Start
}

// profilerSteps takes the host's ProfilerStep# spans as updates. There may be one per
// micro-batch, and their numbers may repeat, so this is a fallback.
func (h *host) profilerSteps() []update {
	var list []update
	for _, row := range h.profiler {
		list = append(list, update{start: h.x.Col.Start[row], end: h.x.End(row)})
	}
	return list
}

// CountIn returns how many values of an ascending list lie in [start, end).
func CountIn(list []int64, start, end int64) int {
	from, _ := slices.BinarySearch(list, start)
	to, _ := slices.BinarySearch(list, end)
	return max(0, to-from)
}

// AnyIn reports whether a value of an ascending list lies in [start, end).
func AnyIn(list []int64, start, end int64) bool {
	if start >= end {
		return false
	}
	i, _ := slices.BinarySearch(list, start)
	return i < len(list) && list[i] < end
}
