package analyze

import (
	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/analyze/ranks"
)

// Rule is one thing that gaprof looks for. It is a plain value; analyze/rules has
// the list, in the order in which rules may claim time: specific before general.
type Rule struct {
	ID    string // two letters of the family and three digits
	Doc   Doc
	Needs []Need // all must be met, else the rule is reported as skipped
	Run   func(*Pass)
}

// Doc is a rule's page: explain prints it and docs/rules is generated from it,
// together with the rule's examples.
type Doc struct {
	Title string // what is found, in a few words
	Why   string // why it costs or endangers
	Fix   string // what to change, naming the API
}

// Need is an input that a rule cannot do without.
type Need struct {
	Name    string
	Missing string // why it is missing and what would supply it
	Met     func(*facts.Rank) bool
	All     func([]*facts.Rank, *ranks.Result) bool // of all ranks together; then Met is nil
}

// The needs of the rules that exist.
var (
	NeedDevice = Need{"device events", "no device events: record with ProfilerActivity.CUDA",
		func(r *facts.Rank) bool { return r.DeviceEvents > 0 }, nil}
	NeedCollectives = Need{"collectives", "no device collectives in the trace (gloo spans on the CPU are not device collectives)",
		func(r *facts.Rank) bool { return len(r.Messages) > 0 }, nil}
	NeedLaunches = Need{"launches", "no device event is linked to a host call: record with ProfilerActivity.CPU too",
		func(r *facts.Rank) bool { return r.DeviceEvents > r.Unlinked }, nil}
	NeedSteps = Need{"steps", "no optimizer steps in the trace: profile through optimizer.step(), or call profiler.step()",
		func(r *facts.Rank) bool { return len(r.Steps) > 0 }, nil}
	NeedStreams = Need{"streams", "communication overlaps compute on one and the same stream, which is impossible: the tracks are wrong and so is any overlap",
		func(r *facts.Rank) bool { return !r.SelfOverlap }, nil}
	NeedOneRank = Need{"ranks that can be told apart", "several ranks were merged into one process, and their figures cannot be told apart: give each rank its own file",
		func(r *facts.Rank) bool { return !r.Mixed }, nil}
	NeedSites = Need{"launch sites", "no Optimizer.step and no backward spans around the launches: every launch site is unknown",
		hasSites, nil}
)

func hasSites(r *facts.Rank) bool {
	for i := range r.Messages {
		if r.Messages[i].Site.Site != facts.SiteUnknown {
			return true
		}
	}
	return false
}

// skipReason is why a rule cannot run on any rank, or empty.
func (rule *Rule) skipReason(list []*facts.Rank, m *ranks.Result) string {
	for _, need := range rule.Needs {
		met := need.All != nil && need.All(list, m)
		for _, r := range list {
			met = met || need.Met != nil && need.Met(r)
		}
		if !met {
			return need.Missing
		}
	}
	return ""
}

// applies tells whether all needs of the rule are met on rank r.
func (rule *Rule) applies(r *facts.Rank) bool {
	for _, need := range rule.Needs {
		if need.Met != nil && !need.Met(r) {
			return false
		}
	}
	return true
}
