package whatif

import (
	"cmp"
	"math"
	"slices"

	"github.com/gaprof/gaprof/analyze/idle"
	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/graph"
)

// host adds the calls of the host that launch, record, wait or synchronize: those of the
// threads of the training loop as one logical thread, because one of them is blocked while another
// runs, each other thread by itself. What else a thread does, and thinking, is the gap between two calls.
func (b *builder) host() {
	var together []int32
	launched := b.launched()
	for _, id := range b.x.Host {
		rows := b.callsOf(id, launched)
		if b.drive[id] {
			together = append(together, rows...)
			continue
		}
		if b.launchesAny(rows, launched) { // a watchdog only asks
			b.thread(rows, launched)
		}
	}
	slices.SortStableFunc(together, func(i, j int32) int { return cmp.Compare(b.x.Col.Start[i], b.x.Col.Start[j]) })
	b.thread(together, launched)
	b.loading(together)
}

func (b *builder) launchesAny(rows, launched []int32) bool {
	return slices.ContainsFunc(rows, func(row int32) bool {
		_, found := slices.BinarySearch(launched, row)
		return found
	})
}

// callsOf lists the outermost calls of a thread that matter to a graph.
func (b *builder) callsOf(id trace.TrackID, launched []int32) []int32 {
	x := b.x
	track := x.Trace.Tracks()[id]
	var rows []int32
	next, _ := slices.BinarySearch(launched, int32(track.First))
	over := int64(math.MinInt64)
	for row := int32(track.First); row < int32(track.First+track.N); row++ {
		if !x.Col.Cat[row].IsRuntime() || x.Col.Phase[row] != trace.Complete || x.Col.Start[row] < over {
			continue
		}
		for next < len(launched) && launched[next] < row {
			next++
		}
		launches := next < len(launched) && launched[next] == row
		if launches || b.role(row) != otherCall {
			rows = append(rows, row)
			over = x.End(row)
		}
	}
	return rows
}

// thread adds calls, in order of start, as what one logical thread does.
func (b *builder) thread(rows, launched []int32) {
	if len(rows) == 0 {
		return
	}
	resource := b.resource(-1, 0)
	pageable := idle.PageableCopies(b.x)
	over := int64(math.MinInt64)
	for _, row := range rows {
		start, end := b.x.Col.Start[row], b.x.End(row)
		role := b.role(row)
		if _, found := slices.BinarySearch(pageable, row); found {
			role = blockCopy
		}
		step := int32(b.f.StepAt(start))
		call := b.add(Call, resource, row, start, end)
		b.node[row], b.r.Step[call] = call, step
		b.calls = append(b.calls, call)
		b.gap(call, over)
		over = end
		if role >= syncDevice {
			b.r.Graph.Work[call], b.r.End[call] = 0, start
			back := b.add(Return, resource, row, end, end)
			b.r.Step[back] = step
			b.r.Graph.Lag[b.r.Graph.Before[back]] = end - start
			b.sync = append(b.sync, back)
		}
	}
}

// gap notes the time since the call before, which may be negative where two threads overlap.
func (b *builder) gap(call graph.Node, over int64) {
	g := &b.r.Graph
	if e := g.Before[call]; e != graph.None {
		g.Lag[e] = b.r.Start[call] - over
	} else {
		g.Release[call] = b.r.Start[call]
	}
}

// loading notes how much of the time before each call, and in it, the loop fetches a batch.
func (b *builder) loading(rows []int32) {
	set := idle.Loading(b.x)
	if set == nil {
		return
	}
	over := b.first
	for _, row := range rows {
		end := b.x.End(row)
		b.r.Loading[b.node[row]] = set.Within(over, max(over, end))
		over = max(over, end)
	}
}

// resource adds a resource: a thread of the host (device -1) or a stream.
func (b *builder) resource(device int, number int64) int32 {
	b.r.streams = append(b.r.streams, stream{device: device, number: number})
	return b.r.Graph.AddResource()
}

// stepOf is the step in which a call launches, -1 for none.
func (b *builder) stepOf(launch int32) int32 {
	if launch < 0 {
		return -1
	}
	return int32(b.f.StepAt(b.x.Col.Start[launch]))
}
