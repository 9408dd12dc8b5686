package whatif

import "github.com/gaprof/gaprof/trace/graph"

// leastImage is how many ops in a row must repeat a period later to be taken for the same.
const leastImage = 8

// mostImage bounds how many ops of a stream are launched before the recording: several times what a queue holds.
const mostImage = 8192

// findImages finds for the ops that were launched before the recording the same ops one period
// later, since training repeats itself: what those wait for, these waited for as well.
func findImages(b *builder) {
	b.image = make(map[graph.Node]graph.Node)
	b.origin = make(map[graph.Node]graph.Node)
	for i := range b.r.streams {
		ops := b.r.streams[i].ops
		n := launchedBefore(b, ops)
		if n > mostImage {
			continue // that many are not launched before a recording: their calls are lost
		}
		shift, run := periodOf(b, ops, n)
		if run < min(n, leastImage) {
			continue
		}
		for j := n - run; j < n; j++ {
			b.image[ops[j]], b.origin[ops[j+shift]] = ops[j+shift], ops[j]
		}
	}
}

// launchedBefore is how many of the first ops of a stream were launched before the recording.
func launchedBefore(b *builder, ops []graph.Node) int {
	for i, op := range ops {
		if b.r.Before[op] != graph.None {
			return i
		}
	}
	return 0
}

// periodOf is by how many ops later the names of the n first ops of a stream come back, counted
// from the last of them, and for how many of them that holds. The least such shift of the
// longest run is taken.
func periodOf(b *builder, ops []graph.Node, n int) (shift, run int) {
	if n == 0 {
		return 0, 0
	}
	name := b.r.Name
	for s := n; n-1+s < len(ops); s++ {
		same := 0
		for same < n && name[ops[n-1-same]] == name[ops[n-1-same+s]] {
			same++
		}
		if same > run {
			shift, run = s, same
		}
		if run == n {
			break
		}
	}
	return shift, run
}

// addImaged gives ops that were launched before the recording the events for which the same ops
// wait a period later.
func addImaged(b *builder) {
	findImages(b)
	r := b.r
	for e := range int32(r.Graph.Edges()) {
		if r.Graph.Kind[e] != graph.Event {
			continue
		}
		from, ok := b.origin[r.Graph.From[e]]
		to, both := b.origin[r.Graph.To[e]]
		if ok && both && r.End[from] <= r.Start[to]+nearEnd && r.Start[from] < r.Start[to] {
			r.Graph.Connect(from, to, graph.Event, r.Start[to]-r.End[from])
			r.Inferred[graph.Event]++
		}
	}
}
