package timeline

import (
	"cmp"
	"slices"

	"github.com/gaprof/gaprof/trace"
)

// replay is the parts of a graph that one call launched.
type replay struct {
	graph int64    // its number
	first int32    // row of the part that was found first
	start int64    // ns, of the earliest part
	parts []*int32 // where the launch calls of the parts are kept
}

// linkReplays joins to their calls the parts of graphs that have correlation ids of their
// own, and not that of the call. What is left is the number of the graph and that of the
// part in it: where a part comes again, another replay has begun. As every call launches one
// replay, replays and calls that are not joined yet go together in order of time.
//
// It is a guess unless everything fits, so nothing is joined if a replay would start before
// its call, if a part is missing in any replay, or if calls and replays are not as many. Of a
// single graph, whose replays never
// overtake each other, one side may have more: replays at the start, that were launched
// before the recording, or calls at the end.
func linkReplays(x *Rows, host []trace.TrackID, devices []*Device) {
	if x.AnyName()&GraphLaunch == 0 {
		return
	}
	calls := unusedLaunches(x, host, devices)
	if len(calls) == 0 {
		return
	}
	replays, graphs := findReplays(x, devices)
	if len(replays) != len(calls) && graphs > 1 {
		return
	}
	if more := len(replays) - len(calls); more > 0 {
		replays = replays[more:]
	}
	for i, r := range replays {
		if r.start < calls[i].Start {
			return
		}
	}
	for i, r := range replays {
		for _, launch := range r.parts {
			*launch = calls[i].Row
		}
	}
}

// unusedLaunches lists the calls that replay a graph and to which nothing is joined, in order
// of start. Of a call and the one inside it only the outer one counts.
func unusedLaunches(x *Rows, host []trace.TrackID, devices []*Device) []Span {
	used := make(map[int32]bool)
	for _, d := range devices {
		for _, l := range d.Launch {
			if l >= 0 && x.Is(l, GraphLaunch) {
				used[l] = true
			}
		}
	}
	return slices.DeleteFunc(outermost(x, host, GraphLaunch), func(s Span) bool {
		return used[s.Row] || !x.Col.Cat[s.Row].IsRuntime()
	})
}

// replayFinder puts together the parts of graphs that are joined to no call.
type replayFinder struct {
	x       *Rows
	found   map[replayKey]*replay
	count   map[partKey]int64 // how often each part came
	list    []*replay         // in the order of their first parts
	graphs  int               // of how many graphs
	claimed bool              // the parts of a replay have one id: that of a call before the recording
}

// replayKey is the nth replay of a graph, partKey a part of a graph.
type (
	replayKey struct{ graph, nth int64 }
	partKey   struct{ graph, node int64 }
)

// findReplays lists replays in order of start, with the number of graphs that they are of.
// There are none where the parts of some cannot be told apart: a part that some replay lacks
// would be taken for that of another. A part without a number in its graph is left out.
func findReplays(x *Rows, devices []*Device) (list []*replay, graphs int) {
	f := &replayFinder{x: x, found: make(map[replayKey]*replay), count: make(map[partKey]int64)}
	for _, d := range devices {
		for i, row := range d.Rows {
			if d.Launch[i] < 0 {
				f.add(row, &d.Launch[i])
			}
		}
	}
	for part, n := range f.count {
		if f.claimed || f.found[replayKey{part.graph, n}] != nil {
			return nil, 0
		}
	}
	slices.SortFunc(f.list, func(a, b *replay) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.graph, b.graph), cmp.Compare(a.first, b.first))
	})
	return f.list, f.graphs
}

// add adds a device event, whose launch call is kept at launch.
func (f *replayFinder) add(row int32, launch *int32) {
	e := f.x.Trace.Event(int(row))
	graph, _ := e.ArgInt(trace.KeyGraphID)
	node, _ := e.ArgInt(trace.KeyGraphNode)
	if graph == 0 || node == 0 {
		return
	}
	key := replayKey{graph, f.count[partKey{graph, node}]}
	f.count[partKey{graph, node}]++
	r := f.found[key]
	if r == nil {
		r = &replay{graph: graph, first: row, start: e.Start()}
		f.found[key], f.list = r, append(f.list, r)
		f.graphs += oneIf(key.nth == 0)
	} else if corr := f.x.Col.Corr[row]; corr != 0 && corr == f.x.Col.Corr[r.first] {
		f.claimed = true
	}
	r.start = min(r.start, e.Start())
	r.parts = append(r.parts, launch)
}
