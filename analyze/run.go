package analyze

import (
	"slices"
	"sort"

	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/analyze/normalization"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/sidecar"
)

// Input is one trace and where it came from.
type Input struct {
	File  string
	Bytes int64 // of the file as stored; of several traces of a file one has them
	Trace *trace.Trace
}

// Options are the choices of a run.
type Options struct {
	Version       string
	Rules         []Rule // in the order in which they may claim time
	RankOf        func(file string) (rank int64, ok bool)
	FileFirst     bool                 // RankOf goes before what the trace says of itself
	Top           int                  // kernels listed per rank; 0 means 10
	Tokens        []sidecar.TokenCount // of a log; goes before annotations
	TokensFrom    string               // what the log is called in the report
	TokensFound   bool                 // it was found, not passed: annotations go before it
	Normalization normalization.Mode   // declared by the user, "" not
	Losses        *sidecar.LossLog     // of a log
	Gradients     []GradientCause      // what gradients say, by step
	UniformTokens bool                 // the user declares equal token counts on all ranks, always
	PeakBandwidth int64                // bytes/s, goes before the table of devices; 0 none

	MinCost  int64                      // findings that cost less ns per step are left out
	MinShare float64                    // findings that cost a smaller share of the step are left out
	Ranks    func(rank int64) bool      // nil: all
	Steps    func(n int) (from, to int) // of n steps; half-open; nil: all

	AlignClocks bool // subtract each rank's clock residual before waiting is measured

	Drawing bool // say what figures need too: Report.Drawing

	// Choices is what the caller calls its choices where texts speak of them, as by a flag;
	// nil and missing ones: as Go programs do. The keys are those of internal/choice.
	Choices map[string]string

	KeepTraces bool // do not compact the facts; the report is the same
}

// Run analyses traces and returns the report. It reports on nothing (no ranks)
// where no trace holds host or device events; the caller decides what that means.
func Run(inputs []Input, o Options) *report.Report {
	a := New(o)
	for i, in := range inputs {
		a.Add(i, in)
	}
	return a.Result().Report
}

func newReport(o Options) *report.Report {
	return &report.Report{
		Schema: report.Schema, Version: o.Version,
		Source: report.Source{Files: []string{}, Ranks: []int64{}},
		Health: report.Health{DeviceEvents: []report.DeviceEvents{}, Problems: []report.Problem{}},
		Steps:  []report.Step{}, Communication: []report.Communication{}, Collectives: []report.Collectives{}, Groups: []report.CollectiveGroup{},
		GradientPasses: []report.GradientPass{}, GradientSync: []report.GradientSync{}, TokenAllReduce: []report.TokenAllReduce{},
		Kernels: []report.Kernel{}, Findings: []report.Finding{}, Skipped: []report.Skip{}, Exit: report.Exit{Reason: "ok"},
	}
}

// assembly is a report in the making.
type assembly struct {
	o      Options
	report *report.Report
	ranks  []fileRank
	files  []reduced

	normalized []NormalizedStep
	shift      int64 // steps of the logs before the first of the traces
	told       map[problemPlace]bool
}

// fileRank is a rank and the file that it stands in.
type fileRank struct {
	file    string
	rank    *facts.Rank
	kernels []report.Kernel // without the number of the rank

	timeline *report.Timeline // neither
}

// finish makes the report of all files, which are in order.
func (a *assembly) finish() *Result {
	for _, f := range a.files {
		a.add(f)
	}
	a.assignRanks()
	a.selectRanks()
	sort.SliceStable(a.ranks, func(i, j int) bool { return a.ranks[i].rank.ID < a.ranks[j].rank.ID })
	for _, fr := range a.ranks {
		a.describe(fr)
	}
	a.report.AccumulationSteps = accumulationSteps(a.ranks)
	a.source()
	a.normalization()
	a.remarkOnTokens()
	a.runRules()
	a.drawing()
	return &Result{a.report, a.normalized}
}

func (a *assembly) add(f reduced) {
	s := &a.report.Source
	if n := len(s.Files); n == 0 || s.Files[n-1] != f.file {
		s.Files = append(s.Files, f.file)
	}
	s.Bytes += f.bytes
	s.Events += f.events
	a.ranks = append(a.ranks, f.ranks...)
}

// assignRanks gives a number to ranks whose trace does not say one: from the file
// name, else the next free one, aloud where it matters.
func (a *assembly) assignRanks() {
	used := make(map[int64]bool)
	for _, fr := range a.ranks {
		if a.o.RankOf != nil && (fr.rank.ID < 0 || a.o.FileFirst) {
			if id, ok := a.o.RankOf(fr.file); ok {
				fr.rank.ID, fr.rank.IDSource = id, "file name"
			}
		}
		if fr.rank.ID >= 0 && used[fr.rank.ID] {
			fr.note(trace.RankConflict)
			fr.rank.ID, fr.rank.IDSource = -1, clashed
		}
		used[fr.rank.ID] = true
	}
	next := int64(0)
	for _, fr := range a.ranks {
		if fr.rank.ID >= 0 {
			continue
		}
		for used[next] {
			next++
		}
		fr.rank.ID, used[next] = next, true
		if fr.rank.IDSource != clashed && (len(a.ranks) > 1 || len(fr.rank.Messages) > 0) {
			fr.note(trace.RankAssigned)
		}
	}
}

// clashed marks a rank whose own number another trace has.
const clashed = "assigned after a conflict"

// selectRanks leaves out ranks and marks the steps that were not asked for.
func (a *assembly) selectRanks() {
	if a.o.Ranks != nil {
		a.ranks = slices.DeleteFunc(a.ranks, func(fr fileRank) bool { return !a.o.Ranks(fr.rank.ID) })
	}
	if a.o.Steps == nil {
		return
	}
	for _, fr := range a.ranks {
		from, to := a.o.Steps(len(fr.rank.Steps))
		for i := range fr.rank.Steps {
			fr.rank.Steps[i].Excluded = i < from || i >= to
		}
	}
}

func (fr fileRank) note(code trace.Code) {
	fr.rank.Problems = append(fr.rank.Problems, trace.Problem{Code: code, Count: 1, Offset: -1})
}

// source fills what the report says of its inputs as a whole.
func (a *assembly) source() {
	s := &a.report.Source
	s.Device, s.StepSource, s.Format = "unknown", string(facts.NoSteps), "unknown"
	if len(a.files) > 0 && a.files[0].format != "" {
		s.Format = a.files[0].format
	}
	s.Fingerprint = report.Fingerprint{Model: "unknown", Accumulation: []int{}}
	for i, fr := range a.ranks {
		r := fr.rank
		if i == 0 {
			s.Fingerprint = fingerprintOf(r)
		}
		s.Ranks = append(s.Ranks, r.ID)
		if i == 0 && r.DeviceName != "" {
			s.Device = r.DeviceName
		}
		if i == 0 {
			s.StepSource = string(r.StepSource)
		}
		if r.WorldSize > 0 && (s.WorldSize == nil || *s.WorldSize < r.WorldSize) {
			s.WorldSize = &r.WorldSize
		}
	}
	if s.WorldSize == nil && len(a.ranks) == 1 && alone(a.ranks[0].rank) {
		one := int64(1)
		s.WorldSize = &one
	}
}

// alone tells whether a trace without distributed information shows no collective
// of any kind: then it is the only rank.
func alone(r *facts.Rank) bool {
	return len(r.Messages) == 0 && r.StepSource != facts.NoSteps && !r.HostCollectives && r.Categorised
}

func (a *assembly) runRules() {
	pass := Pass{claims: make(claims), taken: make(map[*facts.GradientPass]string), Problems: a.report.Health.Problems, UniformTokens: a.o.UniformTokens, Normalized: a.normalized, options: &a.o}
	var ranks []*facts.Rank
	for _, fr := range a.ranks {
		ranks = append(ranks, fr.rank)
	}
	pass.matched = a.matchRanks()
	for i := range a.o.Rules {
		rule := &a.o.Rules[i]
		if reason := rule.skipReason(ranks, pass.matched); reason != "" {
			a.report.Skipped = append(a.report.Skipped, report.Skip{Rule: rule.ID, Reason: reason})
			continue
		}
		pass.rule, pass.Ranks = rule, nil
		for _, r := range ranks {
			if rule.applies(r) {
				pass.Ranks = append(pass.Ranks, r)
			}
		}
		if len(pass.Ranks) == 0 {
			a.report.Skipped = append(a.report.Skipped, report.Skip{Rule: rule.ID, Reason: "no single rank has all that the rule needs"})
			continue
		}
		rule.Run(&pass)
	}
	a.report.Findings = append(a.report.Findings, slices.DeleteFunc(pass.findings(), a.tooSmall)...)
}

// tooSmall tells whether a finding costs less than the options ask for.
func (a *assembly) tooSmall(f report.Finding) bool {
	return f.Cost != nil && (*f.Cost < a.o.MinCost || *f.Share < a.o.MinShare)
}

// notNil makes an empty list of an absent one, so that consumers of the JSON form
// never meet null where a list belongs.
func notNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
