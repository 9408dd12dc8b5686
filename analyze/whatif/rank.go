package whatif

import (
	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/internal/bounded"
	"github.com/gaprof/gaprof/trace"
)

// Of builds the graph of a rank. A rank of which no device activity was recorded, or no launch
// call of it, has none, and says why.
func Of(x *timeline.Rank, f *facts.Rank) *Rank {
	r := &Rank{Facts: f}
	if r.Why = missing(x, f); r.Why != "" {
		return r
	}
	b := newBuilder(x, f, r)
	b.host()
	b.devices()
	orderLaunches(b)
	findQueue(b)
	b.events()
	findAsking(b)
	addImaged(b)
	addWaits(b)
	r.Same = b.image
	b.byTime()
	calibrate(b)
	r.Transfer = r.transfers()
	b.hoists()
	findScales(b)
	findUses(b)
	findMessages(b)
	return r
}

// missing says what the trace of a rank lacks for a graph.
func missing(x *timeline.Rank, f *facts.Rank) string {
	switch {
	case bounded.Sub(f.Last, f.First) > trace.LongestEvent:
		return "its times are damaged: they say that the recording lasted for months"
	case x.Links.Events == 0:
		return "no device activity was recorded: record with ProfilerActivity.CUDA"
	case x.Links.Unlinked == x.Links.Events:
		return "no device event is joined to its launch call: the trace has no correlation ids, or no host calls"
	}
	return ""
}
