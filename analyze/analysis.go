package analyze

import (
	"cmp"
	"slices"
	"sync"

	"github.com/gaprof/gaprof/analyze/calibration"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/whatif"
)

// Run analyses traces and returns the report. It reports on nothing (no ranks)
// where no trace holds host or device events; the caller decides what that means.
func Run(inputs []Input, o Options) *report.Report {
	a := New(o)
	for i, in := range inputs {
		a.Add(i, in)
	}
	return a.Result().Report
}

// Analysis takes traces in one by one, in any order and from several goroutines at
// once, and keeps of each only its facts: what is held at a time are the traces at
// hand and, of every trace before, a few rows. Small traces stay until the report is
// made, since findings may ask for a replay.
type Analysis struct {
	o      Options
	mu     sync.Mutex
	files  []placed
	events int64 // of all files
}

// New returns an Analysis without traces.
func New(o Options) *Analysis { return &Analysis{o: o} }

// Add reduces a trace and lets go of it. The report is made as if traces had come in
// the order of their places; those of one file share a place and are added by one
// goroutine, in their order.
func (a *Analysis) Add(place int, in Input) { a.AddReduced(place, Reduce(in, &a.o)) }

// AddReduced is Add for a trace that was reduced before, with the same options.
func (a *Analysis) AddReduced(place int, r *Reduced) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.files = append(a.files, placed{r, place})
	a.events += r.Events
	a.forget()
}

// Result is what an analysis comes to.
type Result struct {
	Report     *report.Report   // never nil
	Normalized []NormalizedStep // each complete step with token counts, in order; nil without counts
	World      *whatif.World    // the execution graph of the run; nil unless asked for, and without ranks
	Places     []Place          // where the ranks of World were read

	Measured *calibration.Measured // what the traces show of their machine; nil unless asked for, and without ranks
}

// Result finishes the report. Nothing can be added afterwards.
func (a *Analysis) Result() *Result {
	a.mu.Lock()
	defer a.mu.Unlock()
	slices.SortStableFunc(a.files, func(x, y placed) int { return cmp.Compare(x.place, y.place) })
	files := a.files
	a.files = nil
	return assemble(files, &a.o)
}

// assemble makes the report of all files, which are in order. It is the one place where
// the sections of a report come together; each of them is computed from what it is given
// here and from nothing else.
func assemble(files []placed, o *Options) *Result {
	list := ranksOf(files, o)
	health := healthOf(list)
	normalization, normalized := normalizationOf(list, logs{Logs: o.Logs, declared: o.Normalization})
	matched := match(list, o.AlignClocks)
	pass := &Pass{
		Ranks:         list,
		Problems:      health.Problems,
		UniformTokens: o.UniformTokens,
		Normalized:    normalized,
		matched:       matched,
		peak:          o.PeakBandwidth,
	}
	findings, skipped := findingsOf(o.Rules, pass, limits{o.MinCost, o.MinShare})
	replayed := &replays{list: list, matched: matched, o: o}
	replayed.predict(findings)
	if normalized = pass.Normalized; len(normalized) > 0 {
		describeDecision(&normalization, normalized[0].Decision)
		normalization.UnknownSteps = unknownSteps(list, normalized)
	}
	r := &report.Report{
		Schema: report.Schema, Version: o.Version,
		Source: sourceOf(files, list),
		Health: health,

		Steps:             notNil(stepRows(list)),
		Memory:            notNil(memoryRows(list)),
		Time:              timeOf(list, pass, findings),
		AccumulationSteps: accumulationSteps(list),
		Communication:     notNil(communicationRows(list)),
		Collectives:       notNil(collectivesRows(list)),
		Groups:            notNil(groupRows(list)),
		Kernels:           notNil(kernelRows(list)),

		GradientPasses: notNil(passRows(list, o.UniformTokens, equalTokens(normalization.Tokens), o.PeakBandwidth)),
		GradientSync:   notNil(syncRows(list)),
		TokenAllReduce: notNil(tokenRows(list)),
		Normalization:  normalization,

		Ranks:     notNil(waitRows(matched)),
		Matching:  matchingOf(matched),
		Straggler: straggler(matched),

		Findings: notNil(findings),
		Skipped:  notNil(skipped),
		Exit:     report.Exit{Reason: "ok"},
	}
	if o.Drawing {
		r.Drawing = drawingOf(list)
	}
	if o.Predict {
		replayed.report(r)
	}
	if r.Time == nil {
		r.Health.TimeUnknown = timeUnknown(list)
	}
	nameChoices(r, o.Choices)
	return &Result{r, normalized, replayed.asked(), placesOf(files, list), measured(list, matched)}
}
