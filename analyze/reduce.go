package analyze

import (
	"cmp"

	"github.com/gaprof/gaprof/analyze/calibration"
	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/analyze/whatif"
)

// Reduce computes what a report needs of a trace. Of the options it uses Communication, Top,
// Drawing, Graph, Measure and Steps.
func Reduce(in Input, o *Options) *Reduced {
	r := &Reduced{File: in.File, Format: in.Trace.Meta().Format, Bytes: in.Bytes, Events: int64(in.Trace.Len())}
	x := timeline.NewWith(in.Trace, o.Communication)
	compute := facts.Compute
	if in.Alone {
		compute = facts.ComputeAlone
	}
	for i, rank := range compute(x) {
		if of := x.Ranks[i]; !of.Empty() {
			one := ReducedRank{Facts: rank, Kernels: topKernels(of, cmp.Or(o.Top, 10))}
			if o.Drawing {
				one.Timeline = timelineOf(of, rank, o.Steps)
				one.Memory = memorySeries(of, rank, o.Steps)
			}
			if o.Measure {
				one.Samples = calibration.Of(of)
			}
			switch {
			case o.Graph:
				one.Graph = whatif.Of(of, rank)
			case !in.Lean:
				one.graph = func() *whatif.Rank { return whatif.Of(of, rank) }
			}
			r.Ranks = append(r.Ranks, one)
		}
	}
	return r
}
