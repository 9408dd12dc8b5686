package analyze

import (
	"slices"

	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace"
)

// ScatterLeads is by how much the first reduce-scatter of a step starts before the last
// kernel of its backward pass ends, in ns, by rank and step: what there is to hide
// communication behind. It is negative where communication begins only when backward is
// over. Steps that lack one of the two are left out.
func ScatterLeads(t *trace.Trace) []int64 {
	var leads []int64
	x := timeline.New(t)
	for i, r := range facts.ComputeAlone(x) {
		leads = append(leads, scatterLeads(x.Ranks[i], r)...)
	}
	return leads
}

// MedianLead is the median of leads, the later one of two; ok is false where there are none.
func MedianLead(leads []int64) (ns int64, ok bool) {
	if len(leads) == 0 {
		return 0, false
	}
	return slices.Sorted(slices.Values(leads))[len(leads)/2], true
}

// scatterLeads is the leads of the steps of one rank.
func scatterLeads(x *timeline.Rank, r *facts.Rank) []int64 {
	ends, starts := backwardEnds(x, r), make(map[int]int64)
	for _, m := range r.Collectives {
		if first, seen := starts[m.Step]; m.Kind == timeline.ReduceScatter && (!seen || m.Start < first) {
			starts[m.Step] = m.Start
		}
	}
	var leads []int64
	for step := range r.Steps {
		if start, ok := starts[step]; ok && ends[step] > 0 {
			leads = append(leads, ends[step]-start)
		}
	}
	return leads
}

// backwardEnds is when the last kernel of each step's backward pass ends, by step; kernels
// are assigned to steps by the launch.
func backwardEnds(x *timeline.Rank, r *facts.Rank) map[int]int64 {
	ends := make(map[int]int64)
	phases := facts.NewPhases(x, r)
	for _, d := range x.Devices {
		for i, row := range d.Rows {
			if launch := d.Launch[i]; launch >= 0 && phases.Phase(row, launch) == facts.PhaseBackward {
				step := r.StepAt(x.Col.Start[launch])
				ends[step] = max(ends[step], x.End(row))
			}
		}
	}
	return ends
}
