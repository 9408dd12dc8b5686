package whatif

import (
	"slices"
	"sort"

	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/graph"
)

// Queue is what is known of the queues in which launched operations wait for their stream.
type Queue struct {
	Depth   int // launched operations of a stream that had not started at most, as a call returned
	Blocked int // calls that waited for room
	Full    int // "Command Buffer Full" that the profiler noted
}

// queueDepth is how many launched operations of a stream have not started at most: the queue of a stream has 1024
// places (SIM.md 5.1), and on H100s calls returned with 1021 or 1022 of them taken.
const queueDepth = 1022

const (
	nearlyFull = 900   // from how many on the greatest number that was seen is taken for the depth
	otherPlace = 40    // places that events may take in a full queue
	longCall   = 3     // times the usual duration of a call from which it is taken to have waited
	makesRoom  = 3_000 // ns from the start of an operation to the return of the call that waited for that
)

// findQueue finds what calls wait for in full queues: a call that launches an operation returns when that of so many
// places before has started. What it waited is no work of the call.
func findQueue(b *builder) {
	b.r.Queue.Full = fullBuffers(b)
	var lists []queued
	for i := range b.r.streams {
		if s := &b.r.streams[i]; s.device >= 0 {
			lists = append(lists, queued{s.ops, takenPlaces(b, s.ops)})
		}
	}
	depth := 0
	for _, q := range lists {
		depth = max(depth, slices.Max(append(q.taken, 0)))
	}
	if b.r.Queue.Depth = depth; depth < nearlyFull {
		depth = queueDepth
	}
	usual := usualCalls(b)
	for _, q := range lists {
		for k, op := range q.ops {
			if b.r.Before[op] != graph.None && b.r.Graph.Resource[op] != graph.None {
				room(b, &q, k, depth, usual)
			}
		}
	}
}

// queued is the operations of a stream in order, and how many had not started when the call of each returned.
type queued struct {
	ops   []graph.Node
	taken []int
}

// takenPlaces counts for each operation of a stream those up to it that have not started when its call returns.
func takenPlaces(b *builder, ops []graph.Node) []int {
	taken := make([]int, len(ops))
	for k, op := range ops {
		if call := b.r.Before[op]; call != graph.None {
			from := sort.Search(k+1, func(i int) bool { return b.r.Start[ops[i]] > b.r.End[call] })
			taken[k] = k + 1 - from
		}
	}
	return taken
}

// usualCalls are the median durations of calls, by name.
func usualCalls(b *builder) map[int32]int64 {
	took := make(map[int32][]int64)
	for _, call := range b.calls {
		took[b.r.Name[call]] = append(took[b.r.Name[call]], b.r.Graph.Work[call])
	}
	usual := make(map[int32]int64)
	for name, list := range took {
		slices.Sort(list)
		usual[name] = list[len(list)/4] // most may have waited
	}
	return usual
}

// room makes what the host does after the launch of the k-th operation of a stream wait for room in its queue.
func room(b *builder, q *queued, k, depth int, usual map[int32]int64) {
	r := b.r
	call := r.Before[q.ops[k]]
	next := call + 1
	if int(next) >= len(r.What) || r.What[next] != Call || r.Graph.Resource[next] != r.Graph.Resource[call] {
		return
	}
	took, short := r.Graph.Work[call], usual[r.Name[call]]
	if taken := q.taken[k]; taken >= depth-otherPlace && taken <= k && took > longCall*max(short, 1) {
		r.Queue.Blocked++
		r.Graph.Work[call] = short
		from := q.ops[k-taken]
		r.Graph.Connect(from, next, graph.Queue, r.Start[next]-r.Start[from])
		return
	}
	if k < depth {
		return
	}
	from := q.ops[k-depth]
	lag := makesRoom + max(0, r.Start[next]-r.End[call])
	r.Graph.Connect(from, next, graph.Queue, min(lag, r.Start[next]-r.Start[from]))
}

// fullBuffers counts how often the profiler noted a full queue.
func fullBuffers(b *builder) int {
	n := 0
	for id := range b.x.Trace.Tracks() {
		track := &b.x.Trace.Tracks()[id]
		for row := track.First; row < track.First+track.N; row++ {
			if b.x.Col.Cat[row] == trace.CatOverhead && b.x.Name(int32(row)) == "Command Buffer Full" {
				n++
			}
		}
	}
	return n
}
