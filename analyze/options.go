package analyze

import (
	"github.com/gaprof/gaprof/analyze/normalization"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace"
)

// Input is one trace and where it came from.
type Input struct {
	File  string       // its name, for the report and for Options.RankOf
	Bytes int64        // of the file as stored; of several traces of a file one has them
	Trace *trace.Trace // read only; kept for replays while the traces of an analysis are small
	Alone bool         // no other trace is analyzed with it: what only a comparison of ranks needs is left out
	Lean  bool         // memory is short: nothing is kept of Trace for replays
}

// Options are the choices of a run. The zero value describes all ranks and steps and runs no
// rule.
type Options struct {
	Version string // of gaprof, for the report
	Rules   []Rule // in the order in which they may claim time; nil: none. Package gaprof takes all

	// RankOf finds the rank of a trace that does not say it in the name of its file; nil:
	// ranks are numbered in the order of the files.
	RankOf func(file string) (rank int64, ok bool)

	FileFirst     bool                   // RankOf goes before what the trace says of itself
	Top           int                    // kernels listed per rank; 0 means 10
	Logs          Logs                   // written by the run beside its traces
	Normalization normalization.Mode     // declared by the user, "" not
	Communication []timeline.Declaration // of kernels that the table of families lacks; the last that fits decides
	UniformTokens bool                   // the user declares equal token counts on all ranks, always
	PeakBandwidth int64                  // bytes/s, goes before the table of devices; 0 none

	MinCost  int64                      // findings that cost less ns per step are left out
	MinShare float64                    // findings that cost a smaller share of the step are left out
	Ranks    func(rank int64) bool      // nil: all
	Steps    func(n int) (from, to int) // of n steps; half-open; nil: all

	AlignClocks bool // subtract each rank's clock residual before waiting is measured

	Drawing bool // say what figures need too: Report.Drawing
	Predict bool // predict what changes would gain: Report.WhatIf, and its figure in Drawing
	Graph   bool // make the execution graph of the run too: Result.World
	Measure bool // take what a simulation of the machine needs: Result.Measured

	// Choices is what the caller calls its choices where texts speak of them, as by a flag;
	// nil and missing ones: as Go programs do. The keys are those of internal/choice.
	Choices map[string]string
}
