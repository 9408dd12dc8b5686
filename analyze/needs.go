package analyze

import (
	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/timeline"
)

// Need is an input that a rule cannot do without. One of Met and All is set.
type Need struct {
	Name    string           // what reports call it: "launch sites"
	Missing string           // why it is missing and what would supply it
	Met     func(*Rank) bool // reports whether one rank has it; rules run on the ranks that do
	All     func(*Pass) bool // reports whether all ranks together have it; then Met is nil
}

// The needs of the rules that exist.
var (
	NeedDevice = Need{
		Name:    "device events",
		Missing: "no device events: record with ProfilerActivity.CUDA",
		Met:     func(r *Rank) bool { return r.DeviceEvents > 0 },
	}
	NeedCollectives = Need{
		Name:    "collectives",
		Missing: "no device collectives in the trace (gloo spans on the CPU are not device collectives)",
		Met:     func(r *Rank) bool { return len(r.Collectives) > 0 },
	}
	NeedLaunches = Need{
		Name:    "launches",
		Missing: "no device event is linked to a host call: record with ProfilerActivity.CPU too",
		Met:     func(r *Rank) bool { return r.DeviceEvents > r.Unlinked },
	}
	NeedSteps = Need{
		Name:    "steps",
		Missing: "no optimizer steps in the trace: profile through optimizer.step(), or call profiler.step()",
		Met:     func(r *Rank) bool { return len(r.Steps) > 0 },
	}
	NeedStreams = Need{
		Name: "streams",
		Missing: "communication overlaps compute on one and the same stream, which is impossible: " +
			"the tracks are wrong and so is any overlap",
		Met: func(r *Rank) bool { return !r.SelfOverlap },
	}
	NeedOneRank = Need{
		Name: "ranks that can be told apart",
		Missing: "several ranks were merged into one process, and their figures cannot be told apart: " +
			"give each rank its own file",
		Met: func(r *Rank) bool { return !r.Mixed() },
	}
	NeedSites = Need{
		Name:    "launch sites",
		Missing: "no Optimizer.step and no backward spans around the launches: every launch site is unknown",
		Met:     hasSites,
	}
	NeedCaptures = Need{
		Name: "launch sites inside CUDA graphs",
		Missing: "the reductions are launched by a CUDA graph: sites inside a graph are unknown without annotations " +
			"(torch.cuda.graph with enable_annotations, export_chrome_trace with cuda_graph_annotations)",
		Met: hasCaptures,
	}
	NeedRanks = Need{
		Name:    "several ranks",
		Missing: report.OneRank,
		All:     func(p *Pass) bool { return len(p.Ranks) > 1 },
	}
	NeedWaits = Need{
		Name: "matched collectives",
		Missing: "no collectives were matched between ranks, or their clocks cannot be compared: " +
			"the notes under ranks say why",
		All: (*Pass).WaitsKnown,
	}
)

// hasCaptures reports whether the site of any reduction is known, or no graph has any: then
// it is another need that is not met.
func hasCaptures(r *Rank) bool {
	graphs := false
	for i := range r.Collectives {
		c := &r.Collectives[i]
		if c.Kind != timeline.ReduceScatter && c.Kind != timeline.AllReduce {
			continue
		}
		if c.Site.Known() {
			return true
		}
		graphs = graphs || c.Site.Site == timeline.SiteGraph
	}
	return !graphs
}

func hasSites(r *Rank) bool {
	for i := range r.Collectives {
		if c := &r.Collectives[i]; c.Site.Site != timeline.SiteUnknown || c.Phase != facts.PhaseUnknown {
			return true
		}
	}
	return false
}
