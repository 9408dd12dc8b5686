package whatif

import (
	"math"
	"slices"

	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace/graph"
)

// priors are the usual times to begin with, in ns: those of eight H100 (SIM.md 5.2).
var priors = [numClasses]int64{1500, 3000, 6000, 2500, 8500, 1500, -1500, 5000}

// unexplained is from how late on, beyond the usual time of what it waited for, the start of
// an op counts as not explained by the graph, in ns.
const unexplained = 10_000

// nearby is how long before the start of an op another one ends at most, for which it is taken
// to have waited, in ns: SIM.md found events to take 8.5 us.
const nearby = 20_000

// classOf is the class of an edge.
func (r *Rank) classOf(e int32) class {
	comm := r.Bucket[r.Graph.To[e]] >= uint8(timeline.ReduceScatterBucket) && r.Collective[r.Graph.To[e]] >= 0
	switch r.Graph.Kind[e] {
	case graph.Launch:
		return classLaunch
	case graph.Event:
		if comm {
			return classEventComm
		}
		return classEvent
	case graph.Time:
		if comm && r.Bucket[r.Graph.From[e]] == uint8(timeline.ComputeBucket) {
			return classTail
		}
		return classTime
	case graph.Sync:
		return classSync
	}
	if comm {
		return classOrderComm
	}
	return classOrder
}

// slack is the time from the source of an edge to the start of its target, as recorded.
func (r *Rank) slack(e int32) int64 {
	g := &r.Graph
	if g.Kind[e] == graph.Launch {
		return r.Start[g.To[e]] - r.Start[g.From[e]]
	}
	return r.Start[g.To[e]] - r.End[g.From[e]]
}

// usually is the usual time of an edge. A call that is open for longer launches later, too: it
// loads code.
func (r *Rank) usually(e int32, usual *[numClasses]int64) int64 {
	c := r.classOf(e)
	if c != classLaunch {
		return usual[c]
	}
	call := r.Graph.From[e]
	open := r.Graph.Work[call] // without waiting for room in the queue
	if next := int(call) + 1; next < len(r.What) && r.What[next] == Return {
		open = r.End[next] - r.Start[call]
	}
	return max(usual[c], min(open, r.slack(e)))
}

// binding finds for each op the edge by which it can start last, if each takes its usual time,
// and notes how much later than that it starts. None: nothing is known of what it waits for.
func (r *Rank) binding(usual *[numClasses]int64) []int32 {
	g := &r.Graph
	list := make([]int32, g.Len())
	for n := range list {
		list[n] = graph.None
		r.Late[n] = math.MaxInt64
	}
	for e := range int32(g.Edges()) {
		to := g.To[e]
		if to == graph.None || r.What[to] != Op {
			continue
		}
		if late := r.slack(e) - r.usually(e, usual); late < r.Late[to] {
			r.Late[to], list[to] = late, e
		}
	}
	return list
}

// calibrate gives edges the time that they took: the edge that an op waited for last has the
// recorded time, negative where a kernel begins before the one that it depends on has ended. The
// others have the usual time of their class, or less where the op started earlier than that.
func calibrate(b *builder) {
	r := b.r
	r.Usual = r.medians(r.binding(&priors))
	list := r.binding(&r.Usual)
	r.Bound = list
	g := &r.Graph
	for e := range int32(g.Edges()) {
		switch to := g.To[e]; {
		case to == graph.None || r.What[to] != Op:
		case list[to] == e:
			g.Lag[e] = r.slack(e)
		default:
			g.Lag[e] = min(r.slack(e), r.usually(e, &r.Usual))
		}
	}
	for n, e := range list {
		if e == graph.None && r.What[n] == Op {
			g.Release[n], r.Late[n] = r.Start[n], 0
		}
	}
	calibrateReturns(b)
}

// medians are the usual times of edges, by those that explain when an op starts. A gap counts where the launch was
// long before: after a late launch, which may have been waited for as well, it may be anything.
func (r *Rank) medians(binding []int32) [numClasses]int64 {
	var took [numClasses][]int64
	var gaps []graph.Node
	for n, e := range binding {
		if e != graph.None && r.Late[n] < 2*unexplained {
			c := r.classOf(e)
			took[c] = append(took[c], r.slack(e))
			if c == classOrder {
				gaps = append(gaps, graph.Node(n))
			}
		}
	}
	usual := priors
	for c, list := range took {
		usual[c] = medianOr(list, usual[c])
	}
	var ahead []int64
	for _, n := range gaps {
		if call := r.Before[n]; call == graph.None || r.Start[n]-r.Start[call] > 2*usual[classLaunch] {
			ahead = append(ahead, r.slack(binding[n]))
		}
	}
	usual[classOrder] = medianOr(ahead, min(usual[classOrder], priors[classOrder]))
	return usual
}

// medianOr is the median of some values, which it sorts, or what is usual without any.
func medianOr(list []int64, usual int64) int64 {
	if len(list) == 0 {
		return usual
	}
	slices.Sort(list)
	return list[len(list)/2]
}

// ownWork is what a call that waits for the device takes the host at most without waiting, in ns.
const ownWork = 10_000

// calibrateReturns calibrates the calls that wait for the device: one during which the device gets done took the
// host the least time that such a call takes. It waited for the rest, and woke up some time after: on a busy host
// that may be milliseconds.
func calibrateReturns(b *builder) {
	r, g := b.r, &b.r.Graph
	least, last := make(map[int32]int64), make(map[graph.Node]int32) // by name; by return: the edge that is over last
	for _, back := range b.sync {
		took, seen := least[r.Name[back]]
		if now := g.Lag[g.Before[back]]; !seen || now < took {
			least[r.Name[back]] = now
		}
	}
	for e := range int32(g.Edges()) {
		if g.Kind[e] != graph.Sync {
			continue
		}
		g.Lag[e] = min(r.slack(e), r.Usual[classSync])
		if of, seen := last[g.To[e]]; !seen || r.End[g.From[e]] > r.End[g.From[of]] {
			last[g.To[e]] = e
		}
	}
	for _, back := range b.sync {
		if e, waits := last[back]; waits && r.End[g.From[e]] > r.Start[back-1] {
			own := &g.Lag[g.Before[back]]
			*own, g.Lag[e] = min(*own, max(0, least[r.Name[back]]), ownWork), r.slack(e)
		}
	}
}
