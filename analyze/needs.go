package analyze

import (
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/timeline"
)

// Need is an input that a rule cannot do without.
type Need struct {
	Name    string
	Missing string // why it is missing and what would supply it
	Met     func(*Rank) bool
	All     func(*Pass) bool // of all ranks together; then Met is nil
}

// The needs of the rules that exist.
var (
	NeedDevice = Need{"device events", "no device events: record with ProfilerActivity.CUDA",
		func(r *Rank) bool { return r.DeviceEvents > 0 }, nil}
	NeedCollectives = Need{"collectives", "no device collectives in the trace (gloo spans on the CPU are not device collectives)",
		func(r *Rank) bool { return len(r.Collectives) > 0 }, nil}
	NeedLaunches = Need{"launches", "no device event is linked to a host call: record with ProfilerActivity.CPU too",
		func(r *Rank) bool { return r.DeviceEvents > r.Unlinked }, nil}
	NeedSteps = Need{"steps", "no optimizer steps in the trace: profile through optimizer.step(), or call profiler.step()",
		func(r *Rank) bool { return len(r.Steps) > 0 }, nil}
	NeedStreams = Need{"streams", "communication overlaps compute on one and the same stream, which is impossible: the tracks are wrong and so is any overlap",
		func(r *Rank) bool { return !r.SelfOverlap }, nil}
	NeedOneRank = Need{"ranks that can be told apart", "several ranks were merged into one process, and their figures cannot be told apart: give each rank its own file",
		func(r *Rank) bool { return !r.Mixed() }, nil}
	NeedSites = Need{"launch sites", "no Optimizer.step and no backward spans around the launches: every launch site is unknown",
		hasSites, nil}
	NeedRanks = Need{"several ranks", report.OneRank,
		nil, func(p *Pass) bool { return len(p.Ranks) > 1 }}
	NeedWaits = Need{"matched collectives", "no collectives were matched between ranks, or their clocks cannot be compared: the notes under ranks say why",
		nil, (*Pass).WaitsKnown}
)

func hasSites(r *Rank) bool {
	for i := range r.Collectives {
		if r.Collectives[i].Site.Site != timeline.SiteUnknown {
			return true
		}
	}
	return false
}
